"""One request for one page: from an address that was checked, and not longer or larger than agreed."""
import math
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_steps.classroom.pages.addresses import DEFAULT_PORTS
from agent_steps.classroom.pages.problems import RateLimited, SourceError
from agent_steps.providers.clients import asked_wait

TYPES = ("text/html", "application/xhtml+xml", "text/plain")
REDIRECTS = (301, 302, 303, 307, 308)
PACKINGS = ("gzip", "deflate", "identity")
HEADERS = {"user-agent": "agent-steps (a course on LLM agents)", "accept": ", ".join(TYPES),
           "accept-encoding": ", ".join(PACKINGS)}


@dataclass
class Answer:
    """What a server sent: the body and its content type, or the address to which it sends us on."""

    body: bytes = b""
    content_type: str = ""
    location: str | None = None


def make_client():
    """Return the client for `download`. It keeps no cookies and no connections, and follows no redirects."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx2

    # A kept connection is found again by its IP address, and one address may serve many hosts: a request would go
    # through a connection whose certificate is another host's.
    no_connections = httpx2.Limits(max_keepalive_connections=0)
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx2.Client(trust_env=False, cookies=no_cookies, headers=HEADERS, limits=no_connections)


def download(client, address: str, places: list[str], end: float, most_bytes: int) -> Answer:
    """Ask for one page.

    address: in its plain form. places: IP addresses of its host; the first that accepts a connection is asked.
    end: when to give up, by time.monotonic(). most_bytes: of the body, counted when it is unpacked.

    Raises RateLimited if the server asks to wait, SourceError for everything else that is no page.
    """
    import httpx2

    slow, problem = SourceError(f"{address} took too long."), None
    for place in places:
        with _cut_off_at(end) as clock:
            try:
                return _ask(client, address, place, clock, most_bytes)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem = SourceError(f"{address} could not be reached: {_reason(error)}.")
            except httpx2.TimeoutException:
                raise slow from None
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise slow if clock.over else SourceError(f"{address} could not be read: {_reason(error)}.") from None
        if time.monotonic() >= end:
            raise slow
    raise problem


def _ask(client, address: str, place: str, clock, most_bytes: int) -> Answer:
    """The request itself.

    It goes to the IP address that was checked. If it went to the name, the name would be looked up a second time, and its
    owner could answer with 127.0.0.1 then: DNS rebinding. The server learns the name from the Host header, and the
    certificate is checked against sni_hostname.
    """
    import httpx2

    parts = urlsplit(address)
    port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    target = parts._replace(netloc=f"[{place}]:{port}" if ":" in place else f"{place}:{port}").geturl()
    left = max(clock.end - time.monotonic(), 0.01)
    timeout = httpx2.Timeout(left, connect=left / 2)   # it counts once for the connection and once for its encryption
    extensions = {"sni_hostname": parts.hostname, "trace": clock.watch}
    headers = {"host": parts.netloc}
    with client.stream("GET", target, headers=headers, timeout=timeout, extensions=extensions) as response:
        location = response.headers.get("location")
        if response.status_code in REDIRECTS and location:
            return Answer(location=location)
        _check(address, response)
        return Answer(_body(address, response, clock, most_bytes), response.headers["content-type"])


def _check(address: str, response) -> None:
    """Raise SourceError if the answer is no page."""
    status, kind = response.status_code, response.headers.get("content-type", "")
    if status == 429 or status == 503 and "retry-after" in response.headers:
        wait = asked_wait(response.headers)
        wait = wait if 0 < wait < math.inf else None
        words = f" It asks to wait {math.ceil(wait)} seconds." if wait else ""
        raise RateLimited(f"{address} gets too many requests.{words}", wait)
    if status != 200:
        raise SourceError(f"{address} answers {status}.")
    if response.headers.get("content-encoding", "identity").lower() not in PACKINGS:
        raise SourceError(f"{address} is packed in a way that was not asked for.")
    if kind.split(";")[0].strip().lower() not in TYPES:
        words = f", but {_printable(kind)}" if kind else ": it does not say what it is"
        raise SourceError(f"{address} is not a page of text{words}.")


def _body(address: str, response, clock, most_bytes: int) -> bytes:
    body = bytearray()
    for piece in response.iter_bytes():   # unpacked piece by piece
        body += piece
        if len(body) > most_bytes:
            raise SourceError(f"{address} is larger than {most_bytes / 1e6:g} MB.")
    if clock.over:   # the end of the connection may look like the end of the page
        raise SourceError(f"{address} took too long.")
    return bytes(body)


class _Clock:
    """Ends a request at a moment. The client's own time limits begin anew with each byte: a server that sends one
    every second would keep it for ever."""

    def __init__(self, end: float):
        self.end, self.over, self._socket = end, False, None

    def watch(self, event: str, details: dict) -> None:
        """Keep the socket. The client tells of every step (its `trace` extension)."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = details["return_value"].get_extra_info("socket")

    def cut(self) -> None:
        """End the connection: whoever waits for its next byte is told that there is none."""
        self.over = True
        try:
            # not the method of an encrypted socket: it would take the encryption away from the thread that reads
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except (OSError, TypeError):   # it is closed, or not yet there
            pass


@contextmanager
def _cut_off_at(end: float):
    clock = _Clock(end)
    timer = threading.Timer(max(end - time.monotonic(), 0), clock.cut)
    timer.daemon = True
    timer.start()
    try:
        yield clock
    finally:
        timer.cancel()


def _reason(error: Exception) -> str:
    return _printable(str(error) or type(error).__name__).rstrip(".")


def _printable(text: str) -> str:
    """At most 100 characters of what a server may have written, in one line."""
    return "".join(each for each in text[:100] if each.isprintable())

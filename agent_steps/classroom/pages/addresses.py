"""Addresses of pages: one form for each, and which of them may be fetched."""
import ipaddress
import posixpath
import re
import socket
from urllib.parse import quote, urlsplit

from agent_steps.classroom.pages.problems import SourceError

DEFAULT_PORTS = {"http": 80, "https": 443}
# Where pages are served. At other ports are mail servers, databases and the like: no place for an agent's request.
PAGE_PORTS = {80, 443, 8080, 8443}
FOLLOWING = {"fbclid", "gclid"}   # with utm_*: what advertisers add to an address to follow a reader
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\d+(?:[/?#]|$))")   # "localhost:8000" has none
NAT64 = ipaddress.ip_network("64:ff9b::/96")
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")   # the rest of IPv6 is not the public internet


def plain_address(url: str) -> str:
    """Return the one form of an address, so that a page is known again.

    https where no scheme is given; scheme and host in lower case; without a default port, a fragment and what
    advertisers add; an empty path is "/". Other schemes than http and https stay as they are. A path on this disk, such
    as "data/library/tides.html", which begins with no host's name, is written with "/" and without "./".

    Raises SourceError for a text that is no address.
    """
    text = url.strip()
    scheme = SCHEME.match(text)
    if scheme and scheme[1].lower() not in DEFAULT_PORTS:
        return text
    if text and not scheme and not _begins_with_host(text):
        return posixpath.normpath(text.replace("\\", "/"))
    try:
        return _web_address(text if scheme else "https://" + text.removeprefix("//"))
    except ValueError:   # UnicodeError is one, too
        raise SourceError(f"{_shown(url)!r} is not an address.") from None


def check_public(url: str) -> list[str]:
    """Return the IP addresses of the page's server. All of them have been found to be public.

    A model chooses what is fetched, and a page may have talked it into its choice. Without this check it could reach
    what only this machine reaches: its own servers, the router, the secrets that clouds keep at 169.254.169.254.

    Raises SourceError for every other address, and where the host's name is unknown.
    """
    parts = urlsplit(plain_address(url))
    if parts.scheme not in DEFAULT_PORTS:
        raise SourceError(f"{_shown(url)} is not fetched: its address does not begin with http:// or https://.")
    if "@" in parts.netloc:
        raise SourceError("An address with a user name or a password in it is not fetched.")
    port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    if port not in PAGE_PORTS:
        raise SourceError(f"{_shown(url)} is not fetched: pages are not served at port {port}.")
    found = _resolve(parts.hostname, port)
    if not all(_is_public(each) for each in found):
        raise SourceError(f"{_shown(url)} is not fetched: {parts.hostname} is not on the public internet.")
    return [str(each) for each in found]


# ---- the parts of an address ----

def _web_address(text: str) -> str:
    """The one form of an address that begins with http: or https:. Raises ValueError if it is none."""
    if re.search(r"[\x00-\x1f\x7f\\]", text):   # programs do not agree on what these mean
        raise ValueError(text)
    parts = urlsplit(text)
    user, at, _ = parts.netloc.rpartition("@")
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    path = _plain_escapes(parts.path) or "/"
    query = "&".join(each for each in parts.query.split("&") if each and not _follows(each))
    start = f"{parts.scheme}://{user}{at}{_plain_host(parts.hostname or '')}{port}"
    return start + path + (f"?{_plain_escapes(query)}" if query else "")


def _shown(url: str) -> str:
    return url if len(url) <= 200 else url[:200] + "..."


def _begins_with_host(text: str) -> bool:
    first = re.split(r"[/?#\\]", text.removeprefix("//"))[0]
    return text.startswith("//") or "." in first.strip(".") or bool(re.search(r":\d+$|^\[", first))


def _plain_host(host: str) -> str:
    """The host in lower case, international names in ASCII. Raises ValueError if it is none."""
    import idna

    if ":" in host:
        return f"[{ipaddress.IPv6Address(host).compressed}]"
    if not host.isascii():
        host = idna.encode(host, uts46=True).decode("ascii")   # its errors are UnicodeErrors
    host = host.lower().removesuffix(".")
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", host):
        raise ValueError(host)
    return host


def _plain_escapes(text: str) -> str:
    """The text with %41 written as A, %2f as %2F, and what an address cannot hold as %.."""
    def plain(match):
        character = chr(int(match[1], 16)) if match[1] else ""
        return character if UNRESERVED.fullmatch(character) else match[0].upper() if match[1] else "%25"
    return quote(re.sub(r"%(?:([0-9A-Fa-f]{2}))?", plain, text), safe="/?:@!$&'()*+,;=%~[]|")


def _follows(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name.startswith("utm_") or name in FOLLOWING


# ---- where an address leads ----

def _resolve(host: str, port: int) -> list:
    """The IP addresses of a host. Raises SourceError if there are none."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    if re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]):   # 127.1 and 2130706433 are 127.0.0.1
        raise SourceError(f"{host} is not fetched: it is an odd way to write an IP address.")
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        rows = []
    if not rows:
        raise SourceError(f"There is no host called {host}, or no network.")
    return list(dict.fromkeys(ipaddress.ip_address(row[4][0]) for row in rows))


def _is_public(address) -> bool:
    if address.version == 6:
        inside = address.ipv4_mapped or address.sixtofour or (_last_four_bytes(address) if address in NAT64 else None)
        if inside is not None:   # an address of IPv4 in one of IPv6: that is where the request would end
            return _is_public(inside)
        if address not in PUBLIC_IPV6:
            return False
    return address.is_global and not address.is_multicast   # some multicast addresses are "global"


def _last_four_bytes(address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)

"""A small HTTP server on this machine that stands where a paid service would: real sockets, real clients, no bill.

It speaks both formats, keeps what it was sent, and misbehaves on demand:

    with Loopback() as server:
        server.queue(refuse(429), hang_up)      # these answer the next two requests, then all is well again
        server.always = silent                  # or: this answers every request

A behaviour is a function from the handler of one connection and the JSON that arrived to what is sent back.
"""
import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

from agent_steps.practice.transport import answer

AT_ONCE = {"retry-after-ms": "1"}   # the shortest pause that both SDKs accept


@dataclass
class Sent:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict = field(default_factory=dict)


class Loopback:
    """The server. Use it in a `with` statement; it is gone afterwards.

    requests: what it was sent, oldest first. models: the names that its /api/tags lists, as Ollama's does; None for a 404.
    """

    def __init__(self, models: list[str] | None = None):
        self.models = models
        self.closing = threading.Event()
        self.reset()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.loopback = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reset(self) -> None:
        """Forget what was sent and behave well again. Whoever was left waiting is let go."""
        self.closing.set()
        self.closing = threading.Event()
        self.requests: list[Sent] = []
        self.always = None
        self._queue = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def base_url(self, wire: str) -> str:
        """The address as the client of this format wants it."""
        return f"http://{self.host}" + ("/v1" if wire == "openai" else "")

    def queue(self, *behaviours) -> None:
        """Let each of these answer one request, in this order."""
        self._queue += behaviours

    def next_behaviour(self):
        return self._queue.pop(0) if self._queue else self.always or serve


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        loopback = self.server.loopback
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        loopback.requests.append(Sent("POST", self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        loopback.next_behaviour()(self, body)

    def do_GET(self):
        loopback = self.server.loopback
        loopback.requests.append(Sent("GET", self.path, {name.lower(): value for name, value in self.headers.items()}))
        if self.path != "/api/tags" or loopback.models is None:
            return self.send(404, b"not found", "text/plain")
        self.send_json(200, {"models": [{"name": name} for name in loopback.models]})

    def send(self, status: int, content: bytes, kind: str, headers: dict | None = None, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(length or len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def send_json(self, status: int, value, headers: dict | None = None) -> None:
        self.send(status, json.dumps(value).encode(), "application/json", headers)

    def log_message(self, *_):
        """Print nothing."""


# ---- behaviours ----

def practice_answer(handler, body: dict) -> httpx2.Response:
    """What the practice model answers, whatever model was asked for."""
    headers = {"x-stainless-retry-count": handler.headers.get("x-stainless-retry-count", "0")}
    request = httpx2.Request("POST", f"http://loopback{handler.path}", json={**body, "model": "practice"}, headers=headers)
    return answer(request)


def serve(handler, body: dict) -> None:
    """Answer well."""
    response = practice_answer(handler, body)
    handler.send(response.status_code, response.read(), response.headers["content-type"])


def refuse(status: int, kind: str = "some_error", message: str = "no", headers: dict | None = None):
    """Answer with an error that both formats can read. The client is asked to try again at once."""
    error = {"type": "error", "error": {"type": kind, "code": kind, "message": message}}
    return lambda handler, body: handler.send_json(status, error, AT_ONCE if headers is None else headers)


def page(text: str = "<html><body>Please log in</body></html>", status: int = 200):
    """Answer with a web page, as the log-in page of a hotel's network does."""
    return lambda handler, body: handler.send(status, text.encode(), "text/html")


def changed(change):
    """Answer well, but for what `change` does to the JSON first."""
    def behaviour(handler, body: dict) -> None:
        whole = practice_answer(handler, body).json()
        change(whole)
        handler.send_json(200, whole)
    return behaviour


def half_json(handler, body: dict) -> None:
    """Half of the JSON, as if that were all."""
    content = practice_answer(handler, body).content
    handler.send(200, content[:len(content) // 2], "application/json")


def cut(handler, body: dict) -> None:
    """Half of the body that was announced, then the connection is closed."""
    content = practice_answer(handler, body).content
    handler.send(200, content[:len(content) // 2], "application/json", length=len(content))


def silent(handler, body: dict) -> None:
    """Accept the request and never answer."""
    handler.server.loopback.closing.wait(20)


def hang_up(handler, body: dict) -> None:
    """Close the connection at once, without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)

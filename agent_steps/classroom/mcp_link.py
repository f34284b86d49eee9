"""One MCP server, held open by the SDK's client. The client is made of coroutines, so it lives in an event loop of a thread."""
import asyncio
import atexit
import concurrent.futures
import logging
import os
import shlex
import sys
import tempfile
import threading
import warnings
import weakref
from pathlib import Path

from agent_steps import CourseError
from agent_steps.providers.tools import TOOL_NAME, can_be_sent

MOST_PAGES = 100      # of a list of tools; a server could go on for ever
MOST_WORDS = 300      # characters of what a server wrote that are shown
LONGEST_LOG = 1_000_000   # bytes of a server's standard error; it could write for ever
LONGEST_CLOSE = 10    # seconds; the SDK kills a server that does not end by itself before that
_open_links = weakref.WeakSet()
_lock = threading.Lock()
_loops = []


class ServerError(CourseError):
    """A server could not be started or reached, is no MCP server, or gave no answer. The text is one sentence for a person."""


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop, in a thread, in which all connections live."""
    with _lock:
        if not _loops:
            _loops.append(asyncio.new_event_loop())
            threading.Thread(target=_loops[0].run_forever, name="mcp", daemon=True).start()
            atexit.register(close_all)
    return _loops[0]


def close_all() -> None:
    """Close what is still open when Python ends, so that no server outlives it."""
    for link in list(_open_links):
        link.close()


class Link:
    """A connection to one server.

    target: an address, or a dict with command, args and env, as ``targets`` makes it. timeout: seconds for its start, and for
    each request. folder: where a command is started. state: "connected", "closed", or "lost" when the server is gone. tools: as the
    server describes them, mcp_types.Tool. Raises ServerError if no connection comes about, ValueError for a timeout that is none.
    """

    def __init__(self, name: str, target: dict | str, timeout: float, folder: str = "."):
        if not isinstance(timeout, int | float) or not timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}.")
        self.name, self.target, self.timeout, self.folder = name, target, timeout, str(folder)
        self.state, self.tools, self.noise, self.told = "connecting", [], "", False
        # A file of its own: in a notebook, sys.stderr may have no file number, which a child process needs.
        self.log = tempfile.TemporaryFile("a+", encoding="utf-8", errors="replace")
        import mcp   # noqa: F401   it takes its time, which is not the server's

        self.client = self.scope = None
        self.ready, self.closing = concurrent.futures.Future(), asyncio.Event()
        self.held = asyncio.run_coroutine_threadsafe(self._hold(), background_loop())
        _open_links.add(self)
        try:
            self.ready.result(timeout)
            self.state = "connected"
        except Exception as error:
            told = self.explain(_first(error))
            self.close()
            raise ServerError(told) from None
        except BaseException:   # Ctrl-C
            self.close()
            raise
        self.warn_of_noise()

    async def _hold(self) -> None:
        """Open the connection, say so, and keep it until it is to be closed. The SDK wants this in one coroutine."""
        from anyio import CancelScope
        from mcp import Client

        keeping = asyncio.ensure_future(self._keep_log_short())
        try:
            with CancelScope() as self.scope:
                if self.closing.is_set():
                    return
                async with Client(self._transport(), read_timeout_seconds=self.timeout, message_handler=self._hear) as client:
                    self.client = client
                    self.tools = await all_tools(client)
                    self.ready.set_result(None)
                    await self.closing.wait()
        except BaseException as error:
            if not self.ready.done():
                self.ready.set_exception(_first(error) if isinstance(error, Exception) else ServerError("it was stopped"))
        finally:
            keeping.cancel()

    async def _keep_log_short(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            if os.fstat(self.log.fileno()).st_size > LONGEST_LOG:
                self.log.truncate(0)   # the server appends, and goes on at the new end

    def _transport(self):
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        for name in ("stdio", "streamable_http"):
            logging.getLogger(f"mcp.client.{name}").disabled = True   # it writes a traceback for each line that is no message
        if isinstance(self.target, str):
            return self.target
        return stdio_client(StdioServerParameters(**self.target, cwd=self.folder), errlog=self.log)

    async def _hear(self, message) -> None:
        """Keep the first of what came on the server's output and is no message."""
        if isinstance(message, Exception) and not self.noise:
            errors = message.errors() if hasattr(message, "errors") else []
            self.noise = str(errors[0]["input"] if errors else message)[:MOST_WORDS]

    def call(self, name: str, arguments: dict):
        """Call a tool of the server and return its CallToolResult. Raises ServerError if there is no answer."""
        if self.state != "connected":
            raise ServerError(f"The server {self.name!r} is {'gone' if self.state == 'lost' else self.state}.")
        if not can_be_sent(arguments):   # the client would break
            raise ServerError(f"{name} was not run: its arguments cannot be sent as JSON. No NaN, no Infinity, no half character.")
        asked = self.client.call_tool(name, arguments, read_timeout_seconds=self.timeout)
        answer = asyncio.run_coroutine_threadsafe(asked, background_loop())
        try:
            return answer.result()
        except concurrent.futures.CancelledError:   # closed by another thread
            raise ServerError(f"The server {self.name!r} was closed before it answered.") from None
        except Exception as error:
            raise ServerError(self.explain(_first(error))) from None
        finally:
            answer.cancel()   # after Ctrl-C; an answer that is there does not mind
            self.warn_of_noise()

    def warn_of_noise(self) -> None:
        """Say once that the server writes what is no message."""
        if self.noise and not self.told:
            self.told = True
            warnings.warn(f"The server {self.name!r} wrote text that is no message: {self.noise!r}. It belongs on its standard error.", stacklevel=3)

    def explain(self, error: Exception) -> str:
        """Say in a sentence what went wrong, with what the server wrote about it."""
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        who, what, code = f"The server {self.name!r}", one_line(error), getattr(error, "code", None)
        is_of_http = type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2", "anyio")
        is_gone = (code, what) == (CONNECTION_CLOSED, "Connection closed") or is_of_http
        if self.state == "closed":   # by another thread
            return f"{who} was closed before it answered."
        if isinstance(error, TimeoutError) or code == REQUEST_TIMEOUT and what.endswith("timed out"):
            return f"{who} did not answer within {self.timeout:g} seconds.{self.last_words()}"
        if self.state == "connected" and is_gone:
            self.state = "lost"
            return f"{who} is gone: {what}.{self.last_words()}"
        if self.state == "connected":
            return f"{who} {'refused the request' if code else 'gave an answer that is none'}: {what}."
        if isinstance(self.target, str):
            hint = "" if self.target.rstrip("/").endswith("/mcp") else " (Most servers' addresses end with /mcp.)"
            return f"{who} cannot be reached at {self.target}: {what}.{hint}"
        if isinstance(error, OSError):
            return f"{who} cannot be started: {what}."
        return f"{who} is no MCP server, or ended at once: {what}.{self.last_words()}"

    def last_words(self) -> str:
        """What the server wrote: text in the place of messages, and its errors."""
        if self.log.closed:
            return ""
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 10 * MOST_WORDS))
        lines = self.log.read().strip().splitlines()
        noise = f" It wrote text that is no message: {self.noise!r}." if self.noise else ""
        return noise + (f" Its last line on standard error: {printable(lines[-1])[:MOST_WORDS]}" if lines else "")

    def close(self) -> None:
        """End the connection, and the server if it was started here. May be called again."""
        if self.state != "lost":
            self.state = "closed"
        background_loop().call_soon_threadsafe(self._stop)
        try:
            self.held.result(LONGEST_CLOSE)
        except (Exception, concurrent.futures.CancelledError):
            self.held.cancel()
        _open_links.discard(self)
        self.log.close()

    def _stop(self) -> None:
        self.closing.set()
        if self.scope and not self.ready.done():   # it hangs in its beginning
            self.scope.cancel()


def targets(servers) -> list[tuple[str, dict | str]]:
    """Return (name, target) of each server that connect_mcp is given. Raises ValueError and TypeError for what is none."""
    named = [pair for given in servers for server in one_by_one(given) for pair in _named(server)]
    found = {}
    for number, (name, server) in enumerate(named, start=1):
        name = name or f"server{number}"
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a server: a letter, then letters, digits, _ or -, 64 at most.")
        if name in found:
            raise ValueError(f"Two servers are called {name!r}. Give each a name of its own.")
        found[name] = _target(name, server)
    return list(found.items())


def one_by_one(servers) -> list:
    """Return the servers of a list of such; what is one server, as a command in a list of words, alone in a list."""
    is_command = isinstance(servers, list | tuple) and all(isinstance(word, str) and "://" not in word for word in servers)
    return list(servers) if isinstance(servers, list | tuple) and not is_command else [servers]


def _named(server) -> list:
    """The pairs of name and server in what stands for one or several; what has no name gets an empty one."""
    if not isinstance(server, dict) or any(isinstance(server.get(key), str) for key in ("command", "url")):
        return [("", server)]
    return list(server.get("mcpServers", server).items())   # as in the configuration files of other programs


def _target(name, server) -> dict | str:
    if isinstance(server, dict) and isinstance(server.get("url"), str):
        return server["url"]
    if isinstance(server, str) and server.lower().startswith(("http://", "https://")):
        return server
    if isinstance(server, dict):
        if not isinstance(server.get("command"), str):
            raise TypeError(f"The server {name!r} has neither a command nor a url: {server!r}.")
        return {key: server[key] for key in ("command", "args", "env") if key in server}
    words = shlex.split(server) if isinstance(server, str) else server
    if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
        raise TypeError(f"The server {name!r} is an address or a command, a text or a list of texts, not {server!r}.")
    return {"command": words[0], "args": list(words[1:])}


def course_server(folder: str = ".", address: str | None = None) -> list[str]:
    """Return the command that starts this course's own server, also where the course is not installed, as in Colab."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from agent_steps.mcp_tools import serve_mcp; serve_mcp(*sys.argv[1:])"
    root = str(Path(__file__).parents[2])
    return [sys.executable, "-c", code, root, str(folder), *([address] if address else [])]


def checked_schema(schema: dict) -> dict:
    """Return the schema of a tool's arguments as it is. Raises ValueError if it is none: a service would refuse the whole request."""
    from jsonschema import SchemaError   # comes with mcp
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"its schema is none: {one_line(error)}.") from None
    return schema


def without_doubles(tools: list) -> list:
    """Return Tools with names of their own: of two with the same one the first. A warning tells of the other."""
    found = {}
    for each in tools:
        if each.name in found:
            warnings.warn(f"{each.origin}: the tool {each.name!r} is left out: another one has this name.", stacklevel=4)
        else:
            found[each.name] = each
    return list(found.values())


def printable(text: str) -> str:
    """The text in one line, without characters that nobody sees, or that do something to a screen."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


async def all_tools(client) -> list:
    """Follow the pages of a server's list of tools. Raises ServerError if it never ends."""
    found, cursor = [], None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        if not page.next_cursor:
            return found
        cursor = page.next_cursor
    raise ServerError(f"its list of tools has more than {MOST_PAGES} pages")


def one_line(error: Exception) -> str:
    """What an error says, in one line that is not too long: of pydantic's, the first place and what is wrong there."""
    if hasattr(error, "errors") and callable(error.errors) and error.errors():
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:MOST_WORDS]
    text = getattr(error, "message", "") or str(error) or type(error).__name__
    return printable(text.splitlines()[0]).rstrip(".")[:MOST_WORDS]


def _first(error: BaseException) -> BaseException:
    """The error inside a group of errors, as task groups raise them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

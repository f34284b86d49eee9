"""A tool as an API sees it, and the forms in which people describe one."""
import dataclasses
import inspect
import json
import re
from dataclasses import dataclass
from functools import partial

from agent_steps.providers.schemas import check_names, name_of, whole_schema

TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")   # a name that every service takes


@dataclass(frozen=True)
class Tool:
    """A tool: what the model is told about it, and the function that does it.

    parameters: the JSON schema of its arguments, an object. handler: called with the arguments by name. read: from the
    arguments as they came to those for the handler; it raises ValueError, with a text for the model, for wrong ones. origin: the
    server that it lives in, an empty text for this process.
    Raises ValueError for a name that a service might refuse.
    """

    name: str
    description: str
    parameters: dict
    handler: object
    read: object = dict
    origin: str = ""

    def __post_init__(self):
        if not isinstance(self.name, str) or not TOOL_NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name for a tool: a letter, then letters, digits, _ or -, 64 at most.")

    def __call__(self, *values, **arguments):
        return self.handler(*values, **arguments)


class NotForTheModel(Exception):
    """What a tool raises that is not the model's business: it passes through the loop, to whoever called it."""


class EndsTheTurn(NotForTheModel):
    """What a tool raises to end the loop. text: the answer to its call. stop_reason: the loop's. left: what the host finds in its result."""

    def __init__(self, text: str, stop_reason: str, left=None):
        super().__init__(text)
        self.text, self.stop_reason, self.left = text, stop_reason, left


def with_server(call, tools: dict):
    """Return a call as it is shown for approval: the name of another process's tool stands behind that of its server.

    No tool of this process has such a name, so no rule for one of them fits it.
    """
    origin = getattr(tools.get(call.name), "origin", "")
    return dataclasses.replace(call, name=f"{origin}: {call.name}") if origin else call


NO_RESULT = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


def check_function(function) -> None:
    """Raises TypeError for what cannot be the function of a tool."""
    if isinstance(function, Tool):
        raise TypeError(f"{function.name} is a Tool already. Use it as it is.")
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"{function!r} is no function. A tool is made of a function, or described by a dict.")
    if any(is_one(each) for is_one in NO_RESULT for each in (function, function.__call__)):
        raise TypeError(f"{name_of(function)}: a tool returns its result. Make it a plain function, without async and yield.")


def as_dict(value) -> dict:
    """The value if it is a dict; an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def error_line(error: BaseException) -> str:
    """The type and the text of an error; the type alone where the text cannot be made."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def can_be_sent(arguments: dict) -> bool:
    """Whether arguments can be sent as JSON: no NaN, no Infinity, no half character, which Python reads and the APIs refuse."""
    try:
        return bool(json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, RecursionError):
        return False


def read_definition(definition: dict, handler) -> Tool:
    """Make a Tool of a bare definition: with inputSchema, or in OpenAI's or Anthropic's format.

    handler: from a name and arguments to a result. Raises ValueError if there is none, TypeError if there is no name.
    """
    inner = as_dict(definition.get("function")) or definition
    name = inner.get("name", "")
    if not name:
        raise TypeError("A definition needs a name. (Of a dict of tools, give list(tools.values()).)")
    if handler is None:
        raise ValueError(f"The tool {name!r} is only described. Who does it? Pass handler=, a function of name and arguments.")
    schema = whole_schema(next((inner[key] for key in ("inputSchema", "input_schema", "parameters") if key in inner), {}))
    return Tool(name, inner.get("description") or "", schema, lambda **arguments: handler(name, arguments), partial(check_names, schema))

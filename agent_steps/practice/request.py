"""One neutral request in the middle: what was sent, whichever format it came in."""
import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """A tool call. `raw` replaces the arguments on the wire where a fault wants broken JSON there."""

    name: str
    arguments: dict
    id: str = ""
    raw: str | None = None


@dataclass(frozen=True)
class Result:
    """What a tool returned, for the call with the same id."""

    call_id: str
    text: str


@dataclass(frozen=True)
class Message:
    """One message: its role ("user", "assistant" or "system"), its text, and native calls or results."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Request:
    """Everything that the next reply may depend on.

    tools: name to JSON schema, for tools given natively. attempt: 0, or more when the client tries again. may_call: False
    where tools are described and may not be called (tool_choice "none"). thinks: whether it is asked to think aloud first.
    keep_system, keep_messages: how long a cache is asked to keep the system prompt, and all messages: "5m", "1h" or None.
    """

    system: str
    messages: list[Message]
    tools: dict[str, dict] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    attempt: int = 0
    may_call: bool = True
    thinks: bool = False
    keep_system: str | None = None
    keep_messages: str | None = None

    @property
    def turn(self) -> int:
        """Which reply this will be, counted from 1: one more than the replies in the history."""
        return 1 + sum(message.role == "assistant" for message in self.messages)


@dataclass(frozen=True)
class Reply:
    """The model's reply. stop_reason: "end", "length", "stop_sequence" (then `stopped_by` is which) or "tool_calls".

    thinking: what it thought aloud before.
    """

    text: str
    calls: tuple[Call, ...] = ()
    stop_reason: str = "end"
    stopped_by: str | None = None
    thinking: str = ""


class Refused(Exception):
    """The request is one that the real APIs refuse."""

    def __init__(self, message: str, status: int = 400, kind: str = "invalid_request_error", headers: dict | None = None):
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers or {}


def count_tokens(text: str) -> int:
    """The practice model's rule: one token for every four characters begun. Real tokens are of about that size."""
    return math.ceil(len(text) / 4)


def input_tokens(request: Request) -> int:
    """Tokens of everything that was sent: system prompt, tools, and every message with its calls and results."""
    texts = [request.system, *(f"{name} {schema}" for name, schema in request.tools.items())]
    for message in request.messages:
        texts += message_texts(message)
    return sum(map(count_tokens, texts))


def message_texts(message: Message) -> list[str]:
    """What is counted of a message: its text, its calls, its results."""
    return [message.text, *(f"{call.name} {call.arguments}" for call in message.calls), *(result.text for result in message.results)]


def output_tokens(reply: Reply) -> int:
    """Tokens of the reply: what it thought, its text, and each call's name and arguments."""
    return sum(map(count_tokens, [reply.thinking, reply.text, *(f"{call.name} {call.arguments}" for call in reply.calls)]))


def check_pairs(messages: list[Message]) -> None:
    """Refuse a result without its call, and a call without its result, as both APIs do."""
    waiting: list[str] = []
    for message in messages:
        answered = [result.call_id for result in message.results]
        for call_id in answered:
            if call_id not in waiting:
                raise Refused(f"a tool result names the call {call_id!r}, but no call before it has that id and no result yet")
            waiting.remove(call_id)
        if waiting and not answered:
            raise Refused(f"these tool calls have no result: {', '.join(waiting)}")
        waiting += [call.id for call in message.calls]
    if waiting:
        raise Refused(f"these tool calls have no result: {', '.join(waiting)}")

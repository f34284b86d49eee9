"""A model: ``reply(system_prompt, messages) -> str`` over OpenAI's and Anthropic's own clients."""
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager

from agent_steps.providers.catalogue import COMPATIBLE
from agent_steps.providers.errors import broken_off, explain, no_chat_reply
from agent_steps.providers.extras import warn_if_all_thought
from agent_steps.providers.formats import text_of
from agent_steps.providers.usage import Usage, read_usage, tokens_sent


class Model:
    """One model of one provider. ``connect`` makes it.

    name: the model's name, as the provider knows it.
    client: the SDK client itself, for code that wants to make its own calls.
    usage: calls and tokens so far, and what they cost.
    stop_reason: why the last reply ended: "end", "length", "stop_sequence", "tool_calls" or the provider's own word.
    last_request: what the last reply reported of itself, as read_usage returns it; None where the provider reports nothing.
    before_request: called with the system prompt, messages, tools and parameters of each request; what it raises keeps that from being sent.
    """

    def __init__(self, provider, name: str, client, base_url: str, timeout: float, options: dict):
        self.provider = provider
        self.name = name
        self.client = client
        self.base_url = base_url
        self.timeout = timeout
        self.options = options
        self.usage = Usage(model=self)
        self.stop_reason: str | None = None
        self.last_request: dict | None = None
        self.before_request = None

    def reply(self, system_prompt: str, messages: list[dict]) -> str:
        """Send the system prompt and the whole list of messages; return the text of the reply.

        messages: dicts with "role" ("user" or "assistant") and "content" (text). The list is not changed.
        Raises ModelError with one clear sentence if no reply came.
        """
        message = self._reply_to(system_prompt, messages, (), {})
        with self.reading():
            return text_of(message)

    def native_reply(self, messages: list[dict], tools: list[dict] = (), **parameters) -> dict:
        """Send messages and tools that are in this model's own format; return the reply as one more such message.

        messages: dicts as the format wants them; a system prompt is a first message of role "system" in either format.
        tools: descriptions, as `to_openai` or `to_anthropic` of lesson 15 makes them. parameters: further parameters of the request.
        Raises ModelError with one clear sentence if no reply came. Neither list is changed.
        """
        return self._reply_to(*split_system(messages), tools, parameters)

    def native_chunks(self, messages: list[dict], tools: list[dict] = (), **parameters) -> Iterator[dict]:
        """As native_reply, but yield the pieces of the reply as they come, each a dict in this model's own format.

        Usage and stop_reason are known when the last piece has come. Raises ModelError, also in the middle.
        """
        system, rest = split_system(messages)
        self._usage_so_far, self.stop_reason = {}, None
        chunk = None
        with self._explaining(), self._ask(system, rest, tools, self._streamed(parameters)) as stream:
            try:
                for chunk in stream:
                    with self.reading():
                        self._note(chunk)
                        piece = whole_characters(chunk.to_dict(warnings=False))
                    yield piece
            finally:   # a stream that broke, or was not read to its end, was paid for too
                self._count(self._usage_so_far)
        if chunk is None:   # a web page, say
            raise no_chat_reply(self)
        if self.stop_reason is None:   # the connection was closed in the middle, politely
            raise broken_off(self)

    @contextmanager
    def _explaining(self):
        try:
            yield
        except self._sdk_errors() as error:
            raise explain(error, self) from None
        except (json.JSONDecodeError, UnicodeDecodeError):   # neither client makes these an error of its own
            raise no_chat_reply(self) from None

    @contextmanager
    def reading(self):
        """Raise ModelError where what came back turns out not to be a reply at all."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError):
            raise no_chat_reply(self) from None

    @property
    def last_tokens(self) -> tuple[int, int] | None:
        """Tokens of the last reply's request and of the reply itself; None where the provider reports none."""
        return self.last_request and (tokens_sent(self.last_request), self.last_request["output_tokens"])

    @property
    def last_use(self) -> Usage:
        """What the last reply alone took."""
        sent, received = self.last_tokens or (None, None)
        return Usage(1, sent, received, self, [self.last_request])

    def _reply_to(self, system: str | list[dict], messages: list[dict], tools: list[dict], parameters: dict) -> dict:
        with self._explaining():
            answer = self._ask(system, messages, tools, parameters)
        with self.reading():
            self._account(answer)
            message = whole_characters(self._message(answer))
            warn_if_all_thought(message, self.stop_reason)
        return message

    def _ask(self, system: str | list[dict], messages: list[dict], tools: list[dict], parameters: dict):
        if self.before_request:
            self.before_request(system, messages, tools, parameters)
        return self._request(system, messages, tools, parameters)

    def _count(self, reported) -> None:
        self.last_request = read_usage(reported, self.wire)
        self.usage.count(self.last_request)

    def __repr__(self) -> str:
        if self.provider.name == "practice":
            cost = "free: no key, no network"
        elif self.provider.costs:
            cost = "every call costs money"
        elif self.provider is COMPATIBLE:
            cost = "cost unknown"
        else:
            cost = "no key needed"
        return f"<model {self.name!r} by {self.provider.name}, {self.wire} format ({cost})>"


def tools_part(tools: list[dict]) -> dict:
    """The part of a request that describes tools; none is not sent, since the APIs refuse an empty list."""
    return {"tools": list(tools)} if tools else {}


def whole_characters(data: dict) -> dict:
    """The same without half characters, which could not be sent back."""
    return json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))


def split_system(messages: list[dict]) -> tuple[str | list[dict], list[dict]]:
    """Part the system prompt, all first messages of role "system", from the other messages. It is a text, or blocks if one of them has some."""
    rest = list(itertools.dropwhile(lambda message: message["role"] == "system", messages))
    contents = [message["content"] for message in messages[:len(messages) - len(rest)]]
    if all(isinstance(content, str) for content in contents):
        return "\n\n".join(contents), rest
    blocks = [[{"type": "text", "text": content}] if isinstance(content, str) else content for content in contents]
    return list(itertools.chain(*blocks)), rest

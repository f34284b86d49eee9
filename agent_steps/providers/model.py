"""A model: ``reply(system_prompt, messages) -> str`` over OpenAI's and Anthropic's own clients."""
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent_steps.providers.catalogue import COMPATIBLE
from agent_steps.providers.errors import broken_off, explain, no_chat_reply


@dataclass
class Usage:
    """What a model was used for so far. Token counts turn to None for good once a reply reports none."""

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0

    def count(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add one call."""
        self.calls += 1
        self.input_tokens = _add(self.input_tokens, input_tokens)
        self.output_tokens = _add(self.output_tokens, output_tokens)


def _add(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


class Model:
    """One model of one provider. ``connect`` makes it.

    name: the model's name, as the provider knows it.
    client: the SDK client itself, for code that wants to make its own calls.
    usage: calls and tokens so far.
    stop_reason: why the last reply ended: "end", "length", "stop_sequence", "tool_calls" or the provider's own word.
    last_tokens: tokens of the last reply's request and of the reply itself; None where the provider reports none.
    """

    def __init__(self, provider, name: str, client, base_url: str, timeout: float, options: dict):
        self.provider = provider
        self.name = name
        self.client = client
        self.base_url = base_url
        self.timeout = timeout
        self.options = options
        self.usage = Usage()
        self.stop_reason: str | None = None
        self.last_tokens: tuple[int, int] | None = None

    def reply(self, system_prompt: str, messages: list[dict]) -> str:
        """Send the system prompt and the whole list of messages; return the text of the reply.

        messages: dicts with "role" ("user" or "assistant") and "content" (text). The list is not changed.
        Raises ModelError with one clear sentence if no reply came.
        """
        with self._explaining():
            answer = self._request(system_prompt, messages, (), {})
        with self._reading():
            self._account(answer)
            return self._text(answer).encode("utf-8", "replace").decode()   # half a character could not be sent back

    def native_reply(self, messages: list[dict], tools: list[dict] = (), **parameters) -> dict:
        """Send messages and tools that are in this model's own format; return the reply as one more such message.

        messages: dicts as the format wants them; a system prompt is a first message of role "system" in either format.
        tools: descriptions, as `to_openai` or `to_anthropic` of lesson 15 makes them. parameters: further parameters of the request.
        Raises ModelError with one clear sentence if no reply came. Neither list is changed.
        """
        system, rest = split_system(messages)
        with self._explaining():
            answer = self._request(system, rest, tools, parameters)
        with self._reading():
            self._account(answer)
            return whole_characters(self._message(answer))

    def native_chunks(self, messages: list[dict], tools: list[dict] = (), **parameters) -> Iterator[dict]:
        """As native_reply, but yield the pieces of the reply as they come, each a dict in this model's own format.

        Usage and stop_reason are known when the last piece has come. Raises ModelError, also in the middle.
        """
        system, rest = split_system(messages)
        self._usage_so_far, self.stop_reason = (None, None), None
        chunk = None
        with self._explaining(), self._request(system, rest, tools, self._streamed(parameters)) as stream:
            try:
                for chunk in stream:
                    with self._reading():
                        self._note(chunk)
                        piece = whole_characters(chunk.to_dict(warnings=False))
                    yield piece
            finally:   # a stream that broke, or was not read to its end, was paid for too
                self._count(*self._usage_so_far)
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
    def _reading(self):
        try:
            yield
        except (AttributeError, IndexError, TypeError):
            raise no_chat_reply(self) from None

    def _count(self, input_tokens: int | None, output_tokens: int | None) -> None:
        self.usage.count(input_tokens, output_tokens)
        self.last_tokens = None if None in (input_tokens, output_tokens) else (input_tokens, output_tokens)

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


class OpenAIModel(Model):
    """A model behind OpenAI's chat completions format, which most providers speak."""

    wire = "openai"

    def _sdk_errors(self) -> tuple:
        import httpx2
        from openai import OpenAIError

        return OpenAIError, httpx2.HTTPError

    def _request(self, system_prompt: str, messages: list[dict], tools: list[dict], parameters: dict):
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        # The client inspects every message of `messages` again on every call: 0.17 ms a message, so 50 ms a call at 300
        # messages, and a long run costs the square of its length. `extra_body` is merged in after that inspection.
        return self.client.chat.completions.create(
            model=self.name, messages=[], **self._options(parameters, {"messages": system + messages, **tools_part(tools)}))

    def _options(self, parameters: dict, body: dict) -> dict:
        options = {**self.options, **parameters}
        options["extra_body"] = {**options.get("extra_body", {}), **body}
        if "max_tokens" in options:
            options[self.provider.max_tokens_name] = options.pop("max_tokens")
        return options

    def _streamed(self, parameters: dict) -> dict:
        return {**parameters, "stream": True, "stream_options": {"include_usage": True}}

    def _note(self, chunk) -> None:
        """Usage comes in the last piece, alone."""
        if chunk.usage:
            self._usage_so_far = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        if chunk.choices and chunk.choices[0].finish_reason:
            self.stop_reason = self._ending(chunk.choices[0].finish_reason)

    def _account(self, completion) -> None:
        usage = completion.usage   # counted first: what was used was used, whatever else the answer lacks
        self._count(usage and usage.prompt_tokens, usage and usage.completion_tokens)
        self.stop_reason = self._ending(completion.choices[0].finish_reason)

    def _ending(self, reason: str) -> str:
        return {"stop": "end"}.get(reason, reason)

    def _text(self, completion) -> str:
        return completion.choices[0].message.content or ""

    def _message(self, completion) -> dict:
        return completion.choices[0].message.to_dict(warnings=False)   # of an odd call the client would warn, too


class AnthropicModel(Model):
    """A model behind Anthropic's messages format: the system prompt stands apart, and a reply is a list of blocks."""

    wire = "anthropic"

    def _sdk_errors(self) -> tuple:
        import httpx2
        from anthropic import AnthropicError

        return AnthropicError, httpx2.HTTPError

    def _request(self, system_prompt: str, messages: list[dict], tools: list[dict], parameters: dict):
        return self.client.messages.create(model=self.name, messages=messages, **tools_part(tools), **self._options(system_prompt, parameters))

    def _options(self, system_prompt: str, parameters: dict) -> dict:
        options = {"max_tokens": 4096, **self.options, **parameters}
        if system_prompt:
            options["system"] = system_prompt
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        if "temperature" in options:   # no argument of this client any more, but still a field of the format
            options["extra_body"] = {**options.get("extra_body", {}), "temperature": options.pop("temperature")}
        return options

    def _streamed(self, parameters: dict) -> dict:
        return {**parameters, "stream": True}

    def _note(self, event) -> None:
        """What was sent is known at the beginning, what was received at the end."""
        sent, received = self._usage_so_far
        if event.type == "message_start":
            sent = event.message.usage and _all_input(event.message.usage)
        elif event.type == "message_delta":
            received = event.usage and event.usage.output_tokens
            self.stop_reason = self._ending(event.delta.stop_reason)
        self._usage_so_far = sent, received

    def _account(self, message) -> None:
        usage = message.usage
        self._count(usage and _all_input(usage), usage and usage.output_tokens)
        self.stop_reason = self._ending(message.stop_reason)

    def _ending(self, reason: str) -> str:
        same = {"end_turn": "end", "max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "tool_calls"}
        return same.get(reason, reason)

    def _text(self, message) -> str:
        return "".join(block.text for block in message.content if block.type == "text")

    def _message(self, message) -> dict:
        return {"role": "assistant", "content": [block.to_dict(warnings=False) for block in message.content]}


def _all_input(usage) -> int | None:
    """Anthropic counts input that was written to or read from its cache apart; all of it was input."""
    if usage.input_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)


def tools_part(tools: list[dict]) -> dict:
    """The part of a request that describes tools; none is not sent, since the APIs refuse an empty list."""
    return {"tools": list(tools)} if tools else {}


def whole_characters(data: dict) -> dict:
    """The same without half characters, which could not be sent back."""
    return json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))


def split_system(messages: list[dict]) -> tuple[str, list[dict]]:
    """Part the system prompt, the texts of the first messages of role "system", from the other messages."""
    rest = list(itertools.dropwhile(lambda message: message["role"] == "system", messages))
    return "\n\n".join(message["content"] for message in messages[:len(messages) - len(rest)]), rest

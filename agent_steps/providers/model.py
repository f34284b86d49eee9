"""A model: ``reply(system_prompt, messages) -> str`` over OpenAI's and Anthropic's own clients."""
import json
from dataclasses import dataclass

from agent_steps.providers.catalogue import COMPATIBLE
from agent_steps.providers.errors import explain, no_chat_reply


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
        try:
            answer = self._request(system_prompt, messages)
        except self._sdk_errors() as error:
            raise explain(error, self) from None
        except (json.JSONDecodeError, UnicodeDecodeError):   # neither client makes these an error of its own
            raise no_chat_reply(self) from None
        try:
            return self._read(answer).encode("utf-8", "replace").decode()   # half a character could not be sent back
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

    def _request(self, system_prompt: str, messages: list[dict]):
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        # The client inspects every message of `messages` again on every call: 0.17 ms a message, so 50 ms a call at 300
        # messages, and a long run costs the square of its length. `extra_body` is merged in after that inspection.
        return self.client.chat.completions.create(
            model=self.name, messages=[], extra_body={"messages": system + messages}, **self._options())

    def _options(self) -> dict:
        options = dict(self.options)
        if "max_tokens" in options:
            options[self.provider.max_tokens_name] = options.pop("max_tokens")
        return options

    def _read(self, completion) -> str:
        usage = completion.usage   # counted first: what was used was used, whatever else the answer lacks
        self._count(usage and usage.prompt_tokens, usage and usage.completion_tokens)
        choice = completion.choices[0]
        self.stop_reason = {"stop": "end"}.get(choice.finish_reason, choice.finish_reason)
        return choice.message.content or ""


class AnthropicModel(Model):
    """A model behind Anthropic's messages format: the system prompt stands apart, and a reply is a list of blocks."""

    wire = "anthropic"

    def _sdk_errors(self) -> tuple:
        import httpx2
        from anthropic import AnthropicError

        return AnthropicError, httpx2.HTTPError

    def _request(self, system_prompt: str, messages: list[dict]):
        return self.client.messages.create(model=self.name, messages=messages, **self._options(system_prompt))

    def _options(self, system_prompt: str) -> dict:
        options = {"max_tokens": 4096, **self.options}
        if system_prompt:
            options["system"] = system_prompt
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        if "temperature" in options:   # no argument of this client any more, but still a field of the format
            options["extra_body"] = {"temperature": options.pop("temperature")}
        return options

    def _read(self, message) -> str:
        usage = message.usage
        self._count(usage and _all_input(usage), usage and usage.output_tokens)
        self.stop_reason = {"end_turn": "end", "max_tokens": "length", "tool_use": "tool_calls"}.get(
            message.stop_reason, message.stop_reason)
        return "".join(block.text for block in message.content if block.type == "text")


def _all_input(usage) -> int | None:
    """Anthropic counts input that was written to or read from its cache apart; all of it was input."""
    if usage.input_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)

"""A model behind Anthropic's format."""
from agent_steps.providers.extras import DEFAULT_MAX_TOKENS, in_request
from agent_steps.providers.model import Model, tools_part


class AnthropicModel(Model):
    """A model behind Anthropic's messages format: the system prompt stands apart, and a reply is a list of blocks."""

    wire = "anthropic"

    def _sdk_errors(self) -> tuple:
        import httpx2
        from anthropic import AnthropicError

        return AnthropicError, httpx2.HTTPError

    def _request(self, system_prompt: str | list[dict], messages: list[dict], tools: list[dict], parameters: dict):
        return self.client.messages.create(model=self.name, messages=messages, **tools_part(tools), **self._options(system_prompt, parameters))

    def _options(self, system_prompt: str | list[dict], parameters: dict) -> dict:
        options = {**self.options, **parameters}
        if options.get("max_tokens") is None:
            options["max_tokens"] = DEFAULT_MAX_TOKENS
        if system_prompt:
            options["system"] = system_prompt
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        if "temperature" in options:   # no argument of this client any more, but still a field of the format
            options["extra_body"] = {**options.get("extra_body", {}), "temperature": options.pop("temperature")}
        return in_request(options)

    def _streamed(self, parameters: dict) -> dict:
        return {**parameters, "stream": True}

    def _note(self, event) -> None:
        """What was sent is known at the beginning, what was received at the end: the number at the beginning is a first piece."""
        if event.type == "message_start":
            started = event.message.usage.to_dict() if event.message.usage else {}
            self._usage_so_far = started | {"output_tokens": None}
        elif event.type == "message_delta":
            ended = event.usage.to_dict() if event.usage else {}
            self._usage_so_far |= {name: count for name, count in ended.items() if count is not None}
            self.stop_reason = self._ending(event.delta.stop_reason)

    def _account(self, message) -> None:
        self._count(message.usage and message.usage.to_dict())
        self.stop_reason = self._ending(message.stop_reason)

    def _ending(self, reason: str) -> str:
        same = {"end_turn": "end", "max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "tool_calls"}
        return same.get(reason, reason)

    def _message(self, message) -> dict:
        return {"role": "assistant", "content": [block.to_dict(warnings=False) for block in message.content]}

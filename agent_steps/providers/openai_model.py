"""A model behind OpenAI's format."""
from agent_steps.providers.extras import usable_extras
from agent_steps.providers.model import Model, tools_part


class OpenAIModel(Model):
    """A model behind OpenAI's chat completions format, which most providers speak."""

    wire = "openai"

    def _sdk_errors(self) -> tuple:
        import httpx2
        from openai import OpenAIError

        return OpenAIError, httpx2.HTTPError

    def _request(self, system_prompt: str | list[dict], messages: list[dict], tools: list[dict], parameters: dict):
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        # The client inspects every message of `messages` again on every call: 0.17 ms a message, so 50 ms a call at 300
        # messages, and a long run costs the square of its length. `extra_body` is merged in after that inspection.
        return self.client.chat.completions.create(
            model=self.name, messages=[], **self._options(parameters, {"messages": system + messages, **tools_part(tools)}))

    def _options(self, parameters: dict, body: dict) -> dict:
        options = usable_extras({**self.options, **parameters}, self.wire, self.provider.name)
        options["extra_body"] = {**options.get("extra_body", {}), **body}
        if "max_tokens" in options:
            options[self.provider.max_tokens_name] = options.pop("max_tokens")
        return options

    def _streamed(self, parameters: dict) -> dict:
        return {**parameters, "stream": True, "stream_options": {"include_usage": True}}

    def _note(self, chunk) -> None:
        """Usage comes in the last piece, alone."""
        if chunk.usage:
            self._usage_so_far = chunk.usage.to_dict()
        if chunk.choices and chunk.choices[0].finish_reason:
            self.stop_reason = self._ending(chunk.choices[0].finish_reason)

    def _account(self, completion) -> None:
        self._count(completion.usage and completion.usage.to_dict())   # first: what was used was used, whatever else is lacking
        self.stop_reason = self._ending(completion.choices[0].finish_reason)

    def _ending(self, reason: str) -> str:
        return {"stop": "end"}.get(reason, reason)

    def _message(self, completion) -> dict:
        return completion.choices[0].message.to_dict(warnings=False)   # of an odd call the client would warn, too

"""Lesson 17: one-shot replies, chat sessions, and streaming: the reply as it comes, put together from its pieces."""
import asyncio
import contextlib
import copy
import itertools
import json
from dataclasses import dataclass, field

from agent_steps.providers.extras import warn_if_all_thought
from agent_steps.providers.formats import text_of, thinking_of

FINISH_REASONS = {"end": "stop", "stop_sequence": "stop", "length": "length", "tool_calls": "tool",
                  "content_filter": "filter", "refusal": "filter"}   # why a reply ended; all else is "other"


@dataclass
class Reply:
    """One reply, and how it came about."""
    content: str
    thinking: str = ""            # what was thought aloud before it
    finish_reason: str = "stop"   # "stop", "length", "tool", "filter", or "other" for all else
    model: str = ""
    usage: dict = field(default_factory=dict, repr=False)   # its tokens and their cost, None where unknown
    history: list = field(default_factory=list, repr=False)   # the session's own list, which grows with it

    def __str__(self):
        return self.content


def make_reply(model, message, history):
    """Make a Reply of a message that has just come from a model."""
    reason = "filter" if message.get("refusal") else FINISH_REASONS.get(model.stop_reason, "other")
    return Reply(text_of(message), thinking_of(message), reason, model.name, model.last_use.to_dict(), history)


class Session:
    """A conversation that remembers. One request at a time; one that fails leaves it as it was."""

    def __init__(self, model, system_prompt=""):
        self.model, self.system_prompt = model, system_prompt
        self.clear()

    def clear(self):
        """Forget the conversation, when no request is under way. The system prompt stays."""
        self.history, self.last_reply = [], None   # messages without the system prompt; the last Reply

    @property
    def last_turn(self):
        """The role and the text of the last message; None before the first."""
        return {"role": self.history[-1]["role"], "text": text_of(self.history[-1])} if self.history else None

    def to_send(self, text, parameters=()):
        """Return the messages of a request that says `text`. Raises TypeError for parameters that make no chat."""
        if "tools" in parameters or "stream" in parameters:
            raise TypeError("A chat takes no tools= or stream=. Use call_with_tools, or ChatSession.stream.")
        system = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        return [*system, *self.history, {"role": "user", "content": text}]

    def keep(self, model, text, message):
        """Remember what was said and answered. Returns the Reply."""
        self.last_reply = make_reply(model, message, self.history)
        says_something = self.last_reply.content.strip() or self.last_reply.finish_reason == "tool"
        answer = message if says_something else {"role": "assistant", "content": "(empty reply)"}
        self.history += [{"role": "user", "content": text}, answer]
        return self.last_reply

    def chat(self, text, **parameters):
        """Return the Reply to a text. parameters: more of the request. Raises ModelError."""
        model = copy.copy(self.model)   # what it says of its last reply is then about this one
        return self.keep(model, text, model.native_reply(self.to_send(text, parameters), **parameters))


def ask(model, prompt, system_prompt="", tools=(), **parameters):
    """Ask one question, without a session to go on with. Returns a Reply. Raises ModelError."""
    model, session = copy.copy(model), Session(model, system_prompt)
    return session.keep(model, prompt, model.native_reply(session.to_send(prompt, parameters), tools, **parameters))


def openai_pieces(chunks, message):
    """Yield the texts of a stream in OpenAI's format. message: an empty dict, which becomes the reply."""
    message |= {"role": "assistant", "content": ""}
    calls = {}   # a list for each index: some servers give all calls the index 0, but each an id of its own
    for chunk in chunks:
        delta = chunk["choices"][0].get("delta") or {} if chunk.get("choices") else {}
        for part in delta.get("tool_calls") or []:
            same, id = calls.setdefault(part.get("index") or 0, []), part.get("id") or None
            if not same or id and same[-1]["id"] not in (None, id):
                same.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
            same[-1]["id"] = same[-1]["id"] or id
            for name in same[-1]["function"]:
                same[-1]["function"][name] += (part.get("function") or {}).get(name) or ""
        for name in ("reasoning_content", "reasoning", "refusal", "content"):
            if delta.get(name):
                message[name] = message.get(name, "") + delta[name]
        if delta.get("content"):
            yield delta["content"]
    if calls:
        message["tool_calls"] = [call for index in sorted(calls) for call in calls[index]]


def anthropic_pieces(events, message):
    """As openai_pieces, in Anthropic's format. A block has stopped when the next one starts."""
    message["role"], blocks = "assistant", message.setdefault("content", [])
    for event in events:
        delta = event.get("delta") or {}
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        for name in {"text", "thinking", "signature", "partial_json"} & delta.keys():
            blocks[-1][name] = (blocks[-1].get(name) or "") + (delta[name] or "")
        if delta.get("text"):
            yield delta["text"]
    for block in blocks:
        with contextlib.suppress(KeyError, ValueError):   # no pieces; or no JSON, which anthropic_calls mends
            block["input"] = block.pop("partial_json") or "{}"
            block["input"] = json.loads(block["input"])


def read_stream(model, messages, message, parameters):
    """Yield the texts of a streamed reply. message: as in openai_pieces. Raises ModelError."""
    put_together = openai_pieces if model.wire == "openai" else anthropic_pieces
    chunks = model.native_chunks(messages, **parameters)
    first = next(chunks)   # makes the request: only what comes back is looked at below
    with model.reading():
        yield from put_together(itertools.chain([first], chunks), message)
    warn_if_all_thought(message, model.stop_reason)


class ChatSession(Session):
    """A session that shows replies as they come. A broken one leaves the history as it was."""

    def pieces(self, text, **parameters):
        """Yield the pieces of a reply. It is remembered when the loop over them has ended. Raises ModelError."""
        model, message = copy.copy(self.model), {}
        yield from read_stream(model, self.to_send(text, parameters), message, parameters)
        self.keep(model, text, message)

    def stream(self, text, show=print, **parameters):
        """Return a reply's text, shown as it comes. show: called as print is, at the end as show()."""
        try:
            for piece in self.pieces(text, **parameters):
                show(piece, end="", flush=True)
        finally:
            show()   # ends the line, also where the reply broke off
        return self.last_reply.content

    async def chat_async(self, text, **parameters):
        """As chat, for an app that must not wait: the request is made in a thread."""
        model = copy.copy(self.model)
        message = await asyncio.to_thread(model.native_reply, self.to_send(text, parameters), **parameters)
        return self.keep(model, text, message)

    async def stream_async(self, text, **parameters):
        """As pieces, for an app that must not wait: each piece is waited for in a thread."""
        model, message = copy.copy(self.model), {}
        pieces = read_stream(model, self.to_send(text, parameters), message, parameters)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece
        self.keep(model, text, message)   # not in the thread, which goes on when nobody waits any more

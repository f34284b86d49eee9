"""Anthropic's messages format: JSON to a Request, and a Reply to JSON or to a stream of events."""
import json

from agent_steps.practice.caching import kept_for, read_and_written
from agent_steps.practice.request import Call, Message, Refused, Reply, Request, Result, check_pairs, input_tokens, output_tokens

ROLES = ("user", "assistant", "system")
BLOCKS = {"text", "tool_use", "tool_result", "thinking", "redacted_thinking"}
SMALLEST_BUDGET = 1024   # tokens to think with
EMPTY = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}   # as a streamed block begins
STOP = {"end": "end_turn", "stop_sequence": "stop_sequence", "length": "max_tokens", "tool_calls": "tool_use"}


def read_request(body: dict, attempt: int) -> Request:
    """Read the JSON that the anthropic client sends. Raises Refused for what the real API refuses."""
    if "max_tokens" not in body:
        raise Refused("max_tokens: Field required")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise Refused("messages: at least one message is required")
    messages = [_read_message(message, place) for place, message in enumerate(body["messages"])]
    if messages[0].role != "user":
        raise Refused("messages: the first message must use the user role")
    check_pairs(messages)
    keep_system, keep_messages = _kept(body)
    return Request(
        system="\n".join([_read_text(body.get("system") or "", "system"), *(m.text for m in messages if m.role == "system")]).strip(),
        messages=[message for message in messages if message.role != "system"],
        tools=dict(_read_tool(tool, place) for place, tool in enumerate(body.get("tools") or [])),
        stop=tuple(body.get("stop_sequences") or ()),
        max_tokens=body["max_tokens"],
        attempt=attempt,
        may_call=(body.get("tool_choice") or {}).get("type") != "none",
        thinks=_thinks(body),
        keep_system=keep_system,
        keep_messages=keep_messages,
    )


def _kept(body: dict) -> tuple[str | None, str | None]:
    """How long the system prompt (with the tools before it) and the messages are to be kept. The last mark counts."""
    of_system = [kept_for(block) for part in ("tools", "system") if isinstance(body.get(part), list) for block in body[part]]
    blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
    of_messages = [*map(kept_for, blocks), kept_for(body)]
    marks = [[mark for mark in part if mark] for part in (of_system, of_messages)]
    if len(marks[0]) + len(marks[1]) > 4:
        raise Refused("cache_control: at most 4 blocks may have one")
    return tuple(part[-1] if part else None for part in marks)


def _thinks(body: dict) -> bool:
    """Whether the model is to think aloud first."""
    thinking = body.get("thinking") or {"type": "disabled"}
    budget = thinking.get("budget_tokens")
    if thinking["type"] == "enabled" and not (isinstance(budget, int) and SMALLEST_BUDGET <= budget < body["max_tokens"]):
        raise Refused(f"thinking.budget_tokens: at least {SMALLEST_BUDGET}, and less than max_tokens ({body['max_tokens']})")
    return thinking["type"] != "disabled"


def _read_message(message: dict, place: int) -> Message:
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        raise Refused(f"messages.{place}.role: there is no role {role!r}; the roles are {', '.join(ROLES)}")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise Refused(f"messages.{place}: the content is empty")
    if other := {block["type"] for block in content} - BLOCKS:
        raise Refused(f"messages.{place}: this model reads no blocks of type {', '.join(sorted(other))}")
    if any(block["type"] == "thinking" and not block.get("signature") for block in content):
        raise Refused(f"messages.{place}: a thinking block goes back as it came, with its signature")
    if any(block["type"] == "text" and not block.get("text", "").strip() for block in content):
        raise Refused(f"messages.{place}: text content blocks must be non-empty")
    return Message(
        role,
        "".join(block["text"] for block in content if block["type"] == "text"),
        tuple(Call(b["name"], b["input"], b["id"]) for b in content if b["type"] == "tool_use"),
        tuple(Result(b["tool_use_id"], _read_text(b.get("content", ""), place)) for b in content if b["type"] == "tool_result"),
    )


def _read_tool(tool: dict, place: int) -> tuple[str, dict]:
    if "name" not in tool or "input_schema" not in tool:
        raise Refused(f"tools.{place}: a 'name' and an 'input_schema' are required")
    return tool["name"], tool["input_schema"]


def _read_text(content, place) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(block, dict) and block.get("type") == "text" for block in content):
        return "\n".join(block.get("text", "") for block in content)
    raise Refused(f"{place}: the content must be text")


def write_reply(reply: Reply, request: Request, model: str, usage: bool = True) -> dict:
    """The JSON of a whole reply. Without `usage` that field is left out."""
    blocks = [{"type": "thinking", "thinking": reply.thinking, "signature": "practice"}] if reply.thinking else []
    blocks += [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in reply.calls]
    answer = {
        "id": f"msg_practice_{request.turn}", "type": "message", "role": "assistant", "model": model, "content": blocks,
        "stop_reason": STOP[reply.stop_reason], "stop_sequence": reply.stopped_by,
    }
    return {**answer, "usage": _usage(reply, request)} if usage else answer


def _input(call: Call) -> dict:
    """The arguments. They are an object in this format, so nothing is left of arguments that were cut or malformed."""
    return call.arguments if call.raw is None else {}


def _usage(reply: Reply, request: Request) -> dict:
    read, short, hour = read_and_written(request)
    return {
        "input_tokens": input_tokens(request) - read - short - hour, "output_tokens": output_tokens(reply),
        "cache_read_input_tokens": read, "cache_creation_input_tokens": short + hour,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": hour},
    }


def write_stream(reply: Reply, request: Request, model: str, pieces: list[str], body: dict, usage: bool = True) -> list[str]:
    """The same reply as server-sent events, one string an event."""
    whole = write_reply(reply, request, model, usage)
    events = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "stop_sequence": None}}]
    for index, block in enumerate(whole["content"]):
        empty = {**block, **EMPTY[block["type"]]}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in _deltas(block, reply, index, pieces)]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": reply.stopped_by}}
    if usage:
        ending["usage"] = {"output_tokens": whole["usage"]["output_tokens"]}
    events += [ending, {"type": "message_stop"}]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _deltas(block: dict, reply: Reply, index: int, pieces: list[str]) -> list[dict]:
    if block["type"] == "thinking":
        return [{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": block["signature"]}]
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in pieces]
    raw = reply.calls[index - bool(reply.text) - bool(reply.thinking)].raw
    return [{"type": "input_json_delta", "partial_json": json.dumps(block["input"]) if raw is None else raw}]


def write_error(refused: Refused) -> dict:
    """The JSON of an error."""
    return {"type": "error", "error": {"type": refused.kind, "message": str(refused)}}

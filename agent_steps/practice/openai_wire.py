"""OpenAI's chat completions format: JSON to a Request, and a Reply to JSON or to a stream of chunks."""
import json

from agent_steps.practice.caching import found_again
from agent_steps.practice.request import Call, Message, Refused, Reply, Request, Result, check_pairs, input_tokens, output_tokens

ROLES = ("system", "developer", "user", "assistant", "tool")
FINISH = {"end": "stop", "stop_sequence": "stop", "length": "length", "tool_calls": "tool_calls"}


def read_request(body: dict, attempt: int) -> Request:
    """Read the JSON that the openai client sends. Raises Refused for what the real API refuses."""
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise Refused("'messages' must be a list with at least one message")
    messages = [_read_message(message, place) for place, message in enumerate(body["messages"])]
    check_pairs(messages)
    stop = body.get("stop") or []
    return Request(
        system="\n".join(message.text for message in messages if message.role == "system"),
        messages=[message for message in messages if message.role != "system"],
        tools=dict(_read_tool(tool, place) for place, tool in enumerate(body.get("tools") or [])),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        attempt=attempt,
        may_call=body.get("tool_choice") != "none",
    )


def _read_message(message: dict, place: int) -> Message:
    role = message.get("role")
    if role not in ROLES:
        raise Refused(f"messages[{place}]: there is no role {role!r}; the roles are {', '.join(ROLES)}")
    text = _read_text(message.get("content"), place)
    calls = tuple(_read_call(call) for call in message.get("tool_calls") or [])
    if not text.strip() and not calls:
        raise Refused(f"messages[{place}]: the content is empty")
    if role == "tool":
        return Message("user", "", results=(Result(message.get("tool_call_id", ""), text),))
    return Message("system" if role == "developer" else role, text, calls)


def _read_tool(tool: dict, place: int) -> tuple[str, dict]:
    if tool.get("type") != "function" or "function" not in tool:
        raise Refused(f"tools[{place}] is not of this format: it needs 'type': 'function' and a 'function'")
    return tool["function"]["name"], tool["function"].get("parameters", {})


def _read_text(content, place: int) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return "".join(part.get("text", "") for part in content)
    raise Refused(f"messages[{place}]: the content must be text")


def _read_call(call: dict) -> Call:
    function = call["function"]
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        raise Refused(f"the arguments of the tool call {call.get('id')!r} are not valid JSON") from None
    return Call(function["name"], arguments, call.get("id", ""))


def write_reply(reply: Reply, request: Request, model: str, usage: bool = True) -> dict:
    """The JSON of a whole reply. Without `usage` that field is left out, as some providers do."""
    message = {"role": "assistant", "content": reply.text or None if reply.calls else reply.text, "refusal": None}
    if reply.thinking:   # no field of OpenAI's own: the services that show it put it here
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [_write_call(call) for call in reply.calls]
    answer = {
        "id": f"chatcmpl-practice-{request.turn}", "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": FINISH[reply.stop_reason]}],
    }
    return {**answer, "usage": _usage(reply, request)} if usage else answer


def _write_call(call: Call) -> dict:
    arguments = json.dumps(call.arguments) if call.raw is None else call.raw
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _usage(reply: Reply, request: Request) -> dict:
    sent, received = input_tokens(request), output_tokens(reply)
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received,
            "prompt_tokens_details": {"cached_tokens": found_again(request)}}


def write_stream(reply: Reply, request: Request, model: str, pieces: list[str], body: dict, usage: bool = True) -> list[str]:
    """The same reply as server-sent events, one string an event."""
    thoughts = [{"reasoning_content": reply.thinking}] if reply.thinking else []
    deltas = [{"role": "assistant", "content": ""}, *thoughts, *({"content": piece} for piece in pieces)]
    for index, call in enumerate(reply.calls):
        deltas.append({"tool_calls": [{"index": index, **_write_call(call)}]})
    chunks = [_chunk(request, model, delta, None) for delta in deltas]
    chunks.append(_chunk(request, model, {}, FINISH[reply.stop_reason]))
    if usage and (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**_chunk(request, model, {}, None), "choices": [], "usage": _usage(reply, request)})
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


def _chunk(request: Request, model: str, delta: dict, finish_reason: str | None) -> dict:
    return {
        "id": f"chatcmpl-practice-{request.turn}", "object": "chat.completion.chunk", "created": 0, "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }


def write_error(refused: Refused) -> dict:
    """The JSON of an error."""
    return {"error": {"message": str(refused), "type": refused.kind, "param": None, "code": refused.kind}}

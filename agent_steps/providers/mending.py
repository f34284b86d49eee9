"""Messages of a history, whatever they look like, as an API takes them. Only the pairing of calls and results is not looked at."""
import json
import re

from agent_steps.providers.formats import as_list, call_parts, calls_in, fresh_id, read_object, results_in, text_in
from agent_steps.providers.tools import as_dict, can_be_sent

ROLES = {"openai": ["system", "developer", "user", "assistant"], "anthropic": ["system", "user", "assistant"]}
# the types of blocks, apart from calls and results, that a format knows; a test compares them with the clients (2026-11)
BLOCKS = {
    "openai": {"text", "refusal", "image_url", "input_audio", "file"},
    "anthropic": {"text", "thinking", "redacted_thinking", "image", "document", "search_result", "container_upload", "server_tool_use",
                  "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
                  "text_editor_code_execution_tool_result", "tool_search_tool_result"},
}
ANY_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")   # of a tool, in a history: what one service or the other takes


def shape_of(messages: list) -> str | None:
    """The format that a history is written in, "openai" or "anthropic", by most of its marks; None for one that suits both."""
    marks = {"openai": 0, "anthropic": 0}
    for message in map(as_dict, messages):
        types = [as_dict(block).get("type") for block in as_list(message.get("content"))]
        roles = [role for role in ("tool", "developer") if message.get("role") == role]
        marks["openai"] += bool(roles or as_list(message.get("tool_calls")) or "refusal" in message or _some(types, BLOCKS["openai"] - {"text"}))
        marks["anthropic"] += _some(types, BLOCKS["anthropic"] - {"text"} | {"tool_use", "tool_result"})
    return max(marks, key=marks.get) if any(marks.values()) else None


def _some(types: list, wanted: set) -> bool:
    return any(isinstance(each, str) and each in wanted for each in types)


def sendable(value):
    """A copy as JSON can hold it: half characters become "?", NaN becomes None, and what JSON has no form for becomes its text."""
    try:
        return json.loads(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace"), parse_constant=lambda name: None)
    except Exception:   # nested too deeply, in a circle, or an object whose text cannot be made
        return "(an entry that cannot be read)"


def taken_apart(entry, shape: str | None) -> tuple[dict | None, list[tuple]]:
    """Return the message that is in an entry of a history, or None, and the results in it: (id of the call, result).

    Both are new, in the given format, whichever the entry is in. A message with calls is the model's.
    """
    message = sendable(entry)
    if not isinstance(message, dict):
        message = {"role": "user", "content": message}
    results = [(as_id(id), _mended_result(result, shape)) for id, result in results_in(message)]
    if message.get("role") == "tool":
        return None, results
    calls, content = calls_in(message), message.get("content")
    if calls or message.get("role") not in ROLES[shape or "anthropic"]:
        message["role"] = "assistant" if calls else "user"
    if isinstance(content, list):
        content = [_mended_block(block, shape) for block in content if _stays(block, shape)]
    elif content is not None:
        content = _as_text(content)
    if results and not content and not calls:
        return None, results
    return _with_calls(message, calls, content, shape), results


def _stays(block, shape: str | None) -> bool:
    """Whether a block stays in the content: no result, no call of the other format, and no text without a character."""
    kind = as_dict(block).get("type")
    if kind == "tool_use":
        return shape == "anthropic"
    return kind != "tool_result" and (kind != "text" or bool(str(block.get("text") or "").strip()))


def _mended_block(block, shape: str | None) -> dict:
    kind = as_dict(block).get("type")
    if kind == "tool_use":
        return block | {"name": _name(block.get("name")), "input": read_object(block.get("input")) or {}}
    if kind == "text":
        return block | {"text": _as_text(block["text"])}
    return block if _some([kind], BLOCKS[shape or "anthropic"]) else {"type": "text", "text": _as_text(block)}


def _with_calls(message: dict, calls: list[dict], content, shape: str | None) -> dict:
    """The message with its content and its calls in the given format, and with a text if it has neither."""
    if calls and shape == "openai":
        return message | {"tool_calls": [_openai_call(call) for call in calls]} | ({} if content is None else {"content": content or ""})
    if message.get("tool_calls") is not None:
        del message["tool_calls"]
    if calls:
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if (content or "").strip() else []
        return message | {"content": blocks + [_anthropic_call(call) for call in calls if call.get("type") != "tool_use"]}
    if not content or isinstance(content, str) and not content.strip():
        content = "(empty reply)" if message["role"] == "assistant" else "(empty message)"
    return message | {"content": content}


def _anthropic_call(call: dict) -> dict:
    name, arguments, _ = call_parts(call)
    return {"type": "tool_use", "id": call.get("id"), "name": _name(name), "input": arguments}


def _openai_call(call: dict) -> dict:
    name, arguments, shape = call_parts(call)
    arguments = arguments if can_be_sent(arguments) else {}
    if shape == "anthropic":
        call = {"id": call.get("id")}
    function = as_dict(call.get("function"))
    written = function.get("arguments")
    if not isinstance(written, str) or read_object(written) != arguments:   # a text that is whole stays as it is
        written = json.dumps(arguments)
    return call | {"type": "function", "function": function | {"name": _name(name), "arguments": written}}


def _mended_result(result: dict, shape: str | None) -> dict:
    """A result in the given format, with a content that the API takes."""
    content, is_block = result.get("content"), result.get("type") == "tool_result" and result.get("role") != "tool"
    if is_block != (shape == "anthropic"):
        form = {"type": "tool_result"} if shape == "anthropic" else {"role": "tool"}
        return form | {"content": text_in(content) or (_as_text(content) if content else "(no output)")}
    if isinstance(content, list):
        content = [_mended_block(block, shape) for block in content if as_dict(block).get("type") not in ("tool_use", "tool_result")]
    elif content is not None:
        content = _as_text(content)
    if is_block:   # there it may be empty, and be left out
        return result if "content" not in result else result | {"content": content if content is not None else "(no output)"}
    return result | {"content": content if content and (isinstance(content, list) or content.strip()) else "(no output)"}


def lost_result(id: str, result: dict) -> dict:
    """A result that no call waits for, as a message of the user: it cannot be sent as a result."""
    content = result.get("content")
    return {"role": "user", "content": f"(A result for the tool call {id!r}, which is not waiting for one: {text_in(content) or content})"}


def put_result(place: dict, result: dict) -> None:
    """Put a result into the place of another one, whose id it takes."""
    key = "tool_use_id" if "tool_use_id" in place else "tool_call_id"
    id = place[key]
    place.clear()
    place.update(result, **{key: id})


def as_id(id) -> str:
    """The id of a call as a text; an empty one if it is missing."""
    return id if isinstance(id, str) else "" if id is None else _as_text(id)


def _name(name) -> str:
    return name if isinstance(name, str) and ANY_NAME.fullmatch(name) else "unknown"


def _as_text(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def open_results(message: dict, shape: str | None, interrupted: str, waiting: dict, taken: set) -> list[dict]:
    """Make the ids of a message's calls unique, and return the messages that answer them, each with the text `interrupted`.

    waiting: from an id, as it was, to the results that something can be put into. taken: the ids in use.
    """
    places = []
    for call in calls_in(message):
        old_id, call["id"] = as_id(call.get("id")), fresh_id(call.get("id"), taken)
        if shape == "anthropic":
            places.append({"type": "tool_result", "tool_use_id": call["id"], "content": interrupted, "is_error": True})
        else:
            places.append({"role": "tool", "tool_call_id": call["id"], "content": interrupted})
        waiting.setdefault(old_id, []).append(places[-1])
    return [{"role": "user", "content": places}] if places and shape == "anthropic" else places

"""What can be read from messages in either format, OpenAI's or Anthropic's."""
import itertools
import json

from agent_steps.providers.tools import as_dict

TAGS = ("think", "thinking", "reasoning")   # some servers leave thoughts in the text of a reply, between such tags


def text_of(message: dict) -> str:
    """The text of a reply, without calls and thoughts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(block.get("text") or "" for block in content if block.get("type") == "text")


def told_in(messages: list[dict]) -> str:
    """What a model is told since its last reply: the results of its calls, in either format, and other messages, as one text."""
    news = itertools.takewhile(lambda message: message.get("role") != "assistant", reversed(messages))
    texts = []
    for message in reversed(list(news)):
        texts += [text_in(result.get("content")) for _, result in results_in(message)]
        if message.get("role") != "tool":
            texts.append(text_in(message.get("content")))
    return "\n".join(filter(None, texts))


def ids_in(messages: list[dict]) -> set[str]:
    """The ids of all calls in a history."""
    found = set()
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        found |= {call.get("id") for call in message.get("tool_calls") or []}
        found |= {block.get("id") for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"}
    return {each for each in found if isinstance(each, str)}


def thinking_of(message: dict) -> str:
    """What a model thought aloud, from whichever place its provider puts it."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    thoughts = [block.get("thinking") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "thinking"]
    return message.get("reasoning_content") or message.get("reasoning") or "\n".join(thoughts)


def is_all_thought(message: dict) -> bool:
    """Whether a reply holds thoughts, perhaps hidden ones, and neither an answer nor a call."""
    content, text = message.get("content"), text_of(message).strip()
    blocks = content if isinstance(content, list) else []
    thinks = thinking_of(message) or any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks)
    in_tags = any(text.startswith(f"<{tag}>") and not text.partition(f"</{tag}>")[2] for tag in TAGS)
    return bool(in_tags or thinks and not text) and not ids_in([message])


def fresh_id(id, taken: set) -> str:
    """Return an id that no other call has: the call's own, or one made for it. It counts as taken from now on."""
    number = len(taken) + 1
    while not isinstance(id, str) or not id or id in taken:
        id, number = f"call_{number}", number + 1
    taken.add(id)
    return id


def can_be_sent_back(message: dict) -> dict:
    """The message without blocks of blank text, which Anthropic sends beside a call and does not take back."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return message | {"content": [block for block in content if block.get("type") != "text" or (block.get("text") or "").strip()]}


def calls_in(message) -> list[dict]:
    """The calls of a message of either format as they stand in it, each with an "id". What is no call is left out."""
    message = as_dict(message)
    found = [call for call in as_list(message.get("tool_calls")) if isinstance(call, dict)]
    return found + [block for block in as_list(message.get("content")) if as_dict(block).get("type") == "tool_use"]


def call_parts(call: dict) -> tuple[str, dict, str]:
    """The name and the arguments of such a call, and its format. Arguments that are no JSON object become {}."""
    if call.get("type") == "tool_use":
        return call.get("name"), read_object(call.get("input")) or {}, "anthropic"
    function = as_dict(call.get("function"))
    return function.get("name"), read_object(function.get("arguments")) or {}, "openai"


def results_in(message) -> list[tuple]:
    """The results in a message of either format: the id of the call, and the result as it stands there, with a "content"."""
    message = as_dict(message)
    if message.get("role") == "tool":
        return [(message.get("tool_call_id"), message)]
    blocks = [block for block in as_list(message.get("content")) if as_dict(block).get("type") == "tool_result"]
    return [(block.get("tool_use_id"), block) for block in blocks]


def text_in(content) -> str:
    """The text of a content: a text, or a list of blocks, of which those with text are joined by line ends."""
    if isinstance(content, str):
        return content
    texts = [as_dict(block).get("text") for block in as_list(content) if as_dict(block).get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_object(written) -> dict | None:
    """A dict, or the dict that a JSON text holds; None for all else."""
    try:
        value = json.loads(written) if isinstance(written, str) else written
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def as_list(value) -> list:
    """The value if it is a list; an empty one otherwise."""
    return value if isinstance(value, list) else []


def role_of(message) -> str | None:
    """Whose message it is, in either format: "system" for a developer's too, and "tool" for results, also Anthropic's."""
    role = as_dict(message).get("role")
    return "tool" if results_in(message) else "system" if role == "developer" else role

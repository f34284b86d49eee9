"""What can be read from messages in either format, OpenAI's or Anthropic's."""


def text_of(message: dict) -> str:
    """The text of a reply, without calls and thoughts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(block.get("text") or "" for block in content if block.get("type") == "text")


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

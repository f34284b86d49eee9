"""What a cache would have given and taken.

The practice model remembers nothing, so it goes by the request alone: what the history shows as sent before, everything up to
the model's last reply, counts as sent a moment ago, letter by letter. The sizes are those of the real services.
"""
from agent_steps.practice.request import Refused, Request, count_tokens, message_texts

SHORTEST = 1024   # tokens; a shorter beginning is not kept
STEP = 128        # tokens; in OpenAI's format, what is found again is counted in whole steps


def found_again(request: Request) -> int:
    """Tokens that OpenAI's cache has of a request. It keeps everything by itself."""
    before = _sent_before(request)
    return before // STEP * STEP if before >= SHORTEST else 0


def read_and_written(request: Request) -> tuple[int, int, int]:
    """Tokens that Anthropic's cache gives, and those that it takes, for five minutes and for an hour. It keeps what it was asked to."""
    head, before = _tokens_until(request, 0), _sent_before(request)
    end = _tokens_until(request, len(request.messages)) if request.keep_messages else head if request.keep_system else 0
    if end < SHORTEST:
        return 0, 0, 0
    read = min(before, end) if before >= SHORTEST else 0
    written = {"5m": 0, "1h": 0}
    of_head = max(head - read, 0) if request.keep_system else 0
    written[request.keep_system or "5m"] += of_head
    written[request.keep_messages or "5m"] += end - read - of_head
    return read, written["5m"], written["1h"]


def _sent_before(request: Request) -> int:
    """Tokens of the request before this one; 0 if this is the first."""
    replies = [place for place, message in enumerate(request.messages) if message.role == "assistant"]
    return _tokens_until(request, replies[-1]) if replies else 0


def _tokens_until(request: Request, place: int) -> int:
    """Tokens of tools, system prompt and the messages before this place, in which order they stand."""
    texts = [f"{name} {schema}" for name, schema in request.tools.items()] + [request.system]
    for message in request.messages[:place]:
        texts += message_texts(message)
    return sum(map(count_tokens, texts))


def kept_for(block) -> str | None:
    """How long a block asks to be kept, "5m" or "1h", or None. Raises Refused for anything else."""
    control = block.get("cache_control") if isinstance(block, dict) else None
    if control is None:
        return None
    if control.get("type") != "ephemeral" or control.get("ttl", "5m") not in ("5m", "1h"):
        raise Refused("cache_control: the type is 'ephemeral' and the ttl '5m' or '1h'")
    return control.get("ttl", "5m")

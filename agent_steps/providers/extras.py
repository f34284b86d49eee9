"""Two options of `connect` that only Anthropic's format has: what a cache is to keep, and how much may be thought aloud first."""
import warnings

from agent_steps.providers.formats import is_all_thought

CACHES = ("none", "5m", "1h", "auto")
SMALLEST_BUDGET = 1024      # tokens, by Anthropic's rule
DEFAULT_MAX_TOKENS = 4096   # a must in this format, so there is a default


def usable_extras(options: dict, wire: str, provider: str) -> dict:
    """Return the options that this provider can take. The others are left out, with one warning for all of them.

    Raises ValueError for values that no provider takes.
    """
    cache, budget = check_cache(options.get("cache")), options.get("thinking")
    if budget is not None:
        check_thinking(budget, options.get("max_tokens") or DEFAULT_MAX_TOKENS)
    asked = [name for name, value in (("cache", cache), ("thinking", budget)) if value not in (None, "none")]
    if asked and wire != "anthropic":
        warnings.warn(f"{' and '.join(asked)} can be set for Anthropic's format only. With {provider}, what was set is ignored.", stacklevel=3)
    kept = asked if wire == "anthropic" else []
    return {name: value for name, value in options.items() if name in kept or name not in ("cache", "thinking")}


def check_cache(cache: str | None) -> str:
    """Return what a cache is to keep; None is "none". Raises ValueError for what is none of CACHES."""
    if cache is None:
        return "none"
    if cache not in CACHES:
        raise ValueError(f"cache is one of {', '.join(map(repr, CACHES))}, not {cache!r}.")
    return cache


def check_thinking(budget: int | dict, max_tokens: int) -> None:
    """Raise ValueError for a budget that Anthropic would refuse. Thoughts count as a part of the reply, whose limit is max_tokens.

    A dict, for what else the format knows, is left for the service to judge.
    """
    if isinstance(budget, dict):
        return
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < SMALLEST_BUDGET:
        raise ValueError(f"thinking is a number of tokens, at least {SMALLEST_BUDGET}, not {budget!r}.")
    if budget >= max_tokens:
        raise ValueError(f"thinking={budget} leaves no room for an answer: max_tokens (or longest_reply) is {max_tokens}. Set it higher.")


def in_request(options: dict) -> dict:
    """Write both options as Anthropic's requests have them. Raises ValueError as check_cache and check_thinking."""
    options = dict(options)
    cache, thinking = check_cache(options.pop("cache", None)), options.pop("thinking", None)
    if thinking is not None:
        check_thinking(thinking, options.get("max_tokens") or DEFAULT_MAX_TOKENS)
        options["thinking"] = thinking if isinstance(thinking, dict) else {"type": "enabled", "budget_tokens": thinking}
    if cache == "auto":   # the service puts its mark on the last block itself
        options["cache_control"] = {"type": "ephemeral"}
    elif cache != "none" and options.get("system"):
        options["system"] = marked(options["system"], cache)
    return options


def marked(system: str | list[dict], cache: str) -> list[dict]:
    """Return the system prompt as blocks, with the mark "keep all up to here" on the last. Five minutes are meant if nothing is said."""
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    mark = {"type": "ephemeral"} if cache == "5m" else {"type": "ephemeral", "ttl": cache}
    return [*blocks[:-1], {**blocks[-1], "cache_control": mark}]


def warn_if_all_thought(message: dict, stop_reason: str | None) -> None:
    """Warn if a reply reached its limit while it was still being thought about: there is no answer in it."""
    if stop_reason == "length" and is_all_thought(message):
        warnings.warn("The reply was cut off while the model was still thinking, so there is no answer. Set max_tokens higher.", stacklevel=3)

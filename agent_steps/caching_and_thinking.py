"""Lesson 19: why a run costs the square of its length, what a cache changes, and thoughts apart from the answer."""
import json
import os

from agent_steps.providers.formats import TAGS, text_of, thinking_of
from agent_steps.providers.prices import provider_called
from agent_steps.providers.usage import read_usage, tokens_sent
from agent_steps.usage_and_cost import usage_cost


def tokens_of_run(first, each, requests):
    """Return the tokens of all requests of a run, if each sends the whole history again.

    first: tokens of the first request. each: those that a round adds, the call and its result.
    """
    return sum(first + each * number for number in range(requests))


def same_beginning(first, second):
    """Return how many characters two lists of messages have in common from the start.

    They are requests. No cache can find more of the second one.
    """
    texts = [json.dumps(messages, ensure_ascii=False) for messages in (first, second)]
    return len(os.path.commonprefix(texts))


def without_cache(request):
    """Return what a request takes without a cache. request: as read_usage returns it."""
    parts = dict.fromkeys(request["cache_creation"], 0)
    return request | {"input_tokens": tokens_sent(request), "cache_read_input_tokens": 0,
                      "cache_creation_input_tokens": 0, "cache_creation": parts}


def cache_savings(model, provider, usage, when=None):
    """Return the dollars that a cache saved, below 0 where it cost more. None for unknown.

    model, provider, usage, when: as for usage_cost of lesson 18.
    """
    row = provider_called(provider)
    whole_run = isinstance(usage, dict) and "requests" in usage
    requests = usage["requests"] if whole_run else [row and read_usage(usage, row.wire)]
    plain = [each and without_cache(each) for each in requests]
    paid = usage_cost(model, row, {"requests": requests}, when)
    in_full = usage_cost(model, row, {"requests": plain}, when)
    return None if None in (paid, in_full) else in_full - paid


def split_tags(text):
    """Return the thoughts between tags at the beginning of a text, and what follows them."""
    for tag in TAGS:
        start, end = f"<{tag}>", f"</{tag}>"
        before, found, after = text.partition(end)   # without an end, all stands before it
        begins = before.lstrip().startswith(start)
        if begins or found and start not in before:
            return before.lstrip().removeprefix(start).strip(), after.lstrip()
    return "", text


def split_thinking(message):
    """Return what a model thought and what it answered, two texts.

    message: a reply in either format, or its content. Thoughts stand in `reasoning_content`, in
    `reasoning`, in blocks of type "thinking", or between tags at the beginning of the text.
    """
    message = message if isinstance(message, dict) else {"content": message}
    in_tags, answer = split_tags(text_of(message))
    thinking = filter(None, [thinking_of(message), in_tags])   # seldom both
    return "\n".join(thinking), answer

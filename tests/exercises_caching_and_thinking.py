"""Right and wrong answers to the exercises of lesson 19: (exercise, arguments of the check) and, if wrong, words of the reason."""
import itertools
import math

from agent_steps.caching_and_thinking import split_thinking
from agent_steps.providers.formats import text_of


def one_by_one(written, read):
    return next(count for count in itertools.count(1) if written + (count - 1) * read < count)


def by_division(written, read):
    return max(1, math.floor((written - read) / (1 - read)) + 1)


def at_the_same_price(written, read):
    return next(count for count in itertools.count(1) if written + (count - 1) * read <= count)


def all_written(written, read):
    return math.ceil(written) + 1


def a_fraction(written, read):
    return (written - read) / (1 - read)


def one_too_many(written, read):
    return one_by_one(written, read) + 1


def two_lists(before, now):
    pairs = list(zip(before, now))
    return [new for old, new in pairs if old == new] + [new for old, new in pairs if old != new]


def by_sorting(before, now):
    return [new for _, new in sorted(zip(before, now), key=lambda pair: pair[0] != pair[1])]


def as_it_is(before, now):
    return now


def by_the_alphabet(before, now):
    return [new for changed, new in sorted((old != new, new) for old, new in zip(before, now))]


def changed_first(before, now):
    return by_sorting(before, now)[::-1]


def by_membership(before, now):
    return [text for text in now if text in before] + [text for text in now if text not in before]


def unchanged_only(before, now):
    return [new for old, new in zip(before, now) if old == new]


def the_old_ones(before, now):
    return [old for old, _ in sorted(zip(before, now), key=lambda pair: pair[0] != pair[1])]


def changed_backwards(before, now):
    return unchanged_only(before, now) + [new for old, new in zip(before, now) if old != new][::-1]


def sorted_in_place(before, now):
    now.sort()
    return now


def with_the_lesson(messages):
    found = [split_thinking(message)[1] for message in messages if message["role"] == "assistant"]
    return [answer for answer in found if answer.strip()]


def in_a_loop(messages):
    answers = []
    for message in messages:
        thinking, answer = split_thinking(message)
        if message["role"] == "assistant" and answer != "":
            answers.append(answer.strip())
    return answers


def of_contents(messages):
    return [answer for answer in (split_thinking(each["content"])[1] for each in messages if each["role"] == "assistant") if answer]


def both_texts(messages):
    return [split_thinking(message) for message in messages if message["role"] == "assistant"]


def contents(messages):
    return [message["content"] for message in messages if message["role"] == "assistant"]


def with_tags(messages):
    return [text_of(message) for message in messages if message["role"] == "assistant" and text_of(message)]


def of_everybody(messages):
    return [split_thinking(message)[1] for message in messages if split_thinking(message)[1]]


def with_empty_ones(messages):
    return [split_thinking(message)[1] for message in messages if message["role"] == "assistant"]


def thoughts(messages):
    return [split_thinking(message)[0] for message in messages if message["role"] == "assistant" and split_thinking(message)[0]]


def the_last(messages):
    return with_the_lesson(messages)[-1:]


def in_the_history(messages):
    for message in messages:
        message["content"] = split_thinking(message)[1]
    return with_the_lesson(messages)


RIGHT = [
    (1, one_by_one), (1, by_division), (2, two_lists), (2, by_sorting), (2, by_membership), (3, with_the_lesson), (3, in_a_loop), (3, of_contents),
]
WRONG = [
    (1, at_the_same_price, "not cheaper yet"), (1, all_written, "cheaper before"), (1, a_fraction, "whole number"), (1, one_too_many, "cheaper before"),
    (1, lambda written, read: 2, "not cheaper yet"), (1, lambda written, read: 0, "at least one"), (1, lambda written, read: None, "gave back nothing"),
    (2, as_it_is, "come first"), (2, by_the_alphabet, "come first"), (2, changed_first, "come first"),
    (2, unchanged_only, "belongs there once"), (2, the_old_ones, "belongs there once"), (2, changed_backwards, "keep their order"),
    (2, sorted_in_place, "Make a new one"), (2, lambda before, now: now.sort(), "gave back nothing"), (2, lambda before, now: 3, "list of texts"),
    (3, contents, "is no text"), (3, both_texts, "The second one"), (3, with_tags, "There is a thought"), (3, of_everybody, "role assistant only"),
    (3, with_empty_ones, "is empty"), (3, thoughts, "There is a thought"), (3, the_last, "The answers are"), (3, in_the_history, "changed the history"),
    (3, lambda messages: None, "gave back nothing"), (3, lambda messages: 3, "list of texts"),
]

# what the exercises' cells use of the lesson
PREPARE = """
from agent_steps.caching_and_thinking import split_thinking
"""

"""Right and wrong answers to the exercises of lesson 15: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json
from collections import Counter
from enum import Enum
from typing import Annotated, Literal

from pydantic import Field

from agent_steps.native_tools import openai_calls, openai_results, tool


@tool
def convert(degrees: float, to: Literal["celsius", "fahrenheit"] = "fahrenheit"):
    """Convert a temperature.

    degrees: a number
    to: the scale
    """
    return degrees * 9 / 5 + 32 if to == "fahrenheit" else (degrees - 32) / 1.8


def by_parts(degrees: float, to: Literal["fahrenheit", "celsius"] = "fahrenheit") -> str:
    """Turn degrees of one scale into degrees of the other.
    to: where to
    degrees: how many
    """
    if to == "celsius":
        return f"{(degrees - 32) * 5 / 9:.2f}"
    return f"{degrees * 1.8 + 32:.2f}"


class Scale(str, Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


def with_enum(degrees: int | float, to: Scale = Scale.FAHRENHEIT) -> float:
    """Convert a temperature.

    Args:
        degrees: a number
        to: the scale
    """
    return degrees * 9 / 5 + 32 if to is Scale.FAHRENHEIT else (degrees - 32) / 1.8


def annotated(degrees: Annotated[float, Field(description="a number")],
              to: Annotated[Literal["celsius", "fahrenheit"], Field(description="the scale")] = "fahrenheit"):
    """Convert a temperature."""
    return degrees * 9 / 5 + 32 if to == "fahrenheit" else (degrees - 32) / 1.8


def as_text(degrees: str, to: Literal["fahrenheit", "celsius"] = "fahrenheit") -> str:
    """Convert.

    degrees: a
    to: b
    """
    return degrees


def any_text(degrees: float, to: str = "fahrenheit"):
    """Convert.

    degrees: a
    to: b
    """
    return degrees * 9 / 5 + 32


def no_default(degrees: float, to: Literal["fahrenheit", "celsius"]):
    """Convert.

    degrees: a
    to: b
    """
    return degrees * 9 / 5 + 32


def not_described(degrees: float, to: Literal["fahrenheit", "celsius"] = "fahrenheit"):
    """Convert.

    degrees: a
    """
    return degrees * 9 / 5 + 32


def neither_described(degrees: float, to: Literal["fahrenheit", "celsius"] = "fahrenheit"):
    """Convert."""
    return degrees * 9 / 5 + 32


def whole_numbers(degrees: int, to: Literal["fahrenheit", "celsius"] = "fahrenheit"):
    """Convert.

    degrees: a
    to: b
    """
    return degrees * 9 / 5 + 32


def one_way(degrees: float, to: Literal["fahrenheit", "celsius"] = "fahrenheit"):
    """Convert.

    degrees: a
    to: b
    """
    return degrees * 9 / 5 + 32


def in_words(degrees: float, to: Literal["fahrenheit", "celsius"] = "fahrenheit"):
    """Convert.

    degrees: a
    to: b
    """
    return f"{degrees * 9 / 5 + 32} degrees"


def describe_nothing():
    """Convert."""


def named(function):
    return tool(function, name="convert")


def with_try(message, run):
    answers = []
    for call in message.get("tool_calls") or []:
        try:
            text = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
        except Exception as error:
            text = f"Error: {error}"
        answers.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return answers


def with_the_lesson(message, run):
    def answer(call):
        if call.problem:
            return f"Error: {call.problem}"
        try:
            return run(call.name, call.arguments)
        except OSError as error:
            return f"Error: it failed ({error})"
    return openai_results([(call, answer(call)) for call in openai_calls(message, set())])


def without_try(message, run):
    return [{"role": "tool", "tool_call_id": call["id"], "content": run(call["function"]["name"], json.loads(call["function"]["arguments"]))}
            for call in message.get("tool_calls") or []]


def guesses_none(message, run):
    """Broken arguments are taken for no arguments, and run."""
    def answer(call):
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = {}
        try:
            return run(call["function"]["name"], arguments)
        except Exception as error:
            return f"Error: {error}"
    return [{"role": "tool", "tool_call_id": call["id"], "content": answer(call)} for call in message.get("tool_calls") or []]


def runs_twice(message, run):
    with_try(message, run)
    return with_try(message, run)


def always_the_disk(message, run):
    return [answer | {"content": "Error: the disk is full"} if answer["content"].startswith("Error: ") else answer for answer in with_try(message, run)]


def stops_at_the_first(message, run):
    answers = []
    for call in message.get("tool_calls") or []:
        text = "Error: there is one call only"
        if not answers:
            [answer] = with_try({"tool_calls": [call]}, run)
            text = answer["content"]
        answers.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return answers


def only_the_good(message, run):
    return [answer for answer in with_try(message, run) if not answer["content"].startswith("Error: ")]


def backwards(message, run):
    return with_try(message, run)[::-1]


def first_id(message, run):
    return [answer | {"tool_call_id": message["tool_calls"][0]["id"]} for answer in with_try(message, run)]


def as_user(message, run):
    return [answer | {"role": "user"} for answer in with_try(message, run)]


def only_error(message, run):
    return [answer | {"content": "Error: "} if answer["content"].startswith("Error: ") else answer for answer in with_try(message, run)]


def needs_calls(message, run):
    return with_try({"tool_calls": message["tool_calls"]}, run)


def by_names(messages):
    names = []
    for message in messages:
        names += [call["function"]["name"] for call in message.get("tool_calls") or []]
        if isinstance(message["content"], list):
            names += [block["name"] for block in message["content"] if block["type"] == "tool_use"]
    return {name: names.count(name) for name in names}


def by_counter(messages):
    counts = Counter()
    for message in messages:
        for call in message.get("tool_calls") or ():
            counts[call["function"]["name"]] += 1
        for block in message["content"] or ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                counts[block["name"]] += 1
    return counts


def only_openai(messages):
    return by_names([message for message in messages if not isinstance(message["content"], list)])


def results_too(messages):
    counts = by_counter(messages)
    counts["read_file"] += sum(message["role"] == "tool" for message in messages)
    return counts


def one_number(messages):
    return sum(by_names(messages).values())


RIGHT = [
    (1, convert), (1, named(by_parts)), (1, named(with_enum)), (1, named(annotated)), (2, with_try), (2, with_the_lesson), (3, by_names), (3, by_counter),
]
WRONG = [
    (1, one_way, "no Tool"), (1, tool(one_way), "is called 'one_way'"), (1, named(as_text), "no number in the schema"), (1, named(any_text), "not in the schema"),
    (1, named(no_default), "Give to a default"), (1, named(not_described), "to is not described"),
    (1, named(neither_described), "degrees and to are not described"), (1, named(whole_numbers), "no number in the schema"), (1, named(one_way), "not 20"),
    (1, named(in_words), "no number"), (1, named(describe_nothing), "should be degrees and to"),
    (2, without_try, "raised OSError"), (2, guesses_none, "and never for others"), (2, runs_twice, "once for each call"), (2, always_the_disk, "says only"),
    (2, stops_at_the_first, "once for each call"), (2, only_the_good, "also one that failed"), (2, backwards, "the answers name"), (2, first_id, "the answers name"),
    (2, as_user, "is tool"), (2, only_error, "says only"), (2, needs_calls, "KeyError"), (2, lambda message, run: None, "gave back nothing"),
    (3, only_openai, "both formats"), (3, results_too, "calls only"), (3, one_number, "Return a dict"), (3, lambda messages: None, "nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import json
from typing import Literal
from agent_steps.native_tools import tool
"""

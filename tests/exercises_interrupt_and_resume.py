"""Right and wrong answers to the exercises of lesson 20: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json
import os

from agent_steps.interrupt_and_resume import history_tool_calls
from agent_steps.providers.formats import results_in


def by_records(history):
    return [call["name"] for call in history_tool_calls(history) if not call["completed"] or call["result"].startswith("Error: interrupted")]


def step_by_step(history):
    names = []
    for call in history_tool_calls(history):
        text = call["result"]
        if text is None or text[:18] == "Error: interrupted":
            names.append(call["name"])
    return names


def unfinished_only(history):
    return [call["name"] for call in history_tool_calls(history) if not call["completed"]]


def all_errors(history):
    return [call["name"] for call in history_tool_calls(history) if (call["result"] or "Error").startswith("Error")]


def whole_records(history):
    return [call for call in history_tool_calls(history) if call["name"] in by_records(history)]


def with_replace(path, value):
    beside = f"{path}.new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(beside, path)


def text_first(path, value):
    text = json.dumps(value)
    with open(path + ".new", "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def written_over(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def text_first_and_written_over(path, value):
    text = json.dumps(value)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def silent(path, value):
    try:
        with_replace(path, value)
    except TypeError:
        pass


def too_early(path, value):
    file = open(path + ".new", "w", encoding="utf-8")
    file.write(json.dumps(value))
    os.replace(path + ".new", path)
    file.close()


def under_a_fixed_name(path, value):
    with_replace("path", value)
    os.replace("path", path)


def text_instead(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, default=str)
    os.replace(path + ".new", path)


def not_replaced(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)


def by_results(messages):
    return [place for place in range(1, len(messages)) if not results_in(messages[place])]


def by_roles(messages):
    places = []
    for place, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        if place and message["role"] != "tool" and not any(block["type"] == "tool_result" for block in blocks):
            places.append(place)
    return places


def openai_only(messages):
    return [place for place in range(1, len(messages)) if messages[place]["role"] != "tool"]


def at_users(messages):
    return [place for place in by_results(messages) if messages[place]["role"] == "user"]


def from_zero(messages):
    return [0, *by_results(messages)]


RIGHT = [(1, by_records), (1, step_by_step), (2, with_replace), (2, text_first), (3, by_results), (3, by_roles)]
WRONG = [
    (1, unfinished_only, "begins with 'Error: interrupted'"), (1, all_errors, "say what happened"), (1, whole_records, "not ['write_file']"),
    (1, lambda history: None, "gave back nothing"), (1, lambda history: "write_file", "Return a list"),
    (1, lambda history: [call["name"] for call in history_tool_calls(history) if call["result"].startswith("Error: interrupted")], "that has none is None"),
    (2, under_a_fixed_name, "not path"), (2, text_instead, "something else was saved"), (2, not_replaced, "There is no file"),
    (2, written_over, "the old file is lost"), (2, text_first_and_written_over, "os.replace was not used"), (2, silent, "nobody was told"),
    (2, too_early, "not complete"), (2, lambda path, value: None, "There is no file"),
    (3, openai_only, "In Anthropic's format, a cut at 2 parts"), (3, at_users, "is possible too"), (3, from_zero, "0 is none"),
    (3, lambda messages: [messages[place:] for place in range(1, len(messages))], "... Return a list of whole numbers"),
    (3, lambda messages: list(range(1, len(messages))), "parts a result"), (3, lambda messages: None, "gave back nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import json
import os
from agent_steps.interrupt_and_resume import history_tool_calls
from agent_steps.providers.formats import results_in
"""

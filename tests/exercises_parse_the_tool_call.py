"""Right and wrong answers to the exercises of lesson 4: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json
import re

from agent_steps.parse_the_tool_call import ToolCall, ToolCallError, parse_tool_call

CALL = '<tool_call>{"name": "list_files", "arguments": {"path": "."}}</tool_call>'


def parse_lazy(reply):
    found = re.search(r"<tool_call>(.*?)</tool_call>", reply, re.DOTALL)
    if found:
        value = json.loads(found[1])
        return ToolCall(value["name"], value["arguments"])


PARSERS = (parse_lazy, parse_tool_call)


def sort_by_steps(reply):
    try:
        call = parse_tool_call(reply)
    except ToolCallError as error:
        return ("error", str(error))
    if call is None:
        return ("answer", reply)
    return ("call", call)


def sort_with_else(reply):
    try:
        call = parse_tool_call(reply)
    except ValueError as error:
        pair = "error", error.args[0]
    else:
        pair = ("answer", reply) if call is None else ("call", call)
    return pair


def sort_that_raises(reply):
    call = parse_tool_call(reply)
    return ("call", call) if call else ("answer", reply)


def sort_with_the_error_itself(reply):
    try:
        return sort_that_raises(reply)
    except ToolCallError as error:
        return "error", error


def sort_with_own_words(reply):
    try:
        return sort_that_raises(reply)
    except ToolCallError:
        return "error", "Something was wrong."


def sort_that_forgets_the_answer(reply):
    try:
        return "call", parse_tool_call(reply)
    except ToolCallError as error:
        return "error", str(error)


def known_by_if(reply, names):
    call = parse_tool_call(reply)
    if call is not None and call.name not in names:
        raise ToolCallError(f"Unknown tool {call.name}. Choose one of {names}.")
    return call


def known_by_early_return(reply, names):
    call = parse_tool_call(reply)
    if not call or call.name in names:
        return call
    raise ToolCallError("There is no such tool. There are: " + " and ".join(names))


def known_without_names(reply, names):
    call = parse_tool_call(reply)
    if call and call.name not in names:
        raise ToolCallError(f"There is no tool {call.name}.")
    return call


def known_by_silence(reply, names):
    call = parse_tool_call(reply)
    return call if call and call.name in names else None


def known_by_another_error(reply, names):
    call = parse_tool_call(reply)
    if call and call.name not in names:
        raise KeyError(f"{call.name} is not in {names}")
    return call


def known_that_trips_over_an_answer(reply, names):
    call = parse_tool_call(reply)
    if call.name not in names:
        raise ToolCallError(f"There are {names}.")
    return call


RIGHT = [
    (1, f"<think>{CALL}{CALL}</think>" + CALL.replace(".", "harbour"), *PARSERS),
    (1, CALL.replace('"."', '"</tool_call>"'), *PARSERS), (1, f"I write a <tool_call> block.\n{CALL}", *PARSERS),
    (2, sort_by_steps), (2, sort_with_else),
    (3, known_by_if), (3, known_by_early_return),
]
WRONG = [
    (1, CALL, *PARSERS, "reads the same call"), (1, f"Well.\n{CALL}", *PARSERS, "reads the same call"),
    (1, f"{CALL}\n{CALL}", *PARSERS, "several"), (1, "list_files", *PARSERS, "both tags"),
    (1, CALL.removesuffix("</tool_call>"), *PARSERS, "both tags"), (1, "<tool_call> and </tool_call> are tags", *PARSERS, "plain answer"),
    (1, "A <tool_call>: " + CALL.replace("list_files", "read_file"), *PARSERS, "read_file"), (1, " ", *PARSERS, "empty"),
    (2, sort_that_raises, "raised"), (2, sort_with_the_error_itself, "as text"), (2, sort_with_own_words, "the model is to read"),
    (2, sort_that_forgets_the_answer, "plain answer"), (2, parse_tool_call, "pair"),
    (3, known_without_names, "How should the model know"), (3, known_by_silence, "not refused"), (3, known_by_another_error, "KeyError"),
    (3, known_that_trips_over_an_answer, "plain answer"), (3, lambda reply, names: parse_tool_call(reply), "not refused"),
]

# what the exercises' cells use of the lesson
PREPARE = "tagged = CALL"

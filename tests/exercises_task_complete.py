"""Right and wrong answers to the exercises of lesson 6: (exercise, arguments of the check) and, if wrong, words of the reason."""
import re

from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.task_complete import task_complete
from agent_steps.write_the_tool import list_files


def summary_by_list(messages):
    calls = [parse_tool_call(message["content"]) for message in messages if message["role"] == "assistant"]
    found = [call.arguments["summary"] for call in calls if call and call.name == "task_complete"]
    return found[-1] if found else None


def summary_from_the_end(messages):
    for message in reversed(messages):
        if message["role"] != "assistant":
            continue
        call = parse_tool_call(message["content"])
        if call and call.name == "task_complete":
            return call.arguments.get("summary")
    return None


def summary_of_anybody(messages):
    for message in messages:
        call = parse_tool_call(message["content"])
        if call and call.name == "task_complete":
            return call.arguments["summary"]


def summary_of_the_last(messages):
    call = parse_tool_call(messages[-1]["content"]) if messages else None
    return call.arguments["summary"] if call and call.name == "task_complete" else None


def summary_of_any_call(messages):
    for message in messages:
        call = parse_tool_call(message["content"]) if message["role"] == "assistant" else None
        if call and "summary" in call.arguments:
            return call.arguments["summary"]


def summary_by_split(messages):
    for message in messages:
        if message["role"] == "assistant" and "task_complete" in message["content"]:
            return message["content"].split('"summary": "')[1].split('"')[0]


def summary_by_pattern(messages):
    for message in messages:
        found = re.search(r'<tool_call>.*"task_complete".*"summary": "(.*?)"', message["content"])
        if message["role"] == "assistant" and found:
            return found[1]


def act_by_table(call):
    tools = {"list_files": list_files, "task_complete": task_complete}
    if call.name not in tools:
        return f"Error: there is no {call.name}.", False
    result = tools[call.name](**call.arguments)
    return result, call.name == "task_complete" and not result.startswith("Error: ")


def act_by_match(call):
    match call.name:
        case "list_files":
            return list_files(call.arguments["path"]), False
        case "task_complete":
            summary = call.arguments["summary"]
            return task_complete(summary), bool(summary.strip())
        case other:
            return f"Error: nobody has written {other}.", False


def act_with_a_list(call):
    result, over = f"Error: unknown tool {call.name}.", False
    if call.name == "list_files":
        result = list_files(call.arguments["path"])
    if call.name == "task_complete":
        result = task_complete(call.arguments["summary"])
        over = not result.startswith("Error: ")
    return [result, over]


def act_that_believes(call):
    if call.name == "task_complete":
        return task_complete(call.arguments["summary"]), True
    return (list_files(call.arguments["path"]) if call.name == "list_files" else f"Error: unknown tool {call.name}."), False


def act_without_else(call):
    if call.name == "list_files":
        return list_files(call.arguments["path"]), False
    if call.name == "task_complete":
        result = task_complete(call.arguments["summary"])
        return result, not result.startswith("Error: ")


def act_that_looks_always(call):
    if call.name == "task_complete":
        result = task_complete(call.arguments["summary"])
        return result, not result.startswith("Error: ")
    return list_files(call.arguments["path"]), False


def talks_by_loop(replies):
    if len(replies) < 3:
        return False
    for reply in replies[-3:]:
        if parse_tool_call(reply):
            return False
    return True


def talks_by_count(replies):
    quiet = 0
    for reply in replies:
        quiet = 0 if parse_tool_call(reply) else quiet + 1
    return quiet >= 3


def talks_by_word(replies):
    return len(replies) >= 3 and not any("<tool_call>" in reply for reply in replies[-3:])


RIGHT = [
    (1, summary_by_list), (1, summary_from_the_end),
    (2, act_by_table), (2, act_by_match), (2, act_with_a_list),
    (3, talks_by_loop), (3, talks_by_count),
]
WRONG = [
    (1, summary_of_anybody, "message of the user"), (1, summary_of_the_last, "may not be the last"),
    (1, lambda messages: parse_tool_call(messages[-1]["content"]), "not ToolCall"),
    (1, summary_of_any_call, "Look at the name"), (1, summary_by_split, "only mentions task_complete"),
    (1, summary_by_pattern, "quotes inside the summary"),
    (2, act_that_believes, "ended all the same"), (2, act_without_else, "gave back nothing"), (2, act_that_looks_always, "Nobody has written"),
    (3, talks_by_word, "let the parser decide"), (3, lambda replies: all(parse_tool_call(reply) is None for reply in replies), "before the last three"),
    (3, lambda replies: all(parse_tool_call(reply) is None for reply in replies[-3:]), "Two replies"),
]

# what the exercises' cells use of the lesson: parse_tool_call, list_files and task_complete, imported above
PREPARE = ""

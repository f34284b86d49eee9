"""Right and wrong answers to the exercises of lesson 5: (exercise, arguments of the check) and, if wrong, words of the reason."""
from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.write_the_tool import list_files


def yes_by_set(answer):
    return answer.strip().casefold() in {"y", "yes"}


def yes_by_pattern(answer):
    import re

    return bool(re.fullmatch(r"\s*y(es)?\s*", answer, re.I))


def yes_by_beginning(answer):
    return answer.strip().lower().startswith("y")


def yes_by_substring(answer):
    answer = answer.strip().lower()
    return answer != "" and answer in "yes"


def yes_by_length(answer):
    answer = answer.strip().lower()
    return answer.startswith("y") and len(answer) in (1, 3)


def stuck_by_loop(messages):
    last = before = None
    for message in messages:
        if message["role"] == "assistant":
            last, before = message["content"], last
    return last is not None and last == before


def stuck_from_the_end(messages):
    replies = [message["content"] for message in messages[::-1] if message["role"] == "assistant"][:2]
    return len(replies) == 2 and len(set(replies)) == 1


def stuck_by_any_message(messages):
    return len(messages) > 3 and messages[-2]["content"] == messages[-4]["content"]


def stuck_by_seen_before(messages):
    replies = [message["content"] for message in messages if message["role"] == "assistant"]
    return replies[-1] in replies[:-1] if replies else False


def loop_by_while(chat, task, max_steps=5):
    steps = 1
    reply = chat.send(task)
    while steps < max_steps and (call := parse_tool_call(reply)):
        reply = chat.send(list_files(call.arguments["path"]))
        steps += 1
    return reply


def loop_by_recursion(chat, task, max_steps=5):
    reply = chat.send(task)
    call = parse_tool_call(reply)
    if call is None or max_steps == 1:
        return reply
    return loop_by_recursion(chat, list_files(call.arguments["path"]), max_steps - 1)


def loop_that_reads_the_list(chat, task, max_steps=5):
    message = task
    for _ in range(max_steps):
        call = parse_tool_call(chat.send(message))
        if call is None:
            break
        message = list_files(call.arguments["path"])
    return chat.messages[-1]["content"]


def loop_without_limit(chat, task, max_steps=5):
    reply = chat.send(task)
    while call := parse_tool_call(reply):
        reply = chat.send(list_files(call.arguments["path"]))
    return reply


def loop_that_repeats_the_task(chat, task, max_steps=5):
    for _ in range(max_steps):
        reply = chat.send(task)
        if parse_tool_call(reply) is None:
            break
    return reply


RIGHT = [
    (1, yes_by_set), (1, yes_by_pattern),
    (2, stuck_by_loop), (2, stuck_from_the_end),
    (3, loop_by_while), (3, loop_by_recursion), (3, loop_that_reads_the_list),
]
WRONG = [
    (1, yes_by_beginning, "'yesterday' was taken for a yes"), (1, lambda answer: answer == "y", "'yes' is a yes"),
    (1, lambda answer: "y" in answer.lower(), "taken for a yes"),
    (1, yes_by_substring, "'e' was taken for a yes"), (1, yes_by_length, "'yep' was taken for a yes"),
    (1, lambda answer: answer.strip().lower() in ("y", "ye", "yes"), "'ye' was taken for a yes"),
    (2, stuck_by_any_message, "end with a reply"), (2, stuck_by_seen_before, "not right before"),
    (2, lambda messages: messages[-1] == messages[-3], "did not notice"),
    (3, loop_without_limit, "Nothing ends your loop"), (3, loop_that_repeats_the_task, "It was sent 'my task'"),
    (3, lambda chat, task, max_steps=5: chat.send(task), "never got the result"),
]

# what the exercises' cells use of the lesson: parse_tool_call and list_files, imported above
PREPARE = ""

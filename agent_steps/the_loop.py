"""Lesson 5: THINK, APPROVE, ACT, OBSERVE, and a limit on the number of steps."""
from agent_steps.classroom.asking import ask
from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.write_the_tool import list_files


def run_loop(chat, task, max_steps=5):
    """Work on a task until the model calls no more tool, the person says no, or the steps are used up.

    Returns (steps, tool_calls), two numbers.
    """
    message = task
    steps = 0
    tool_calls = 0
    while steps < max_steps:
        steps = steps + 1
        print(f"===== Step {steps} | tool calls so far: {tool_calls} =====")

        # THINK
        reply = chat.send(message)
        print(reply)
        call = parse_tool_call(reply)
        if call is None:
            break

        # APPROVE
        if ask("Run this tool? [y/n]: ") != "y":
            break

        # ACT
        tool_calls = tool_calls + 1
        result = list_files(call.arguments["path"])
        print("Result:", result, sep="\n")

        # OBSERVE
        message = result
    return steps, tool_calls

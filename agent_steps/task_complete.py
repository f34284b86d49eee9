"""Lesson 6: a deliberate way out, and a nudge for a reply without a call."""
from agent_steps.classroom.asking import ask
from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.write_the_tool import list_files

# what a reply without a call is answered with
NUDGE = "Please call a tool. Use task_complete when you are done."

# the system prompt of lesson 2 with a second tool
TWO_TOOLS_PROMPT = """\
You are an agent that works in a folder of files.
You can use these tools:

{"name": "list_files",
 "description": "List all files in a folder and in its sub-folders.",
 "inputSchema": {
   "type": "object",
   "properties": {"path": {"type": "string", "description": "the folder to list, relative to the working folder, written with /"}},
   "required": ["path"]}}

{"name": "task_complete",
 "description": "Call this when the task is finished.",
 "inputSchema": {
   "type": "object",
   "properties": {"summary": {"type": "string", "description": "what was done, in a sentence or two for the person"}},
   "required": ["summary"]}}

In each reply, first explain your reasoning in plain text.
Then call ONE tool, as JSON inside <tool_call> tags, like this:
<tool_call>{"name": "list_files", "arguments": {"path": "some/folder"}}</tool_call>
Then stop. The result comes in the next message.
When the task is done, call task_complete.
"""


def task_complete(summary: str) -> str:
    """Call this when the task is finished.

    summary: what was done, in a sentence or two for the person
    """
    text = summary.strip().removeprefix("Error:").strip()   # a summary may tell of an error, but it is none
    return text or "Error: the summary is empty. Say in a sentence what was done."


def run_until_complete(chat, task, max_steps=5):
    """Work on a task until the model calls task_complete, the person says no, or the steps are used up.

    Returns (steps, tool_calls, completed): two numbers and True or False.
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
            message = NUDGE
            continue

        # APPROVE
        if ask("Run this tool? [y/n]: ") != "y":
            break

        # ACT
        tool_calls = tool_calls + 1
        if call.name == "task_complete":
            print("Task complete:", task_complete(call.arguments["summary"]))
            return steps, tool_calls, True
        if call.name == "list_files":
            result = list_files(call.arguments["path"])
        else:
            result = f"Error: unknown tool {call.name!r}. The tools are: list_files, task_complete."
        print("Result:", result, sep="\n")

        # OBSERVE
        message = result
    return steps, tool_calls, False

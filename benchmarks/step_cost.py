"""What a step of run_agent costs beyond the client's own call, and whether that grows with the history."""
import itertools
import time

from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.run_agent import run_agent

REPLY = '<tool_call>{"name": "list_files", "arguments": {"path": "."}}</tool_call>'
RESULT = '<tool_response tool="list_files">\nresult 100\n</tool_response>'


def agent(steps: int) -> float:
    """Seconds for a run of so many steps."""
    count = itertools.count(100)
    chat = Chat(connect("practice", script=[REPLY]))
    start = time.perf_counter()
    run_agent(chat, "count", steps, approve=lambda call: "y", call_tool=lambda name, arguments: f"result {next(count)}", quiet=True)
    return time.perf_counter() - start


def bare(steps: int) -> float:
    """Seconds for the same requests without the agent."""
    model, messages = connect("practice", script=[REPLY]), []
    start = time.perf_counter()
    for _ in range(steps):
        messages.append({"role": "user", "content": RESULT})
        messages.append({"role": "assistant", "content": model.reply("", messages)})
    return time.perf_counter() - start


if __name__ == "__main__":
    agent(3), bare(3)
    print("steps   agent ms/step   bare ms/step   difference ms/step   ratio")
    for steps in (10, 50, 200, 400):
        pairs = [(agent(steps), bare(steps)) for _ in range(5)]
        ours, theirs = min(a for a, _ in pairs) / steps * 1000, min(b for _, b in pairs) / steps * 1000
        print(f"{steps:5}   {ours:13.3f}   {theirs:12.3f}   {ours - theirs:18.3f}   {ours / theirs:5.2f}")

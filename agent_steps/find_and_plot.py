"""Lesson 11: the real task, with all tools: find a CSV file, plot it, save a PNG, and check that it is there."""
from pathlib import Path

from agent_steps.classroom.asking import ask_approval
from agent_steps.full_tools import TOOL_DEFINITIONS, call_tool
from agent_steps.plain_chat import Chat
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt

# the task of this lesson
TASK = "Find the CSV file in this folder, make a plot from it and save the plot as a PNG file."


def find_and_plot(model, task=TASK, rules="", max_steps=15, *, approve=ask_approval, call_tool=call_tool, quiet=False):
    """Let a fresh agent with all seven tools work on the task in the current folder.

    rules: more instructions for the system prompt.
    Returns the AgentRun and the list of PNG files that are new or changed since the start: the model's claim, and the fact.
    """
    before = pictures()
    chat = Chat(model, build_system_prompt(TOOL_DEFINITIONS, rules))
    run = run_agent(chat, task, max_steps, approve=approve, call_tool=call_tool, quiet=quiet)
    after = pictures()
    return run, [path for path in after if after[path] != before.get(path)]


def pictures(folder="."):
    """Return the PNG files in a folder and below: path to the time of the last change."""
    paths = sorted(Path(folder).rglob("*.[pP][nN][gG]"))
    return {path.as_posix(): path.stat().st_mtime_ns for path in paths if is_picture(path)}


def is_picture(path):
    """Return whether a file can be read and begins with the eight bytes that every PNG file begins with."""
    try:
        if not path.is_file():   # a folder, or a pipe that would never end
            return False
        with open(path, "rb") as file:
            return file.read(8) == b"\x89PNG\r\n\x1a\n"
    except OSError:
        return False

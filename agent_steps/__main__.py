"""The finished agent in a terminal: ``python -m agent_steps "task"``, in the folder that it is to work in."""
import os
import sys

# `python -m` puts the current folder first on the path. A file of the person's (or the model's) that is called random.py
# or json.py would be imported here in place of the real one, before any question is asked.
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

import argparse

from agent_steps import CourseError
from agent_steps.behind_a_wall import DATA_RULE, Protection, policy_behind
from agent_steps.classroom.pages.library import Library
from agent_steps.classroom.pages.web import Web
from agent_steps.classroom.question_console import HumanInputUnavailable
from agent_steps.find_and_plot import TASK, find_and_plot
from agent_steps.gather_sources import Outcome
from agent_steps.make_it_safer import Policy, Workspace
from agent_steps.providers import connect
from agent_steps.research_state import StateError
from agent_steps.wall.confined import strongest_wall
from agent_steps.wall.place import is_inside
from agent_steps.write_the_report import ResearchAgent

DESCRIPTION = """\
Work on a task in the current folder with seven tools (read, write and edit files, run Python). No path leads out of the
folder, and code runs behind the strongest wall of this machine; the first lines say which. Every call is shown first:
y runs it, n refuses it, "n: a reason" tells the model why, q ends the run. With --relaxed, reading is not asked about, nor
running code where there is a wall.
Without --provider the practice model answers: no key, no network, no cost.
A model with a name of its own (--provider) is sent the content of the files that it reads.
With --research it is the research agent: it plans, searches, reads, and writes report.md and report.html into the current
folder, with you deciding at each step. Stopped, it goes on where it was when it is started again.
Exit status: 0 if the model called task_complete, or the report is written, 1 if not, 2 if the model could not be reached, 130 after Ctrl-C.
"""


def main(arguments=None) -> int:
    """Run the agent once and return the exit status."""
    options = read_options(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):   # a pipe on Windows would speak another encoding
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        model = connect(options.provider, options.model)
        print(f"Model: {model}")
        if options.research:
            return research(model, options)
        protection, workspace = Protection(strongest_wall()), Workspace()
        print(protection.headline())
        if is_broad(workspace.folder):
            print("THIS FOLDER HOLDS ALL YOUR FILES, and the tools may change what is in it. Better stop, and begin in a folder of its own.")
        policy = policy_behind(protection, workspace) if options.relaxed else Policy(workspace)
        run, pictures = find_and_plot(model, options.task, DATA_RULE, options.max_steps, approve=policy, call_tool=workspace.call_tool)
    except KeyboardInterrupt:
        print("\nInterrupted. " + ("All is saved: start it again to go on." if options.research else "If a tool was running, it may have run in part."))
        return 130
    except CourseError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(f"\n{run}")
    print(f"On disk: {', '.join(pictures) or 'no new PNG file in this folder'}")
    return 2 if run.stop_reason == "error" else 0 if run.completed else 1


def research(model, options) -> int:
    """Run the research agent, or go on with it, and return the exit status."""
    sources = Library(options.pages) if options.pages else Web()
    try:
        outcome = ResearchAgent(model, sources).run(options.task, options.requirements)
    except (StateError, HumanInputUnavailable) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2 if isinstance(error, StateError) else 1
    return 0 if outcome is Outcome.OK else 1


def is_broad(folder) -> bool:
    """Return whether a folder is the person's home folder, or holds it."""
    return is_inside(os.path.expanduser("~"), folder)


def read_options(arguments):
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m agent_steps", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default=TASK, help=f"what to do (default: {TASK!r})")
    parser.add_argument("--provider", help="practice (the default), openai, anthropic, ollama, auto, ...")
    parser.add_argument("--model", help="the model's name (default: the provider's)")
    parser.add_argument("--relaxed", action="store_true", help="ask only about what changes files, and about code if there is no wall")
    parser.add_argument("--research", action="store_true", help="write a report on the task, which is a topic then")
    parser.add_argument("--requirements", default="", help="what else the report is to be: for whom, how long")
    parser.add_argument("--pages", metavar="FOLDER", help="research in the HTML pages of a folder (default: on the web)")
    parser.add_argument("--max-steps", type=int, default=15, help="replies at most (default: 15)")
    options = parser.parse_args(arguments)
    options.task = options.task.encode("utf-8", "replace").decode()   # bytes of another encoding on the command line
    if not options.task.strip():
        parser.error("the task is empty: say what to do")
    if options.research and options.task == TASK:
        parser.error("--research needs a topic: say what is to be found out")
    if options.pages and not os.path.isdir(options.pages):
        parser.error(f"--pages: there is no folder {options.pages}")
    if options.max_steps < 1:
        parser.error("--max-steps must be at least 1")
    return options


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:   # whoever read the output (head, less) is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)

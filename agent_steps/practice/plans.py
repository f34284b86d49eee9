"""What the practice model does about a task. A plan looks at what has been done and returns the next reply.

Every plan is a function from a Situation to a Reply, or to None where the task turns out to be one for another plan. It
keeps no memory: what it knows, it reads from the history.
"""
import re

from agent_steps.practice.ask_plan import ask
from agent_steps.practice.delete_plan import delete
from agent_steps.practice.index_plan import index
from agent_steps.practice.names import files_in, folder_in, in_words
from agent_steps.practice.orders import is_ordered, obey, remark
from agent_steps.practice.plot_plan import plot
from agent_steps.practice.replies import call, finish, line, reason_in, say, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import Situation, Step, lines, mentions


def recall(situation: Situation) -> Reply:
    """Answer from the history that was sent, and from nothing else."""
    if "name" in situation.task.lower():
        found = re.findall(r"[Mm]y name is (\w+)", "\n".join(situation.earlier))
        return say("your_name", name=found[-1]) if found else say("no_name")
    if not situation.earlier:
        return say("first_message")
    first = "first" in situation.task.lower()
    return say("you_asked", question=situation.earlier[0 if first else -1])


def find_files(situation: Situation) -> Reply:
    """List a folder, then name or count what was asked for."""
    if "list_files" not in situation.tools:
        return say("cannot_look")
    if mentions(situation.task, lines()["understands"]["no_listing"]):
        return finish(situation, line("unknown"), done=False)
    if reply := _another_folder(situation) or stopped(situation):
        return reply
    folder = folder_in(situation.task)
    listing = situation.last("list_files")
    if listing is None or (listing.failed and not listing.call.arguments):
        return call(situation, line("look", folder=in_words(folder)), "list_files", path=folder)
    if listing.failed and folder != "." and len(situation.steps) == 1:
        return call(situation, line("look_here"), "list_files", path=".")
    if listing.failed:
        return finish(situation, line("failed", error=listing.result), done=False)
    return finish(situation, _report(situation, listing))


def _another_folder(situation: Situation) -> Reply | None:
    """After "no, look in that folder": the call for the folder that the person's reason names."""
    last = situation.steps[-1] if situation.steps else None
    if last is None or not last.refused or last.call.name != "list_files":
        return None
    folder = folder_in(reason_in(last.result) or last.result)
    if folder in (".", last.call.arguments.get("path")):
        return None
    return call(situation, line("look_elsewhere", folder=in_words(folder)), "list_files", path=folder)


def _report(situation: Situation, listing: Step) -> str:
    wanted = re.search(r"\b(csv|png|txt|md|py|json|text|python|pdf)\b", situation.task.lower())
    ending = {"text": "txt", "python": "py"}.get(wanted[1], wanted[1]) if wanted else ""
    paths = files_in(listing.result, f".{ending}" if ending else "")
    kind = f"{wanted[1].upper() if len(wanted[1]) < 4 else wanted[1]} " if wanted else ""
    folder = in_words(next(iter(listing.call.arguments.values()), "."))
    key = "found_none" if not paths else "found_one" if len(paths) == 1 else "found_many"
    return line(key, kind=kind, folder=folder, count=len(paths), names=", ".join(paths))


def read(situation: Situation) -> Reply:
    """Read one file that the task names, and say what is in it. What it does about an order in the file: see ``orders``."""
    named = re.search(r"[\w./-]+\.\w+", situation.task)
    if not named:
        return find_files(situation)
    if "read_file" not in situation.tools:
        return finish(situation, line("cannot_read"), done=False)
    path = named[0].rstrip(".")
    step = next((step for step in situation.steps if step.call.name == "read_file"), None)
    if not is_ordered(situation, step) and (reply := stopped(situation)):
        return reply
    if step is None:
        return call(situation, line("read", path=path), "read_file", path=path)
    if step.failed:
        return finish(situation, line("failed", error=step.result), done=False)
    if reply := obey(situation, step, path):
        return reply
    content = step.result.splitlines() or [""]
    contents = line("contents", path=path, count=len(content), first=content[0])
    return finish(situation, remark(situation, step, path) + contents)


def calculate(situation: Situation) -> Reply:
    """Let Python do a sum."""
    sum_found = _sum_in(situation.task)
    if not sum_found:
        return say("unknown")
    if "run_python_code" not in situation.tools:
        return say("no_calculator")
    if reply := stopped(situation):
        return reply
    step = situation.last("run_python_code")
    if step is None:
        return call(situation, line("calculate"), "run_python_code", code=f"print({sum_found})")
    if step.failed:
        return finish(situation, line("failed", error=step.result), done=False)
    return finish(situation, line("calculated", value=step.result))


def _sum_in(task: str) -> str:
    """The sum that a task asks for, for example "12 * (3 + 4)"; "" if there is none."""
    found = re.search(r"[(\d][\d\s.+*/()%-]*[\d)]", task)
    text = found[0] if found else ""
    return text if text.count("(") == text.count(")") else text.strip("()")


PLANS = {
    "recall": recall, "ask": ask, "delete": delete, "plot": plot, "calculate": calculate, "index": index, "read": read, "find_files": find_files,
}

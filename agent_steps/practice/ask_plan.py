"""The plan for a task that leaves a choice to the person: "Read one of the CSV files. Ask me which." """
import json
import re

from agent_steps.practice.names import files_in
from agent_steps.practice.replies import call, finish, first_listing, line, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import Situation

MOST_OPTIONS = 4


def ask(situation: Situation) -> Reply | None:
    """List the files, ask which one is meant, read it. Without the tool ask_user this is another plan's task."""
    if not {"ask_user", "read_file"} <= situation.tools.keys():
        return None
    if reply := stopped(situation):
        return reply
    listing = first_listing(situation)
    if isinstance(listing, Reply):
        return listing
    tables, asked = files_in(listing, ".csv"), situation.last("ask_user")
    if asked is None and len(tables) < 2:   # nothing to choose from
        return _read(situation, tables[0]) if tables else finish(situation, line("no_csv"), done=False)
    if asked is None:
        return call(situation, line("let_choose"), "ask_user", **_asking(situation, tables))
    if asked.failed:
        return finish(situation, line("failed", error=asked.result), done=False)
    answer = _answer_in(asked.result)
    path = _meant(answer, files_in(listing))
    if path is None:
        return finish(situation, line("no_such_choice", answer=answer) if answer else line("left_open"), done=False)
    return _read(situation, path)


def _asking(situation: Situation, paths: list[str]) -> dict:
    """The arguments of the question: a text alone, where the tool takes no more."""
    if "question" in situation.tools["ask_user"].get("properties", {}):
        return {"question": line("ask_which")}
    return {"questions": [_question(paths)]}


def _question(paths: list[str]) -> dict:
    options = [{"label": path, "description": line("a_file", folder=path.rpartition("/")[0] or "the current folder")} for path in paths]
    return {"question": line("ask_which"), "header": "File", "options": options[:MOST_OPTIONS], "multiSelect": False}


def _answer_in(result: str) -> str:
    """What the person chose or wrote: from the tool's result, or from the message that came later."""
    try:
        answers = json.loads(result)["answers"].values()
    except (ValueError, KeyError, TypeError, AttributeError):
        return result.strip()
    return next((answer["other_text"] or ", ".join(answer["selected"]) for answer in answers), "")


def _meant(answer: str, paths: list[str]) -> str | None:
    """The file that an answer names, whole or by words of its path: the one that fits best."""
    words = re.findall(r"[a-z]{4,}", answer.lower())
    fitting = {path: 100 * len(path) * (path in answer) + sum(word in path.lower() for word in words) for path in paths}
    best = max(fitting, key=fitting.get, default=None)
    return best if fitting.get(best) else None


def _read(situation: Situation, path: str) -> Reply:
    step = situation.last("read_file", path=path)
    if step is None:
        return call(situation, line("read", path=path), "read_file", path=path)
    if step.failed:
        return finish(situation, line("failed", error=step.result), done=False)
    content = step.result.splitlines() or [""]
    return finish(situation, line("contents", path=path, count=len(content), first=content[0]))

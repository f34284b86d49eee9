"""The plan for "delete old.txt": run a small program, try one other way if that is refused, and look whether the file is gone.

It says that a file is gone only if its program printed so. It gives up after the second way: a refusal is an answer.
"""
import re
from pathlib import PurePosixPath

from agent_steps.practice.names import files_in, files_to_delete, in_words, is_cut
from agent_steps.practice.repairs import last_words
from agent_steps.practice.replies import call, finish, line, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import Situation, Step, lines, mentions

WAYS = {   # what a naive model knows: the name of the way, its import, and the line that deletes one file
    "os.remove": ("import os", "os.remove({name!r})"),
    "pathlib": ("from pathlib import Path", "Path({name!r}).unlink()"),
}


def delete(situation: Situation) -> Reply | None:
    """Delete the files that the task names. None if it is not whole files that the task wants deleted."""
    names = files_to_delete(situation.task)
    if names is None:
        return None
    if "run_python_code" not in situation.tools:
        return finish(situation, line("cannot_delete"), done=False)
    if not names:
        return finish(situation, line("which_file"), done=False)
    looked = situation.last("list_files")
    if (looked is None or situation.steps[-1] is not looked) and (reply := stopped(situation)):
        return reply
    tries = [step for step in situation.steps if step.call.name == "run_python_code"]
    deleted = {name: way for way, step in zip(WAYS, tries) for name in names if f"deleted {name}" in step.result.splitlines()}
    left = [name for name in names if name not in deleted]
    return _look(situation, deleted, looked) if not left else _try(situation, tries, deleted, left)


def _try(situation: Situation, tries: list[Step], deleted: dict[str, str], left: list[str]) -> Reply:
    """The next program; or the end, where a file is not there or both ways were tried."""
    first, second = WAYS
    done = " " + line("deleted_before", names=", ".join(deleted)) if deleted else ""
    if not tries:
        return call(situation, line("delete", names=", ".join(left), way=first), "run_python_code", code=_program(first, left))
    if mentions(tries[-1].result, lines()["understands"]["missing"]) and left[0] in tries[-1].result:
        others = " " + line("not_tried", names=", ".join(left[1:])) if left[1:] else ""
        return finish(situation, line("nothing_to_delete", name=left[0]) + others + done, done=False)
    if len(tries) == 1:
        thought = line("delete_again", first=first, what=_what_happened(tries), second=second)
        return call(situation, thought, "run_python_code", code=_program(second, left))
    values = {"names": ", ".join(left), "first": first, "second": second, "what": _what_happened(tries), "last": _first_sentence(tries[-1].result)}
    return finish(situation, line("not_deleted", **values) + done, done=False)


def _program(way: str, names: list[str]) -> str:
    imported, deletes = WAYS[way]
    return "\n".join([imported, *(f"{deletes.format(name=name)}\nprint('deleted', {name!r})" for name in names)])


def _what_happened(tries: list[Step]) -> str:
    """Whether a guard refused, or the program ran and failed."""
    refused = all(step.result.startswith("Error:") or "PermissionError" in step.result for step in tries)
    return "refused" if refused else "unsuccessful"


def _first_sentence(result: str) -> str:
    """Of a refusal the beginning; of a traceback its last line, which says what is wrong."""
    told = result.removeprefix("Error: ") if result.startswith("Error:") else last_words(result)
    return re.split(r"(?<=[.!?])\s|\n", told)[0]


def _look(situation: Situation, deleted: dict[str, str], looked: Step | None) -> Reply:
    """The programs said that all is deleted. Look into the folder if that is possible, and finish."""
    if looked is None and "list_files" in situation.tools:
        folders = {PurePosixPath(name).parent.as_posix() for name in deleted}
        folder = folders.pop() if len(folders) == 1 else "."
        return call(situation, line("look_gone", folder=in_words(folder)), "list_files", path=folder)
    ways = " and ".join(dict.fromkeys(deleted.values()))
    values = {"names": ", ".join(deleted), "ways": ways, "it_is": "it is" if len(deleted) == 1 else "they are"}
    if looked is None or looked.failed or looked.refused or is_cut(looked.result):
        return finish(situation, line("deleted_unseen", **values))
    listed, folder = files_in(looked.result), next(iter(looked.call.arguments.values()), ".")
    if seen := [name for name in deleted if name in listed or (folder != "." and PurePosixPath(name).name in listed)]:
        return finish(situation, line("still_there", names=", ".join(seen)), done=False)
    return finish(situation, line("gone", **values))

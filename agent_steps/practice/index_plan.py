"""The plan for "write an index of the CSV files": list them, then read one after the other and note each at once.

A run that is stopped in the middle leaves the lines of the files that it had read: half an index.
"""
import re

from agent_steps.practice.names import QUESTION, folder_in, is_cut, tables_in
from agent_steps.practice.replies import call, finish, first_listing, line, say, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import NEGATION, Situation, Step, lines, mentions
from agent_steps.practice.tables import is_number, read_rows

INDEX_NAME = re.compile(r"[\w./-]*\w\.(?:md|txt)\b", re.I)
CUT = re.compile(r"\n+\[cut: ")   # how the notice of a tool begins that shows only a part of a file
MISSING = {"", "na", "nan"}


def index(situation: Situation) -> Reply | None:
    """The next reply on the way to an index. None if the task only asks, and wants nothing written."""
    if not _wants_writing(situation.task):
        return None
    if "list_files" not in situation.tools:
        return say("cannot_look")
    if reply := stopped(situation):
        return reply
    listing = first_listing(situation)
    if isinstance(listing, Reply):
        return listing
    paths = _wanted(situation.task, listing)
    if not paths:
        return finish(situation, line("cut_listing" if is_cut(listing) else "no_csv"), done=False)
    for tool, key in (("read_file", "no_reader"), ("write_file", "no_writer")):
        if tool not in situation.tools:
            return finish(situation, line(key, path=paths[0]), done=False)
    return _go_on(situation, paths, is_cut(listing))


def _wants_writing(task: str) -> bool:
    verb = re.compile(rf"\b(?:{'|'.join(lines()['understands']['writing'])})\b", re.I)
    sentences = [(sentence, verb.search(sentence)) for sentence in re.split(r"(?<=[.!?])\s+|\n", task)]
    asked = [(sentence[:found.start()].lower(), sentence) for sentence, found in sentences if found]
    return any(not NEGATION.search(before) and not QUESTION.match(sentence) for before, sentence in asked)


def _wanted(task: str, listing: str) -> list[str]:
    """The CSV files of the folder that the task names, or all of them."""
    tables, folder = tables_in(listing), folder_in(task)
    return [path for path in tables if f"/{folder}/" in f"/{path}"] or tables


def _go_on(situation: Situation, paths: list[str], cut: bool) -> Reply:
    """Read the next file, or note the one that was read, or finish. How far it is shows in the index itself."""
    named = INDEX_NAME.search(situation.task)
    name = named[0].removeprefix("./") if named else "INDEX.md"
    changes = [step for step in situation.steps if step.call.name in ("write_file", "edit_file") and step.call.arguments.get("path") == name]
    if changes and changes[-1].failed:   # not tried again: it would fail again
        return finish(situation, line("failed", error=changes[-1].result), done=False)
    noted = situation.written(name).splitlines()
    if len(noted) >= len(paths):
        return finish(situation, _report(name, paths, noted) + (line("index_cut") if cut else ""))
    path = paths[len(noted)]
    step = situation.last("read_file", path=path)
    if step is None:
        return call(situation, line("read", path=path), "read_file", path=path)
    return _note(situation, name, noted, path, _entry(path, step, situation.habit("gaps")))


def _note(situation: Situation, name: str, noted: list[str], path: str, entry: str) -> Reply:
    thought = line("index_add" if noted else "index_begin", name=name, path=path)
    if noted and "edit_file" in situation.tools:
        return call(situation, thought, "edit_file", path=name, old=noted[-1], new=f"{noted[-1]}\n{entry}")
    return call(situation, thought, "write_file", path=name, content="\n".join([*noted, entry]))


def _entry(path: str, step: Step, with_gaps: bool) -> str:
    """The line of one file: its path, its columns and, if that is asked for, how many values are missing."""
    if step.failed:
        return line("index_unread", path=path)
    text, *rest = CUT.split(step.result, maxsplit=1)
    if rest:
        text = text.rpartition("\n")[0] or text   # the last line was cut somewhere
    names = _columns(text)
    if not any(names):
        return line("index_headless", path=path)
    entry = line("index_columns", path=path, names=", ".join(filter(None, names)))
    return entry + _gaps(text, names, bool(rest)) if with_gaps else entry


def _columns(text: str) -> list[str]:
    """The names in the header, each in one line, "" where a column has none; an empty list where there is no header."""
    rows = read_rows(text, most=1)
    if not rows or ("\n" not in text.strip() and mentions(text, lines()["understands"]["empty"])):
        return []
    names = [" ".join(name.split()) for name in rows[0]]
    first = next(filter(None, names), "")
    return [] if is_number(first) else names   # a number names no column


def _gaps(text: str, names: list[str], cut: bool) -> str:
    """How many values are missing below the names. What a short row lacks is missing too."""
    count = 0
    for row in read_rows(text)[1:]:
        values = row + [""] * (len(names) - len(row))
        count += sum(value.strip().lower() in MISSING for name, value in zip(names, values) if name)
    return line("index_gaps_cut" if cut else "index_gap" if count == 1 else "index_gaps", count=count)


def _report(name: str, paths: list[str], noted: list[str]) -> str:
    told = line("indexed_one" if len(paths) == 1 else "indexed", name=name, count=len(paths))
    without = [path for path, entry in zip(paths, noted) if entry in (line("index_unread", path=path), line("index_headless", path=path))]
    return told + (line("index_incomplete", names=", ".join(without)) if without else "")

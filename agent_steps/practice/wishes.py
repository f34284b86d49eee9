"""What a task asks of a plot: which file, which columns on which axis, which name for the picture, and what is beyond reach."""
import re
from pathlib import PurePosixPath

from agent_steps.practice.situation import lines
from agent_steps.practice.tables import Table

FILE_NAME = re.compile(r"[\w./-]*\w\.(?:csv|tsv|txt|dat|xlsx?|json)\b", re.I)
PICTURE_NAME = re.compile(r"[\w./-]*\w\.(?:png|jpe?g|pdf|svg)\b", re.I)
ORDINARY = {   # words that tasks are made of
    "a", "an", "and", "as", "at", "chart", "column", "columns", "csv", "data", "draw", "figure", "file", "files", "find", "folder", "for", "from",
    "graph", "i", "image", "in", "it", "line", "make", "me", "name", "of", "on", "picture", "plot", "png", "points", "save", "scatter", "table",
    "the", "this", "to", "two", "use", "with",
}
NO_NAMES = {"of", "from", "in", "and", "with", "that", "for", "on", "as", "to", "it", "the", "a", "an", "which", "are", "is"}


def beyond(task: str) -> str:
    """A wish that the practice model cannot fulfil, as lines.toml writes it; an empty text if there is none."""
    return next((phrase for phrase in lines()["understands"]["beyond"] if re.search(rf"\b{re.escape(phrase)}", task.lower())), "")


def wanted_file(task: str) -> str:
    """The data file that the task names, or an empty text."""
    found = FILE_NAME.search(task)
    return found[0].removeprefix("./") if found else ""


def in_order(task: str, paths: list[str]) -> list[str]:
    """The CSV files, the one that the task speaks of first ("plot the tides"), then those nearest to the top."""
    words = set(re.findall(r"\w+", task.lower()))
    return sorted(paths, key=lambda path: (PurePosixPath(path).stem.lower() not in words, path.count("/")))


def is_named(name: str, task: str) -> bool:
    """Whether a task names a column. A column that is called like an ordinary word of a task (plot, file) must be called one."""
    word = rf"(?<![\w/.]){re.escape(name)}(?![\w/]|\.\w)"
    return bool(re.search(rf"\bcolumns? \W*{word}" if name.lower() in ORDINARY else word, task))


def missing_column(task: str, table: Table) -> str:
    """A column that the task names and the table lacks, or an empty text."""
    found = re.search(r"\bcolumns? (?:called |named )?[\"'`]?(\w+)", task)
    return found[1] if found and found[1] not in table.columns and found[1].lower() not in NO_NAMES else ""


def text_column(task: str, table: Table) -> str:
    """A column of text that the task wants on an axis, or an empty text."""
    return next((name for name in table.columns if name not in table.numbers and is_named(name, task)), "")


def axes(task: str, table: Table) -> tuple[str, str]:
    """The columns for x and y: those that the task names, in its order, then the first of the file.

    "a against b" puts b on the x axis; "a on the x axis" says it outright.
    """
    places = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", task).start() for name in table.numbers if is_named(name, task)}
    named = sorted(places, key=places.get)
    x, y = (named + [name for name in table.numeric if name not in named] + [table.numeric[0]])[:2]
    if len(named) >= 2 and re.search(r"\b(against|versus|vs|over|as a function of)\b", task[places[x]:places[y]]):
        x, y = y, x
    on_x = next((name for name in named if re.search(rf"{re.escape(name)}\W+(?:\w+ )?on the x", task)), x)
    return (y, x) if on_x == y and len(named) >= 2 else (x, y)


def picture_name(task: str, stem: str, taken: set[str]) -> str:
    """The name that the task gives the picture, or one after the data file that no file has yet."""
    found = PICTURE_NAME.search(task)
    if found:
        return found[0]
    kind = re.search(r"\b(jpe?g|pdf|svg)\b", task.lower())
    return free_name(stem, f".{kind[1] if kind else 'png'}", taken)


def free_name(stem: str, ending: str, taken: set[str]) -> str:
    """A file name that is not taken: with a number behind it if need be."""
    number = 1
    while (name := f"{stem}{'' if number == 1 else f'_{number}'}{ending}") in taken:
        number += 1
    return name

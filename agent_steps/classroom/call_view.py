"""A call as HTML, as a person should see it before saying yes: arguments by name, long ones folded, an edit or a write as a difference.

What is shown is the parsed call that will run. Nothing invisible hides in it, and where something is left out that is said.
"""
import difflib
from html import escape
from pathlib import Path

from agent_steps.wall.file_text import read_text
from agent_steps.wall.path_checks import Refused

from .lines_html import line_html
from .show_call import (
    BIGGEST_FILE, LINE_LENGTH, MOST_LINES, both_ends, count, cut_line, in_one_line, link_note, only_both_ends, plain_lines, size_of, visible,
    what_it_replaces, what_will_run, wrapped,
)

OPEN_LINES = 14        # so many lines of a long value are seen at once; the rest is folded
MOST_COMPARED = 1000   # lines; longer texts are not compared, since that takes long
CONTEXT = 3            # unchanged lines around a change
UNSEEN = "    (no line changes: at most line ends, the end of the last line, or the mark at the beginning)"
NAME = "text-align:left;vertical-align:top;padding:0.3em 1em 0.3em 0;white-space:nowrap"
VALUE = "text-align:left;vertical-align:top;padding:0.3em 0;width:100%;overflow-wrap:anywhere"
CODE = "margin:0.2em 0;padding:0;white-space:pre-wrap;overflow-wrap:anywhere;background:none;line-height:1.35"


def call_html(call, folder=".") -> str:
    """Show a call, one argument after the other, none left out. ``folder`` is where relative paths begin."""
    rows = [row_html(name, *shown) for name, *shown in shown_arguments(call, Path(folder))]
    table = f'<table style="border-collapse:collapse;width:100%">{"".join(rows)}</table>' if rows else "<div>(no arguments)</div>"
    return f'<div class="mathjax_ignore tex2jax_ignore"><strong><code>{escape(visible(call.name))}</code></strong>{table}</div>'


def row_html(name, text, lines=()) -> str:
    """Write one argument: its name, a short text, and the lines of a long value under it."""
    return (f'<tr><th scope="row" style="{NAME}">{escape(visible(name))}</th>'
            f'<td style="{VALUE}"><code style="white-space:pre-wrap">{escape(text)}</code>{folded_lines(list(lines))}</td></tr>')


def folded_lines(lines) -> str:
    """Show the first lines, and fold the rest under one line that says how many there are."""
    if not lines:
        return ""
    rest = lines[OPEN_LINES:] if len(lines) > OPEN_LINES + 6 else []   # a few lines are not worth a click
    shown = lines_block(lines[:len(lines) - len(rest)])
    return shown + (f"<details><summary>{len(rest)} more lines: open them before you approve</summary>{lines_block(rest)}</details>" if rest else "")


def lines_block(lines) -> str:
    """Write lines as a block."""
    return f'<pre style="{CODE}">{"".join(line_html(line.removeprefix("    ")) for line in lines)}</pre>'


def shown_arguments(call, folder):
    """Yield each argument as (name, short text, lines). Of an edit, old and new are shown as one difference."""
    arguments = dict(call.arguments)
    edit = None
    if call.name == "edit_file" and all(isinstance(arguments.get(name), str) for name in ("old", "new")):
        edit = arguments.pop("old"), arguments.pop("new")
    for name, value in arguments.items():
        yield name, *shown_value(call, name, value, folder)
    if edit:
        yield "old and new", *shown_edit(folder, call.arguments.get("path"), *edit)


def shown_value(call, name, value, folder):
    """Return a short text for one argument, and the lines of a long value."""
    if (call.name, name) == ("write_file", "content") and isinstance(value, str):
        return size_of(value) + what_it_replaces(call, value, folder), written(text_of(folder, call.arguments.get("path")), value)
    if (call.name, name) == ("run_python_script", "path"):
        return in_one_line(value) + link_note(folder, value), what_will_run(folder, value) if isinstance(value, str) else ()
    text = value if isinstance(value, str) else in_one_line(value)
    if "\n" not in text and len(text) <= LINE_LENGTH:
        return in_one_line(value) + (link_note(folder, value) if name == "path" else ""), ()
    return size_of(text), both_ends(text, "|")


def written(before, after) -> list:
    """Return the lines of a write: what changes in a file that is there, or else all of them."""
    if before is None or max(len(plain_lines(before)), len(plain_lines(after))) > MOST_COMPARED:
        return only_both_ends(marked(plain_lines(after), "+") if after else [])
    return only_both_ends(difference(before, after))


def shown_edit(folder, path, old, new):
    """Return a short text and the lines for an edit: the change in its place, or the two texts if there is no single place."""
    before, old, new = text_of(folder, path), plain(old), plain(new)
    place = before.find(old) if before and old else -1
    if place >= 0 and before.find(old, place + 1) < 0:   # one place, and none that overlaps it
        return f"{size_of(old)} become {size_of(new)}", change_in_place(before, old, new)
    found = before.count(old) if before and old else 0
    note = "the file cannot be looked at here" if before is None else f"the old text was found {count(found, 'time')} in the file"
    return note, both_ends(old, "-") + both_ends(new, "+")


def change_in_place(before, old, new) -> list:
    """Return the lines that an edit changes, with a few unchanged ones around them; of very long lines, the two texts only."""
    place = before.index(old)
    start = before.rfind("\n", 0, place) + 1
    for _ in range(CONTEXT):
        start = before.rfind("\n", 0, max(start - 1, 0)) + 1
    end = place + len(old)
    for _ in range(CONTEXT + 1):
        end = before.find("\n", end) + 1 or len(before)
    part = before[start:end]
    if max(old.count("\n"), new.count("\n")) > MOST_COMPARED:
        return both_ends(old, "-") + both_ends(new, "+")
    lines = difference(part, part.replace(old, new, 1), first=before.count("\n", 0, start) + 1)
    return lines if len(lines) <= MOST_LINES else both_ends(old, "-") + both_ends(new, "+")


def plain(text) -> str:
    """Return a text with plain line ends: the tools do not tell them apart."""
    return text.replace("\r\n", "\n")


def text_of(folder, path):
    """Return the text of a file, with plain line ends, or None if it cannot be read as text. Looking never fails."""
    try:
        place = Path(folder) / path
        if not place.is_file() or place.stat().st_size > BIGGEST_FILE:
            return None
        return plain(read_text(str(place)).text)
    except (OSError, ValueError, TypeError, Refused):
        return None


def difference(before, after, first=1) -> list:
    """Return the changed lines of two texts behind + and -, with a few unchanged ones around them. first: the number of the first line."""
    old, new = plain_lines(before), plain_lines(after)
    if old == new:
        return [UNSEEN]
    lines = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        lines.append(f"    (from line {first + group[0][1]})")
        for change, i, j, k, m in group:
            lines += marked(old[i:j], " " if change == "equal" else "-") + ([] if change == "equal" else marked(new[k:m], "+"))
    return lines


def marked(lines, mark) -> list:
    """Write each line behind a mark, with what cannot be seen made visible: blanks at its end, too, where it is changed."""
    if mark != " ":
        lines = [line.rstrip(" ") + "·" * (len(line) - len(line.rstrip(" "))) for line in lines]
    pieces = (part for line in lines for part in ([cut_line(visible(line))] if mark == " " else wrapped(visible(line))))
    return [f"    {mark} {part}" if part else f"    {mark}" for part in pieces]

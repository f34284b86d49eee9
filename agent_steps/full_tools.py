"""Lesson 10: five tools that read, write and run, and with them all seven.

Each tool answers in text. What can be expected to go wrong is an answer too: it begins with "Error: " and says what
the model can do next. The checks and the words are in `wall`; what is done to the files stands here.
"""
import os
import re
import secrets
import shutil
import sys
from pathlib import Path

from agent_steps import dispatch_table
from agent_steps.task_complete import task_complete
from agent_steps.tool_definitions import describe_function
from agent_steps.wall.child import ChildResult, run_child
from agent_steps.wall.child_text import plain_output
from agent_steps.wall.file_text import encoded, lines, lines_in, lines_in_file, read_text
from agent_steps.wall.path_checks import Refused, check_file, check_target, error_text, full_path, working_folder
from agent_steps.write_the_tool import list_files

MOST_SHOWN = 19_800   # characters of a file: with the notice, that is just under what call_tool lets through
TIME_LIMIT = 30       # seconds for one run

# what a program that waits for the keyboard is told
NO_INPUT = "Note: input() is not available to tool code: nobody can type. Put the values into the code."
# what a program that shows a plot is told
NO_WINDOW = "Note: plt.show() opens no window here. Keep the picture with plt.savefig('name.png')."


def read_file(path: str) -> str:
    """Read a text file and return its content.

    path: the file to read, relative to the working folder, written with /
    """
    try:
        check_file(path)
        file = read_text(path, limit=4 * MOST_SHOWN)   # a character has at most four bytes
    except (OSError, Refused) as error:
        return error_text(error, f"{path!r} could not be read")
    text = file.text.replace("\r\n", "\n")
    if not text:
        return f"The file {path!r} is empty."
    if file.whole and len(text) <= MOST_SHOWN:
        return text
    text = text[:MOST_SHOWN]
    return f"{text}\n[cut: these are the first {len(text):,} characters; the file has {file.size:,} bytes. " \
           f"Read other parts with run_python_code.]"


def write_file(path: str, content: str) -> str:
    """Write a text file. If there is a file of this name, its whole content is replaced.

    path: the file to write, relative to the working folder, written with /
    content: the whole content of the file
    """
    try:
        check_target(path)
        data = encoded(content)   # first of all, so that text which cannot be written costs nothing
        before = lines_in_file(path)
        made = make_folder(os.path.dirname(path))
        replace_file(path, data)
    except (OSError, Refused) as error:
        return error_text(error, f"{path!r} could not be written")
    if before is not None:
        return f"Wrote {path!r}: replaced {lines(before)} with {lines_in(content):,}."
    return f"Wrote {lines(lines_in(content))} to {path!r}{made}."


def edit_file(path: str, old: str, new: str) -> str:
    """Replace one piece of text in a file. It must stand there exactly once.

    path: the file to edit, relative to the working folder, written with /
    old: the text to replace, exactly as it stands in the file, with enough lines around it to be unique
    new: the text to put in its place
    """
    try:
        check_file(path)
        check_target(path)
        file = read_text(path)
        old, new = with_line_ends_of(file.text, old), with_line_ends_of(file.text, new)
        check_edit(path, file.text, old, new)
        replace_file(path, file.encoded(file.text.replace(old, new)))
    except (OSError, Refused) as error:
        return error_text(error, f"{path!r} could not be edited")
    return f"Edited {path!r}: replaced {lines(lines_in(old))} with {lines_in(new):,}."


def check_edit(path: str, text: str, old: str, new: str):
    """Refuse an edit unless it says exactly what to change."""
    if not old:
        raise Refused("old is empty. Give the text to replace, or use write_file to write the whole file.")
    matches = count_matches(text, old)
    if matches == 0 and old.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        raise Refused(f"{path!r} mixes two kinds of line ends, so old was not found across lines. Nothing was changed. Edit one line at a time.")
    if matches == 0:
        raise Refused(f"old was not found in {path!r}. Nothing was changed. Copy it exactly as read_file shows it, spaces too.")
    if matches > 1:
        raise Refused(f"old stands {matches:,} times in {path!r}. Nothing was changed. Add lines around it until it is unique.")
    if old == new:
        raise Refused(f"old was found in {path!r}, but new is the same text. Nothing was changed.")


def count_matches(text: str, old: str) -> int:
    """Return at how many places `old` stands in the text. Unlike with str.count, places that overlap count too."""
    matches = 0
    start = text.find(old)
    while start != -1:
        matches = matches + 1
        start = text.find(old, start + 1)
    return matches


def with_line_ends_of(text: str, piece: str) -> str:
    """Return the piece with the line ends that most lines of the text have: CRLF, as on Windows, or LF."""
    piece = piece.replace("\r\n", "\n")
    windows = text.count("\r\n") > text.count("\n") / 2
    return piece.replace("\n", "\r\n") if windows else piece


def make_folder(folder: str) -> str:
    """Make the folder for a file if it is missing. Return words about it for the answer."""
    if os.path.isdir(full_path(folder) or "."):
        return ""
    os.makedirs(full_path(folder))
    return f", in the new folder {folder!r}"


def replace_file(path: str, data: bytes):
    """Write data to a file, all or nothing: if it fails, the old content is still there, and nothing else."""
    target = Path(os.path.realpath(full_path(path)))               # a link stays a link
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")   # beside it: a rename cannot cross disks
    try:
        temporary.write_bytes(data)
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)   # after a success it has its new name, and nothing is missing


def run_python_script(path: str) -> str:
    """Run a Python file in a new process and return what it prints.

    path: the file to run, relative to the working folder, written with /
    """
    try:
        check_file(path)
        source = Path(full_path(path)).read_text(encoding="utf-8", errors="replace")
        script = f"./{path}" if path.startswith("-") else path   # Python would take "-x.py" for an option
        return run_python([script], source)
    except (OSError, Refused) as error:
        return error_text(error, f"{path!r} could not be run")


def run_python_code(code: str) -> str:
    """Run Python code in a new process and return what it prints. Nothing is remembered from one run to the next.

    code: the program; only what it prints is returned
    """
    try:
        encoded(code)
        # "-": the program is on standard input. The mark in front: it is read as UTF-8, whatever its first line says.
        return run_python(["-"], code, stdin_text="\ufeff" + code)
    except (OSError, Refused) as error:
        return error_text(error, "the code could not be run")


def run_python(arguments: list[str], source: str, stdin_text: str | None = None) -> str:
    """Run this same Python in a child process. Return what it printed, then what else the model should know."""
    folder = working_folder()
    child = run_child([sys.executable, *arguments], folder=folder, timeout=TIME_LIMIT, stdin_text=stdin_text)
    return report(child, source, folder, TIME_LIMIT)


def report(child: ChildResult, source: str, folder: str, seconds: float) -> str:
    """Return what a program printed in a folder, and after that what else the model should know about its end."""
    output = plain_output(child.output, folder, source)
    parts = [output or "(no output)"]
    if "EOFError: EOF when reading a line" in output:
        parts.append(NO_INPUT)
    if re.search(r"\b(plt|pyplot|fig)\.show\(", source):
        parts.append(NO_WINDOW)
    return "\n".join(parts + ending(child, seconds))


def ending(child: ChildResult, seconds: float) -> list[str]:
    """Return a line about how a child ended, unless it ended well."""
    if child.timed_out:
        return [f"Killed: still running after {seconds:g} seconds."]
    if child.exit_code < 0:
        return [f"Killed by signal {-child.exit_code}."]
    if child.exit_code > 0:
        return [f"Exit code {child.exit_code}."]
    return []


# six functions, and the way out
TOOLS = {
    "list_files": list_files,
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "run_python_script": run_python_script,
    "run_python_code": run_python_code,
    "task_complete": task_complete,
}

# what the model is told about them
TOOL_DEFINITIONS = [describe_function(function) for function in TOOLS.values()]


def call_tool(name: str, arguments: dict) -> str:
    """Run one of the seven tools and return its result as text. A failure is returned as text too, after "Error: "."""
    return dispatch_table.call_tool(name, arguments, TOOLS)

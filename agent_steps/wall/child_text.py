"""What a Python child printed, in words that are the same on every system and with every version of Python.

Each version of Python marks the place of an error in its own way, and a traceback names files by their full path. Here
it is reduced to what matters: where in the learner's own files, and what went wrong.
"""
import os
import re
import sysconfig
from pathlib import Path

CODE = "<code>"                       # how a program is named that stands in no file
NAMED_AS_IS = {"<string>", "<unknown>"}   # text that the program itself gave to exec() or ast.parse()
STANDARD_LIBRARY = sysconfig.get_path("stdlib")
INSTALLED = {"site-packages", "dist-packages"}

FRAME = re.compile(r'(?P<edge>(?: *\| )?)  File "(?P<file>.+)", line (?P<number>\d+)(?P<where>, in .+)?')
WARNING = re.compile(r"(?P<file>.+):(?P<rest>\d+: \w*Warning: .*)")
MATPLOTLIB_NOISE = re.compile(
    r"^.*UserWarning: FigureCanvasAgg is non-interactive, and thus cannot be shown\n(  .*show.*\n)?"
    r"|^Matplotlib is building the font cache; this may take a moment\.\n", re.MULTILINE)


def plain_output(output: str, folder: str, code: str = "") -> str:
    """Return a Python child's output with short tracebacks, without paths of this machine or empty lines at the end.

    folder: where the child ran, as a full path. Files below it are named relative to it; tracebacks skip all others.
    code: the program, if the child read it from its standard input.
    """
    output = MATPLOTLIB_NOISE.sub("", output)
    return "\n".join(short_tracebacks(output.split("\n"), folder, code)).rstrip("\n")


def short_tracebacks(lines: list[str], folder: str, code: str) -> list[str]:
    """Reduce every traceback among the lines. The other lines stay as they are."""
    short = []
    indent = None   # inside a traceback: how the source and the ^^^^ marks below a File line begin
    for line in lines:
        if frame := FRAME.fullmatch(line):
            indent = frame["edge"] + "    "
            added = short_frame(frame, folder, code)
            short += added
            is_syntax_error = added and not frame["where"]
        elif indent is not None and line.startswith(indent):
            if is_syntax_error:   # this source was printed by the compiler, and may stand in no file
                short.append(line)
            is_syntax_error = False
        else:
            indent = None
            short.append(short_warning(line, folder))
    return short


def short_frame(frame: re.Match, folder: str, code: str) -> list[str]:
    """Return the lines for one step of a traceback: none for a library's file, else the place and its source line."""
    name = short_name(frame["file"], folder)
    if name is None:
        return []
    place = f'{frame["edge"]}  File "{name}", line {frame["number"]}{frame["where"] or ""}'
    source = source_line(name, int(frame["number"]), folder, code) if frame["where"] else ""
    return [place, f'{frame["edge"]}    {source}'] if source else [place]


def short_name(file: str, folder: str) -> str | None:
    """Return how the output names a file, or None if it belongs to Python or to a library."""
    if file == "<stdin>":
        return CODE
    if file in NAMED_AS_IS:
        return file
    path = Path(file)
    if path.is_relative_to(STANDARD_LIBRARY) or INSTALLED & set(path.parts):
        return None
    for base in (folder, os.path.realpath(folder)):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return None


def source_line(name: str, number: int, folder: str, code: str) -> str:
    """Return one line of the learner's source, without its indentation, or "" if it cannot be found."""
    if name != CODE:
        try:
            code = Path(folder, name).read_text(encoding="utf-8", errors="replace")
        except OSError:   # the program removed its own file, or it never was one
            return ""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def short_warning(line: str, folder: str) -> str:
    """Shorten the path of the file that a line like "path:3: UserWarning: text" begins with."""
    warning = WARNING.fullmatch(line)
    if not warning:
        return line
    file = warning["file"]
    name = short_name(file, folder) or Path(file).name
    return f'{name}:{warning["rest"]}'

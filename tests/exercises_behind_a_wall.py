"""Right and wrong answers to the exercises of lesson 13: (exercise, arguments of the check) and, if wrong, words of the reason."""
import ast
import json

FIRST_WIRE = """
import os, sys
folder = os.path.realpath(".")
def watch(event, arguments):
    if event == "os.remove" or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        path = os.path.realpath(arguments[0])
        if os.path.commonpath([path, folder]) != folder:
            raise PermissionError(f"{arguments[0]!r} is outside the working folder")
sys.addaudithook(watch)
"""

RENAMES = "import os\nos.replace('../thesis.txt', 'mine.txt')"
TRUNCATES = "import os\nos.truncate('../thesis.txt', 0)"
STARTS_ANOTHER = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"open('../thesis.txt', 'w')\"])"
PATCHES = "import os\nos.path.commonpath = lambda paths: folder\nopen('../thesis.txt', 'w').close()"
LINKS = "import os\nos.link('../thesis.txt', 'mine.txt')\nopen('mine.txt', 'w').close()"
CHANGES_FOLDER = "import os\nos.chdir('..')\nos.remove('thesis.txt')"
TAKES_RIGHTS = "import os\nos.chmod('../thesis.txt', 0)"
WITH_PATHLIB = "from pathlib import Path\nPath('../thesis.txt').unlink()"


def is_tight(protection):
    mine = [row for row in protection.rows if row[0] == protection.wall]
    return bool(mine) and all(row[2] == "holds" for row in mine)


def is_tight_by_hand(protection):
    if protection.wall is None:
        return False
    held = 0
    for layer, tried, word in protection.rows:
        if layer != protection.wall:
            continue
        if word != "holds":
            return False
        held += 1
    return held > 0


def has_wall(protection):
    return protection.wall is not None


def all_rows(protection):
    return protection.wall is not None and all(held == "holds" for _, _, held in protection.rows)


def none_fails(protection):
    return protection.wall is not None and not any(held == "DOES NOT HOLD" for layer, _, held in protection.rows if layer == protection.wall)


def without_rows(protection):
    return protection.wall is not None and all(held == "holds" for layer, _, held in protection.rows if layer == protection.wall)


def gives_rows(protection):
    mine = [row for row in protection.rows if row[0] == protection.wall]
    return mine and all(row[2] == "holds" for row in mine)


def only_landlock(protection):
    return protection.wall == "landlock" and is_tight(protection)


def read_result(output):
    lines = [line for line in output.split("\n") if line.strip()]
    if not lines:
        raise ValueError("there is no line")
    try:
        return json.loads(lines[-1])
    except json.JSONDecodeError:
        raise ValueError(f"the last line is no JSON: {lines[-1]!r}") from None


def read_from_the_end(output):
    return json.loads(output.strip().rpartition("\n")[2])


def read_by_eval(output):
    return eval(output.strip().splitlines()[-1], {"true": True, "false": False, "null": None})


def read_as_python(output):
    lines = output.strip().splitlines()
    return ast.literal_eval(lines[-1]) if lines else None


def read_first_line(output):
    return json.loads(output.splitlines()[0])


def read_without_looking(output):
    return json.loads([line for line in output.splitlines() if line.strip()][-1])


def read_something(output):
    data = read_result(output)
    if not data:
        raise ValueError("there is nothing in it")
    return data


def read_with_none(output):
    try:
        return read_result(output)
    except ValueError:
        return None


RIGHT = [
    (1, RENAMES, FIRST_WIRE), (1, TRUNCATES, FIRST_WIRE), (1, STARTS_ANOTHER, FIRST_WIRE), (1, PATCHES, FIRST_WIRE), (1, LINKS, FIRST_WIRE),
    (2, is_tight), (2, is_tight_by_hand),
    (3, read_result), (3, read_from_the_end),
]
WRONG = [
    (1, "open('../thesis.txt', 'w').close()", FIRST_WIRE, "'../thesis.txt' is outside the working folder"), (1, CHANGES_FOLDER, FIRST_WIRE, "still stands"),
    (1, WITH_PATHLIB, FIRST_WIRE, "still stands"), (1, "print('gone')", FIRST_WIRE, "printed: gone"), (1, "", FIRST_WIRE, "a text with code"),
    (1, "x = (", FIRST_WIRE, "SyntaxError"),
    (1, TAKES_RIGHTS, FIRST_WIRE, "still stands"), (1, RENAMES, "", "no trip-wire"),
    (2, has_wall, "One row of the wall does not hold"), (2, all_rows, "another matter"), (2, none_fails, "not tried is no proof"),
    (2, without_rows, "nothing was tried"), (2, only_landlock, "another name"), (2, gives_rows, "not []"),
    (3, read_by_eval, "a folder was made"), (3, read_as_python, "For the output"), (3, read_first_line, "For the output"),
    (3, read_without_looking, "IndexError"), (3, read_with_none, "gave None"),
    (3, read_something, "though its last line is JSON"),
]

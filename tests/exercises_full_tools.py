"""Right and wrong answers to the exercises of lesson 10: (exercise, arguments of the check) and, if wrong, words of the reason."""
from pathlib import Path

from agent_steps import dispatch_table
from agent_steps.full_tools import TOOLS, call_tool, edit_file, read_file, write_file
from agent_steps.wall.file_text import read_text
from agent_steps.wall.path_checks import Refused, check_file, error_text


def edited(old, new):
    """The two arguments of the check of exercise 1: the answer, and the file afterwards."""
    def answer():
        write_file("sum.py", "x = 1\ny = 1\nprint(x + y)\n")
        return edit_file("sum.py", old, new)
    return answer, lambda: read_file("sum.py")


def search_file(path: str, text: str) -> str:
    """Find the lines that hold a text."""
    try:
        check_file(path)
        lines = read_text(path).text.split("\n")
    except (Refused, OSError) as error:
        return error_text(error, "not searched")
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1) if text in line) or "Not found."


def search_by_hand(path, text):
    answer = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if text in line:
                    answer.append(f"{number}: {line}")
    except (OSError, UnicodeDecodeError):
        return f"Error: {path} cannot be searched. Use list_files."
    return "".join(answer) if answer else f"{text} is not in {path}."


def search_the_beginning(path, text):
    content = read_file(path)
    if content.startswith("Error: "):
        return content
    return "\n".join(f"{number}: {line}" for number, line in enumerate(content.splitlines(), 1) if text in line) or "Not found."


def search_and_raise(path, text):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1) if text in line) or "Not found."


def search_silently(path, text):
    return "" if (answer := search_file(path, text)) == "Not found." else answer


def search_from_zero(path, text):
    return "\n".join(f"{number}: {line}" for number, line in enumerate(read_file(path).splitlines()) if text in line)


def search_as_a_list(path, text):
    return [line for line in read_file(path).splitlines() if text in line]


EIGHT = TOOLS | {"search_file": search_file}
SWAPPED = {name: tool for name, tool in EIGHT.items() if name != "list_files"}


def call_any(name, arguments):
    return dispatch_table.call_tool(name, arguments, tools={**TOOLS, "search_file": search_file})


def call_without_checks(name, arguments):
    return EIGHT[name](**arguments) if name != "search_file" or len(arguments) == 2 else "what?"


RIGHT = [
    (1, *edited("y = 1", "y = 2")), (1, *edited("x = 1\ny = 1", "x = 1\ny = 2")), (1, *edited("y = 1\n", "y = 2\n")),
    (2, search_file), (2, search_by_hand),
    (3, EIGHT, lambda name, arguments: dispatch_table.call_tool(name, arguments, EIGHT), TOOLS),
    (3, {"search_file": search_file, **TOOLS}, call_any, TOOLS),
]
def search_by_pattern(path, text):
    import re
    return "\n".join(f"{number}: {line}" for number, line in enumerate(read_text(path).text.split("\n"), 1) if re.search(text, line)) or "Not found."


def search_in_any_case(path, text):
    lines = enumerate(read_text(path).text.split("\n"), 1)
    return "\n".join(f"{number}: {line}" for number, line in lines if text.lower() in line.lower()) or "Not found."


WRONG = [
    (2, search_by_pattern, "not a pattern"), (2, search_in_any_case, "not in 'Ebb'"),
    (1, *edited("1", "2"), "stands 2 times"), (1, *edited("y=1", "y=2"), "not found"), (1, *edited("x = 1", "x = 2"), "x is no longer 1"),
    (1, *edited("y = 1", "y = 3"), "does not stand on a line"),
    (2, search_the_beginning, "long file"), (2, search_and_raise, "FileNotFoundError"), (2, search_silently, "in a sentence"),
    (2, search_from_zero, "number 1"), (2, search_as_a_list, "in text"),
    (3, TOOLS, call_tool, TOOLS, "no 'search_file'"), (3, EIGHT, call_tool, TOOLS, "Which table"),
    (3, SWAPPED, call_any, TOOLS, "lacks list_files"), (3, EIGHT, call_any, EIGHT, "TOOLS itself has changed"),
    (3, EIGHT, call_without_checks, TOOLS, "checks the arguments"),
    (3, EIGHT | {"search_file": "Not found."}, call_any, TOOLS, "without calling it"),
]

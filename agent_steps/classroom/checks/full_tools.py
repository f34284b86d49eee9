"""The exercises of lesson 10."""
import os
import tempfile
from pathlib import Path

from agent_steps.classroom.checks import want


def exercise_1(answer, content):
    """The answer of edit_file, and what stands in sum.py afterwards."""
    want(answer and content, "Give the check the answer of edit_file and the content of the file.")
    want(not answer.startswith("Error: "), f"The tool says: {answer}")
    want("x = 1" in content.splitlines(), f"x is no longer 1: {content!r}")
    want("y = 2" in content.splitlines(), f"`y = 2` does not stand on a line of its own: {content!r}")
    want(content == "x = 1\ny = 2\nprint(x + y)\n", f"More than y was changed: {content!r}")


def exercise_2(search_file):
    """search_file(path, text): the lines that hold the text, with their numbers; failures as text."""
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as folder:
        folder = Path(os.path.relpath(folder))   # tools take relative paths only
        _try_on_texts(search_file, folder)
        _try_on_what_is_no_text(search_file, folder)


def _written(folder, name, data):
    (folder / name).write_bytes(data)
    return (folder / name).as_posix()


def _try_on_texts(search_file, folder):
    path = _written(folder, "a.txt", b"ebb\nflood tide\nebb again\nflood\n")
    found = search_file(path, "ebb")
    want(found is not None and found is not ..., "search_file gave back nothing. Return a text.")
    want(isinstance(found, str), f"It gave back a {type(found).__name__}. A tool answers in text, one found line on each line.")
    want("flood" not in found, f"It gave a line that does not hold the text: {found!r}.")
    want(not found.startswith("0: "), "The first line of a file has the number 1.")
    want(found.strip() == "1: ebb\n3: ebb again", f"For 'ebb', which stands in lines 1 and 3, it gave {found!r}.")
    odd = _written(folder, "odd.txt", b"Ebb\nthe ebbing tide\na+b\naab\n")
    want(search_file(odd, "ebb").strip() == "2: the ebbing tide", f"'ebb' stands in 'the ebbing tide', not in 'Ebb', but it gave {search_file(odd, 'ebb')!r}.")
    want(search_file(odd, "a+b").strip() == "3: a+b", f"The text is a text, not a pattern: for 'a+b' it gave {search_file(odd, 'a+b')!r}.")
    nothing = search_file(path, "storm")
    want(isinstance(nothing, str) and nothing.strip(), "If no line holds the text, say so in a sentence: silence tells the model nothing.")
    want(not nothing.startswith("Error: "), "That no line holds the text is no error. It is an answer.")
    far = search_file(_written(folder, "long.txt", b"ebb\n" * 30_000 + b"flood\n"), "flood")
    want("30001: flood" in str(far), "The text stood in line 30001 of a long file, and was not found. What does read_file do with a long file?")


def _try_on_what_is_no_text(search_file, folder):
    for path, what in [((folder / "b.txt").as_posix(), "is missing"),
                       (_written(folder, "c.png", b"\x89PNG\r\n\x1a\n\x00\xff"), "is a picture")]:
        try:
            answer = search_file(path, "ebb")
        except Exception as error:
            want(False, f"For a file that {what} it raised {type(error).__name__}. Turn that into an answer, as read_file does.")
        want(str(answer).startswith("Error: "), f"For a file that {what} the answer should begin with 'Error: '. It was {answer!r}.")


def exercise_3(more_tools, call_more_tools, tools):
    """A table of eight tools, a call_tool over them, and the old table, which still holds seven."""
    want("search_file" not in tools, "TOOLS itself has changed. Make a new table; then run the cell that defines TOOLS again.")
    want(isinstance(more_tools, dict) and "search_file" in more_tools, "There is no 'search_file' in more_tools.")
    missing = [name for name in tools if name not in more_tools]
    want(not missing, f"more_tools lacks {', '.join(missing)}.")
    want(callable(more_tools["search_file"]), "What stands under 'search_file' is no function. Put it there without calling it.")
    want(more_tools.keys() == tools.keys() | {"search_file"}, "more_tools holds more than the seven and 'search_file'.")
    answer = call_more_tools("task_complete", {"summary": "done"})
    want(answer is not None and answer is not ..., "call_more_tools gave back nothing. Return the result of the tool.")
    want(answer == "done", f"task_complete with the summary 'done' gave {answer!r}.")
    answer = call_more_tools("search_file", {"text": "ebb"})
    want("there is no tool" not in answer, "call_more_tools does not know search_file. Which table does it use?")
    want(answer.startswith("Error: ") and "'path'" in answer,
         "Without a path, search_file should not run: hand the call to dispatch_table.call_tool, which checks the arguments.")
    answer = call_more_tools("open_file", {})
    want(answer.startswith("Error: ") and "search_file" in answer, "For a tool that does not exist it should name all eight.")

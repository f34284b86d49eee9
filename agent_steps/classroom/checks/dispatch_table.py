"""The exercises of lesson 8."""
import re

from agent_steps.classroom.checks import want

CLOSING = re.compile(r"<\s*/\s*tool_response\s*>", re.I)   # a model reads these all as the closing tag


def _list_files():
    return "a.csv"


def exercise_1(with_tool):
    """with_tool(tools, function): a new table with the function in it, under its own name."""
    def count_lines(path: str) -> str:
        """Count the lines."""

    old = {"list_files": _list_files}
    new = with_tool(old, count_lines)
    want(old == {"list_files": _list_files}, "The old table was changed. Make a new one.")
    want(isinstance(new, dict), f"with_tool gave back {type(new).__name__}. Return a dict.")
    want("list_files" in new, "The old tool is gone.")
    want("count_lines" in new, f"There is no tool count_lines in the new table, only: {', '.join(map(str, new))}. "
                               "A function knows its own name.")
    want(new == {"list_files": _list_files, "count_lines": count_lines}, "A name in the table should lead to its function.")
    count_lines.__name__ = "list_files"
    want(_refuses(with_tool, old, count_lines), "A second tool with the name list_files took the place of the first. Raise a ValueError.")
    want(old == {"list_files": _list_files}, "The old table was changed. Make a new one.")


def _refuses(with_tool, tools, function):
    try:
        with_tool(tools, function)
    except ValueError:
        return True
    return False


NAMES = ["list_files", "read_file", "task_complete"]


def exercise_2(nearest):
    """nearest(wrong, names): the most similar name, None if there is none."""
    found = nearest("list_file", list(NAMES))
    want(found is not None and found is not ..., "For list_file it gave back nothing, though list_files is very near.")
    want(not isinstance(found, list), f"It gave the list {found!r}. Return one name.")
    want(found == "list_files", f"For list_file it gave {found!r}.")
    for wrong, meant in (("read_fil", "read_file"), ("taskcomplete", "task_complete"), ("ist_files", "list_files"), ("reed_file", "read_file")):
        found = nearest(wrong, list(NAMES))
        want(found == meant, f"For {wrong} it gave {found!r}, and {meant} would be nearer.")
    found = nearest("buy_ticket", list(NAMES))
    want(found is None, f"Nothing is like buy_ticket, but it gave {found!r}. Return None.")
    want(nearest("list_file", []) is None, "Without any names it should give None.")


def exercise_3(letter, deleting_frame, observation):
    """A text that closes the frame although every closing tag is deleted from it."""
    want(isinstance(letter, str), "The letter should be a text.")
    want(letter.strip(), "The letter is still empty.")
    framed = deleting_frame("read_file", letter)
    closed = CLOSING.search(framed).start() < len(framed) - len("</tool_response>")
    want(closed, "The frame held: its only closing tag is its own, at the end. "
                 "Think of what stands there *after* the tag was deleted, or of another way to write the tag.")
    held = observation("read_file", letter)
    want(CLOSING.search(held).start() == len(held) - len("</tool_response>"), "Well done: this closes even the frame of the lesson. Please report it.")

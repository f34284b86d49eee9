"""The exercises of lesson 13."""
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from agent_steps.classroom.checks import NotYet, want
from agent_steps.wall.child import run_child

THESIS = "A precious line.\n"


def exercise_1(program, wire):
    """A program that destroys ../thesis.txt, although it runs behind the trip-wire of the lesson."""
    want(isinstance(program, str) and program.strip(), "The program is a text with code in it.")
    want(isinstance(wire, str) and "addaudithook" in wire, "Run the cell that makes FIRST_WIRE again: this is no trip-wire.")
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as top:
        thesis, folder = Path(top, "thesis.txt"), Path(top, "work")
        folder.mkdir()
        thesis.write_text(THESIS, encoding="utf-8")
        child = run_child([sys.executable, "-I", "-c", f"{wire}\n{program}"], folder=os.fspath(folder), timeout=10)
        left = text_of(thesis)
    want(THESIS.strip() not in left or not child.timed_out, "The thesis still stands, and the program had not ended after 10 seconds.")
    last = (child.output.splitlines() or ["nothing"])[-1]
    want(THESIS.strip() not in left, f"The thesis still stands. The last that the program printed: {last}")


def text_of(thesis):
    """What is left in the file, even if the program took away the right to read it; no text if the file is gone."""
    if not thesis.is_file():
        return ""
    thesis.chmod(0o600)
    return thesis.read_text(encoding="utf-8", errors="replace")


def found(wall, *words):
    """Make up what a probe found: the rows of a wall say these words, and those of the other layers say what a child met."""
    rows = [("child", "finds no key in its environment", "holds"), ("child", "cannot take 5 GB of memory", "DOES NOT HOLD")]
    return SimpleNamespace(wall=wall, rows=tuple(rows + [(wall or "no wall", f"try number {number}", word) for number, word in enumerate(words)]))


def exercise_2(is_tight):
    """is_tight(protection): True only if every row of the wall holds."""
    answer = is_tight(found("landlock", "holds", "holds"))
    want(answer is not None and answer is not ..., "is_tight gave back nothing. Return True or False.")
    for wall, words, right, reason in [
            ("landlock", ["holds", "holds"], True, "Every row of the wall holds. That a limit of the child does not hold is another matter."),
            ("bubblewrap", ["holds", "holds"], True, "A wall may have another name than landlock."),
            ("landlock", ["holds", "DOES NOT HOLD"], False, "One row of the wall does not hold."),
            ("landlock", ["DOES NOT HOLD", "holds"], False, "One row of the wall does not hold."),
            ("landlock", ["holds", "not tried"], False, "A row that was not tried is no proof."),
            ("landlock", [], False, "No row of this wall is there: nothing was tried."),
            (None, ["DOES NOT HOLD", "DOES NOT HOLD"], False, "There is no wall."),
            (None, ["holds", "holds"], False, "There is no wall, whatever its rows say.")]:
        answer = is_tight(found(wall, *words))
        want(answer is right, f"{reason} Then the answer is {right}, not {answer!r}.")


JSON_OUTPUTS = [
    ('{"rows": 72}', {"rows": 72}), ('reading\n{"rows": 72, "calm": true, "note": null}\n', {"rows": 72, "calm": True, "note": None}),
    ('{"rows": 1}\n[1, 2.5, "x"]\n\n', [1, 2.5, "x"]),
    ("rows:\n0\n", 0), ("left:\n[]", [])]
OTHER_OUTPUTS = [
    ("", "no output at all"), ("\n\n", "an output of empty lines"), ("(no output)", "'(no output)'"),
    ('{"rows": 72}\nExit code 1.', "a run that ended with 'Exit code 1.'"), ('{"rows": 7', "a line that was cut off"), ("{'rows': 72}", "a dict of Python")]


def exercise_3(read_result):
    """read_result(output): the JSON of the last line; ValueError for everything else; nothing runs."""
    first = read_result(JSON_OUTPUTS[0][0])
    want(first is not None and first is not ..., "read_result gave back nothing. Return the data.")
    _must_not_run(read_result)
    for output, data in JSON_OUTPUTS:
        _must_read(read_result, output, data)
    for output, what in OTHER_OUTPUTS:
        _must_refuse(read_result, output, what)


def _must_read(read_result, output, data):
    try:
        answer = read_result(output)
    except Exception as error:
        raise NotYet(f"For the output {output!r} it raised {type(error).__name__}, though its last line is JSON.") from None
    want(answer == data, f"For the output {output!r} it gave {answer!r}.")


def _must_refuse(read_result, output, what):
    try:
        answer = read_result(output)
    except ValueError:
        return
    except Exception as error:
        raise NotYet(f"For {what} it raised {type(error).__name__}. Raise a ValueError.") from None
    raise NotYet(f"For {what} it gave {answer!r}. Raise a ValueError.")


def _must_not_run(read_result):
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as folder:
        made = Path(folder, "made")
        try:
            read_result(f"3 rows\n__import__('os').mkdir({made.as_posix()!r})")
        except Exception:
            pass   # how it refuses is looked at later
        want(not made.exists(), "It ran what stood in the output: a folder was made. JSON only has to be read.")

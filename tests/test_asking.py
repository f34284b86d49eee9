"""Asking a person: at a terminal, at the end of a pipe, with nobody there, and in a rehearsal."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_steps.classroom import asking
from agent_steps.classroom.asking import REHEARSAL_VARIABLE, ask, ask_approval, rehearse
from agent_steps.parse_the_tool_call import ToolCall
from scripted import types

ROOT = Path(__file__).parents[1]
POSIX = pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal needs POSIX")
CALL = ToolCall("list_files", {"path": "data"})
ASK = "from agent_steps.classroom.asking import ask; print('Got', ascii(ask('Well? ')))"
APPROVE = ("from agent_steps.classroom.asking import ask_approval; from agent_steps.parse_the_tool_call import ToolCall; "
           "print('Got', ascii(ask_approval(ToolCall('list_files', {'path': 'data'}))))")


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name != REHEARSAL_VARIABLE}
    paths = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    return kept | {"PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"} | more


def in_a_pipe(code, typed, **more):
    done = subprocess.run([sys.executable, "-c", code], input=typed, capture_output=True, env=environment(**more), encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def at_a_terminal(code, typed):
    """Run code in a real pseudo-terminal, type into it, and return what stands on the screen."""
    keyboard, screen = os.openpty()
    child = subprocess.Popen([sys.executable, "-c", code], stdin=screen, stdout=screen, stderr=screen, env=environment(), start_new_session=True)
    os.close(screen)
    os.write(keyboard, typed.encode())
    shown = b""
    try:
        while piece := os.read(keyboard, 4096):
            shown += piece
    except OSError:   # Linux says in this way that nobody has the terminal open any more
        pass
    os.close(keyboard)
    assert child.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


# ---- a person at a terminal ----

@POSIX
@pytest.mark.parametrize(("typed", "answer"), [("y\n", "'y'"), ("  y \n", "'y'"), ("Yes, do\n", "'Yes, do'"), ("\n", "''"), ("ｙ\n", r"'\uff59'")])
def test_at_a_terminal_the_answer_is_what_was_typed_without_spaces_around_it(typed, answer):
    assert f"Got {answer}" in at_a_terminal(ASK, typed)


@POSIX
def test_at_a_terminal_the_answer_is_not_printed_a_second_time():
    shown = at_a_terminal(ASK, "certainly\n")
    assert shown.count("certainly") == 2   # once as the terminal's echo, once in what the test prints
    assert "Well? " in shown


@POSIX
def test_ctrl_d_at_a_terminal_is_q():
    shown = at_a_terminal(ASK, "\x04")
    assert "(No more input: taken as q.)" in shown and "Got 'q'" in shown


@POSIX
def test_a_person_is_asked_again_until_the_answer_is_clear():
    shown = at_a_terminal(APPROVE, "\nyes\nno thanks\nｙ\n Y \n")
    assert shown.count("Please type y, n or q.") == 4 and "Got 'y'" in shown


# ---- pipes ----

def test_from_a_pipe_a_line_is_read_and_shown_behind_its_question():
    assert in_a_pipe(ASK, "y\n") == "Well? y\nGot 'y'\n"


def test_the_last_line_of_a_pipe_needs_no_line_end():
    assert "Got 'y'" in in_a_pipe(ASK, "y")


def test_the_end_of_a_pipe_is_q():
    assert in_a_pipe(ASK, "") == "Well? \n(No more input: taken as q.)\nGot 'q'\n"


def test_a_pipe_with_lines_left_is_read_even_in_a_rehearsal():
    code = "from agent_steps.classroom.asking import ask, rehearse; rehearse('n'); print('Got', ask('Well? '))"
    assert "Got y" in in_a_pipe(code, "y\n", **{REHEARSAL_VARIABLE: "1"})


def test_without_any_standard_input_the_answer_is_q():
    code = f"import sys; sys.stdin = None; {ASK}"
    assert "Got 'q'" in in_a_pipe(code, "y\n")


@POSIX
def test_with_a_standard_input_that_was_closed_before_the_start_the_answer_is_q():
    done = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" <&-', sys.executable, ASK], capture_output=True, env=environment(), encoding="utf-8", timeout=60)
    assert "Got 'q'" in done.stdout and done.returncode == 0


def test_with_a_standard_input_that_is_closed_the_answer_is_q():
    code = f"import sys; sys.stdin.close(); {ASK}"
    assert "Got 'q'" in in_a_pipe(code, "y\n")


# ---- clear and unclear answers ----

@pytest.mark.parametrize(("typed", "answer"), [
    ("y", "y"), ("Y", "y"), (" y ", "y"), ("Y ", "y"), ("n", "n"), ("N", "n"), ("q", "q"), ("\tQ\t", "q"),
    ("n: not now", "n: not now"), ("N:   too   long ", "n: too   long"), ("n:because", "n: because"),
])
def test_a_clear_answer_is_taken(monkeypatch, typed, answer):
    types(monkeypatch, typed)
    assert ask_approval(CALL) == answer


@pytest.mark.parametrize("typed", ["", " ", "yes", "no", "no thanks", "ｙ", "ye", "yy", "y.", "1", "true", "n:", "n: ", "q: x", "y: go", "ok"])
def test_an_unclear_answer_is_asked_again(monkeypatch, capsys, typed):
    waiting = types(monkeypatch, typed, "n")
    assert ask_approval(CALL) == "n" and waiting == []
    assert capsys.readouterr().out.count("Please type y, n or q.") == 1


@pytest.mark.parametrize("typed", ["", "yes", "no thanks", "ｙ"])
def test_unclear_answers_without_end_are_q(monkeypatch, capsys, typed):
    types(monkeypatch, *[typed] * 50)
    assert ask_approval(CALL) == "q"
    assert "No clear answer: taken as q." in capsys.readouterr().out


def test_the_end_of_the_input_is_q(monkeypatch):
    types(monkeypatch)
    assert ask_approval(CALL) == "q"


def test_the_call_is_shown_before_the_question(monkeypatch, capsys):
    types(monkeypatch, "y")
    ask_approval(CALL)
    assert capsys.readouterr().out.lstrip().startswith("list_files\n  path: 'data'\n")


def test_what_would_mislead_the_eye_is_shown_escaped(monkeypatch, capsys):
    types(monkeypatch, "n")
    ask_approval(ToolCall("run_python_script", {"path": "report\u202etxt.py", "note": "\x1b[2J"}))
    printed = capsys.readouterr().out
    assert r"report\u202etxt.py" in printed and r"\x1b[2J" in printed and "\x1b" not in printed


def test_ctrl_c_at_the_question_passes_through(monkeypatch):
    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask("Well? ")


# ---- rehearsals ----

@pytest.fixture
def nobody(monkeypatch):
    """A notebook that is run with nobody in front of it; returns a function that moves on to another cell."""
    def no_front_end(prompt):
        raise NotImplementedError("raw_input was called, but this frontend does not support input requests.")

    cell = ["first"]
    monkeypatch.setattr("builtins.input", no_front_end)
    monkeypatch.setattr(asking, "_current_cell", lambda: cell[0])
    monkeypatch.setattr(asking, "_rehearsed", {"cell": None, "lines": []})
    monkeypatch.setenv(REHEARSAL_VARIABLE, "1")
    return lambda name: cell.__setitem__(0, name)


def test_in_a_rehearsal_the_lines_are_answered_one_after_the_other(nobody):
    rehearse("y", " what? ", "n: no")
    assert [ask("a"), ask("b"), ask("c")] == ["y", "what?", "n: no"]


def test_a_rehearsed_answer_is_shown_as_if_it_were_typed(nobody, capsys):
    rehearse("y")
    ask("Well? ")
    assert capsys.readouterr().out == "Well? y\n"


def test_when_the_lines_are_used_up_the_answer_is_n(nobody, capsys):
    rehearse("y")
    assert [ask("a"), ask("b"), ask("c")] == ["y", "n", "n"]
    assert "Nobody is here to answer: taken as n." in capsys.readouterr().out


def test_lines_that_are_left_over_do_not_reach_the_next_cell(nobody):
    rehearse("y", "y", "y")
    assert ask("a") == "y"
    nobody("second")
    assert ask("b") == "n"


def test_lines_laid_down_anew_replace_those_before(nobody):
    rehearse("y", "y")
    rehearse("q")
    assert [ask("a"), ask("b")] == ["q", "n"]


def test_running_the_same_cell_again_needs_its_lines_again(nobody):
    rehearse("y", "y")
    nobody("the same cell, run again")
    rehearse("n")
    assert [ask("a"), ask("b")] == ["n", "n"]


def test_outside_a_declared_rehearsal_the_lines_are_not_used(nobody, monkeypatch):
    monkeypatch.delenv(REHEARSAL_VARIABLE)
    rehearse("y")
    assert ask("Well? ") == "n"


def test_where_a_person_can_answer_the_lines_are_not_used(nobody, monkeypatch):
    rehearse("y")
    types(monkeypatch, "q")
    assert ask("Well? ") == "q"


def test_without_lines_nothing_is_approved(nobody):
    assert ask_approval(CALL) == "n"


def test_a_rehearsed_approval_needs_a_clear_answer_too(nobody):
    rehearse("yes", "", "y")
    assert ask_approval(CALL) == "y"


def test_lines_of_another_cell_are_not_used_at_the_end_of_a_pipe_either(nobody, monkeypatch):
    rehearse("y")
    nobody("second")
    types(monkeypatch)
    assert ask("Well? ") in ("n", "q")


def test_rehearsing_asks_and_prints_nothing(nobody, capsys):
    rehearse("y")
    assert capsys.readouterr().out == ""


def test_a_file_that_changes_while_the_question_stands_is_shown_anew(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "s.py"
    script.write_text("print(1)", encoding="utf-8")

    def typed(prompt=""):
        if "evil" not in script.read_text(encoding="utf-8"):
            script.write_text("evil()", encoding="utf-8")
        return "y"

    monkeypatch.setattr("builtins.input", typed)
    assert ask_approval(ToolCall("run_python_script", {"path": "s.py"})) == "y"
    printed = capsys.readouterr().out
    assert "has changed since you were asked" in printed and printed.index("print(1)") < printed.index("Look again") < printed.index("evil()")

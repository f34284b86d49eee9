"""A failure that is shown on purpose does fail, or the test run says so."""
import pytest

from agent_steps.classroom.demos import shows_error


def test_the_error_is_printed_and_the_notebook_goes_on(capsys):
    with shows_error(ValueError):
        int("three")
    assert capsys.readouterr().out == "ValueError: invalid literal for int() with base 10: 'three'\n"


def test_a_demonstration_that_no_longer_fails_makes_a_test_fail():
    with pytest.raises(AssertionError, match="meant to show a ValueError"):
        with shows_error(ValueError):
            int("3")


def test_a_learner_who_answered_otherwise_is_told_what_to_do(capsys, monkeypatch):
    monkeypatch.delenv("AGENT_STEPS_REHEARSAL")
    with shows_error(ValueError):
        int("3")
    assert "Run the cell again" in capsys.readouterr().out


def test_another_error_is_not_swallowed():
    with pytest.raises(KeyError):
        with shows_error(ValueError):
            {}["x"]

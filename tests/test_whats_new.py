"""The views at the end of a lesson, read from source files."""

import pytest

from agent_steps.classroom.whats_new import new_names, show_module, source_of, stage_diff

EARLY = '''"""An early lesson."""


def run_loop(chat, task):
    """Ask and act.

    In more words.
    """

    message = task                                   # where it begins
    return chat.send(message)
'''
LATE = '''"""A later lesson."""

import os
from early import run_loop as _run_loop

# How often it may ask.
# More about that.
MAX_STEPS = 10
TOOLS: dict = {"a": 1}  # a name and its function
LIMIT = 3
_PRIVATE = 1
lower = 2


def run_agent(chat, task):
    """Ask, act & stop."""
    message = task                                   # where it begins
    for _ in range(MAX_STEPS):
        message = chat.send(message)
    return message


@os.fspath
class AgentRun:
    """One run: how it ended.

    Details.
    """

    def show(self):
        """Show it."""
        return "<run>"


async def wait():
    raise SystemExit("importing or running a lesson is not needed to read it")


def _hidden():
    """Not shown."""


raise SystemExit("this module must not be imported")
'''


@pytest.fixture
def lessons(tmp_path):
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "early.py").write_text(EARLY, encoding="utf-8")
    (folder / "late.py").write_text(LATE, encoding="utf-8")
    return folder


def test_the_public_names_are_listed_in_the_order_of_the_file(lessons):
    assert repr(new_names("late", lessons)) == (
        "New in late:\n"
        "  MAX_STEPS  constant  How often it may ask.\n"
        "  TOOLS      constant  a name and its function\n"
        "  LIMIT      constant\n"
        "  run_agent  function  Ask, act & stop.\n"
        "  AgentRun   class     One run: how it ended.\n"
        "  wait       function")


def test_the_names_are_a_table_in_a_notebook(lessons):
    page = new_names("late", lessons)._repr_html_()
    assert page.count('scope="row"') == 6 and "<caption" in page
    assert "Ask, act &amp; stop." in page


def test_a_module_without_names_says_so(lessons):
    (lessons / "empty.py").write_text('"""Nothing."""\n', encoding="utf-8")
    shown = new_names("empty", lessons)
    assert repr(shown) == "No new names in empty." and "No new names" in shown._repr_html_()


def test_a_name_that_is_assigned_twice_is_listed_once(lessons):
    (lessons / "twice.py").write_text("A = 1\nA = 2\nB, C = 3, 4\n", encoding="utf-8")
    assert repr(new_names("twice", lessons)).split()[3::2] == ["A", "B", "C"]


def test_a_hash_inside_a_value_is_no_comment(lessons):
    (lessons / "hash.py").write_text('é = 1\nMARK = "# é"\n', encoding="utf-8")
    assert repr(new_names("hash", lessons)).endswith("MARK  constant")


def test_an_unknown_module_is_refused_by_name(lessons):
    with pytest.raises(ValueError, match="no file lessons/nowhere.py"):
        new_names("nowhere", lessons)


def test_a_source_has_no_docstring_and_keeps_its_comments(lessons):
    assert source_of("early.run_loop", lessons) == (
        "def run_loop(chat, task):\n"
        "    message = task                                   # where it begins\n"
        "    return chat.send(message)")


def test_the_source_of_a_method_begins_at_the_margin(lessons):
    assert source_of("late.AgentRun.show", lessons) == 'def show(self):\n    return "<run>"'


def test_the_source_of_a_class_has_its_decorator(lessons):
    assert source_of("late.AgentRun", lessons).startswith("@os.fspath\nclass AgentRun:\n    def show")


def test_an_unknown_function_is_refused_with_those_there_are(lessons):
    with pytest.raises(ValueError, match="run_agent, AgentRun, wait"):
        stage_diff("early.run_loop", "late.run_everything", lessons)


def test_a_name_without_a_function_is_refused(lessons):
    with pytest.raises(ValueError, match="slug.function"):
        stage_diff("early", "late.run_agent", lessons)


def test_a_comparison_shows_every_line_with_its_sign(lessons):
    assert repr(stage_diff("early.run_loop", "late.run_agent", lessons)).splitlines() == [
        "From early.run_loop to late.run_agent: 4 lines added, 2 taken away, 1 unchanged.", "",
        "- def run_loop(chat, task):",
        "+ def run_agent(chat, task):",
        "      message = task                                   # where it begins",
        "-     return chat.send(message)",
        "+     for _ in range(MAX_STEPS):",
        "+         message = chat.send(message)",
        "+     return message"]


def test_a_comparison_has_its_signs_in_the_notebook_too(lessons):
    page = stage_diff("late.AgentRun.show", "late.run_agent", lessons)._repr_html_()
    assert ">+ def run_agent" in page and ">- def show" in page
    assert "&lt;run&gt;" in page and "<run>" not in page


def test_a_module_is_folded_under_one_line(lessons):
    shown = show_module("late", lessons)
    assert repr(shown) == f"The whole module: {lessons.name}/late.py, {len(LATE.splitlines())} lines."
    assert shown._repr_html_().startswith("<details><summary>The whole module: lessons/late.py, ")
    assert "&lt;run&gt;" in shown._repr_html_()

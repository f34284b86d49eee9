"""Lesson 6: the way out, and the nudge."""
import pytest

from agent_steps.plain_chat import Chat
from agent_steps.practice.situation import tools_in
from agent_steps.providers import connect
from agent_steps.task_complete import NUDGE, TWO_TOOLS_PROMPT, run_until_complete, task_complete
from agent_steps.tool_definitions import TOOL_DEFINITIONS
from scripted import call_text, done, scripted_chat, types


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "tides.csv").touch()
    monkeypatch.chdir(tmp_path)


LOOK = call_text("list_files", path=".")


def test_the_prompt_describes_both_tools_as_the_later_lessons_do():
    assert tools_in(TWO_TOOLS_PROMPT) == {definition["name"]: definition["inputSchema"] for definition in TOOL_DEFINITIONS}


def test_task_complete_returns_the_summary():
    assert task_complete("  Three files.\n") == "Three files."


@pytest.mark.parametrize("summary", ["", " ", "\n"])
def test_an_empty_summary_is_an_error(summary):
    assert task_complete(summary).startswith("Error: ")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_the_practice_model_looks_and_then_completes(monkeypatch, wire):
    types(monkeypatch, "y", "y")
    chat = Chat(connect("practice", wire=wire), TWO_TOOLS_PROMPT)
    assert run_until_complete(chat, "Which files are in this folder?") == (2, 2, True)


def test_a_reply_without_a_call_is_nudged_and_uses_a_step(monkeypatch):
    types(monkeypatch, "y")
    chat = scripted_chat("I am thinking.", done())
    assert run_until_complete(chat, "Look.") == (2, 1, True)
    assert chat.messages[2] == {"role": "user", "content": NUDGE}


def test_task_complete_is_asked_for_too(monkeypatch):
    types(monkeypatch, "n")
    assert run_until_complete(scripted_chat(done()), "Look.") == (1, 0, False)


@pytest.mark.parametrize("answer", ["n", "", "yes", "q"])
def test_anything_but_y_ends_the_run_before_the_tool_runs(monkeypatch, answer):
    types(monkeypatch, answer)
    monkeypatch.setattr("agent_steps.task_complete.list_files", lambda path: pytest.fail("it ran"))
    assert run_until_complete(scripted_chat(LOOK), "Look.") == (1, 0, False)


def test_a_run_that_uses_up_its_steps_is_not_completed(monkeypatch):
    types(monkeypatch, *"yyy")
    assert run_until_complete(scripted_chat(LOOK), "Look.", max_steps=3) == (3, 3, False)


def test_a_model_that_never_calls_uses_up_its_steps(monkeypatch):
    types(monkeypatch)
    assert run_until_complete(scripted_chat("Hm."), "Look.", max_steps=4) == (4, 0, False)


def test_an_unknown_tool_is_answered_with_the_names_of_the_tools(monkeypatch):
    types(monkeypatch, "y", "y")
    chat = scripted_chat(call_text("delete_all", path="."), done())
    assert run_until_complete(chat, "Look.") == (2, 2, True)
    assert chat.messages[2]["content"] == "Error: unknown tool 'delete_all'. The tools are: list_files, task_complete."


def test_a_summary_that_tells_of_an_error_is_a_summary():
    assert task_complete("Error: the file is empty, so nothing was plotted.") == "the file is empty, so nothing was plotted."

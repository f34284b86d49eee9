"""Lesson 5: the loop with one tool."""
import pytest

from agent_steps.describe_a_tool import SYSTEM_PROMPT
from agent_steps.parse_the_tool_call import ToolCallError
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.the_loop import run_loop
from scripted import call_text, scripted_chat, types


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tides.csv").touch()
    monkeypatch.chdir(tmp_path)


LOOK = call_text("list_files", path="data")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_the_practice_model_looks_and_then_answers(monkeypatch, wire):
    types(monkeypatch, "y")
    chat = Chat(connect("practice", wire=wire), SYSTEM_PROMPT)
    assert run_loop(chat, "Which files are in the folder data?") == (2, 1)
    assert "tides.csv" in chat.messages[-1]["content"]


def test_a_plain_answer_ends_the_loop(monkeypatch):
    types(monkeypatch)
    assert run_loop(scripted_chat("It is 3."), "How many?") == (1, 0)


def test_the_result_of_the_tool_is_the_next_message(monkeypatch):
    types(monkeypatch, "y")
    chat = scripted_chat(LOOK, "One file.")
    run_loop(chat, "Look.")
    assert chat.messages[2] == {"role": "user", "content": "data/tides.csv"}


@pytest.mark.parametrize("answer", ["n", "q", "", "yes", "no thanks", "x", "ｙ"])
def test_anything_but_y_ends_the_loop_before_the_tool_runs(monkeypatch, answer):
    types(monkeypatch, answer)
    monkeypatch.setattr("agent_steps.the_loop.list_files", lambda path: pytest.fail("it ran"))
    assert run_loop(scripted_chat(LOOK), "Look.") == (1, 0)


def test_the_end_of_the_input_ends_the_loop_before_the_tool_runs(monkeypatch):
    types(monkeypatch)
    monkeypatch.setattr("agent_steps.the_loop.list_files", lambda path: pytest.fail("it ran"))
    assert run_loop(scripted_chat(LOOK), "Look.") == (1, 0)


def test_the_loop_ends_when_the_steps_are_used_up(monkeypatch):
    types(monkeypatch, *"yyy")
    assert run_loop(scripted_chat(LOOK), "Look.", max_steps=3) == (3, 3)


def test_a_step_is_counted_before_the_model_is_asked(monkeypatch, capsys):
    types(monkeypatch, "y")
    run_loop(scripted_chat(LOOK, "Done."), "Look.")
    printed = capsys.readouterr().out
    assert "===== Step 1 | tool calls so far: 0 =====" in printed
    assert "===== Step 2 | tool calls so far: 1 =====" in printed


def test_a_malformed_call_is_not_run(monkeypatch):
    types(monkeypatch, "y")
    with pytest.raises(ToolCallError):
        run_loop(scripted_chat('<tool_call>{"name": "list_files"'), "Look.")

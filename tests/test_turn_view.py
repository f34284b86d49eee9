"""One turn in full: what was really sent, what came back, what was decided, what was returned, and the tokens."""
import json
import re
from html import unescape

import pytest
from scripted import call_text, done, scripted_chat

from agent_steps.classroom import show_turn
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.run_agent import AgentRun, Turn, run_agent


@pytest.fixture(autouse=True)
def a_small_folder(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("a,b\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def approve_all(call):
    return "y"


class Recorder:
    """A model that keeps a copy of every request."""

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []

    def reply(self, system_prompt, messages):
        self.requests.append([{"role": "system", "content": system_prompt}, *map(dict, messages)])
        return self.replies.pop(0)


@pytest.fixture
def recorded():
    model = Recorder(call_text("list_files", path="."), "", call_text("list_files", path="."), done())
    return run_agent(Chat(model, "You have tools."), "look around", approve=approve_all, quiet=True), model.requests


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_what_is_shown_as_sent_is_what_was_sent(recorded, step):
    run, requests = recorded
    sent = re.search(r"^--- Sent: (\d+) messages\n(.*?)\n\n---", repr(show_turn(run, step)), re.S | re.M)
    assert json.loads(sent[2]) == requests[step - 1] and int(sent[1]) == len(requests[step - 1])


def test_the_table_shows_what_is_new_in_each_request_and_counts_the_rest(recorded):
    run, requests = recorded
    folded = [unescape(text) for text in re.findall(r"<summary>sent: \d+ messages</summary><pre[^>]*>(.*?)</pre>", run._repr_html_(), re.S)]
    assert json.loads(folded[0]) == requests[0]
    for step in (1, 2, 3):
        first, second, rest = folded[step].split("\n", 2)
        assert second == f" ... {len(requests[step - 1])} messages as in the step before ..."
        assert json.loads(first + rest) == requests[step][-2:]


def test_the_list_of_a_run_is_the_chats_own_and_no_copy():
    chat = scripted_chat(done())
    assert run_agent(chat, "look around", approve=approve_all, quiet=True).messages is chat.messages


def test_everything_about_a_turn_has_a_heading(recorded):
    shown = repr(show_turn(recorded[0], 1))
    assert re.findall(r"^--- (.*)$", shown, re.M) == ["Sent: 2 messages", "Came back", "Approved?", "Result", "Tokens so far"]
    html = show_turn(recorded[0], 1)._repr_html_()
    assert all(f"<div>{title}</div>" in html for title in ("Sent: 2 messages", "Came back", "Approved?", "Result"))


def test_tokens_add_up_from_turn_to_turn():
    model = connect("practice", script=[call_text("list_files", path="."), done()])
    run = run_agent(Chat(model, "You have tools."), "look around", approve=approve_all, quiet=True)
    sent, received = (sum(numbers) for numbers in zip(*((turn.used.input_tokens, turn.used.output_tokens) for turn in run.turns)))
    assert (sent, received) == (model.usage.input_tokens, model.usage.output_tokens)
    took = f"{sent:,} sent, {received:,} received, as if ${model.usage.cost:.4f}"
    assert took in repr(show_turn(run, 2)) and f"Tokens: {took}." in repr(run)


def test_tokens_of_the_runs_before_do_not_count():
    model = connect("practice", script=[done()])
    first, second = (run_agent(Chat(model, "You have tools."), "look around", approve=approve_all, quiet=True) for _ in range(2))
    assert first.turns[0].used == second.turns[0].used


def test_tokens_that_were_not_reported_stay_unknown(recorded):
    assert "Tokens: unknown." in repr(recorded[0])
    silent = connect("practice", script=[call_text("list_files", path="."), done()], faults={2: "missing_usage"})
    run = run_agent(Chat(silent, "You have tools."), "look around", approve=approve_all, quiet=True)
    assert "unknown" not in repr(show_turn(run, 1)) and repr(show_turn(run, 2)).endswith("unknown")


def test_a_failed_request_shows_what_was_sent_and_leaves_the_count_as_it_was():
    down = connect("practice", script=[call_text("list_files", path=".")], faults={2: "always overload"}, max_retries=0)
    run = run_agent(Chat(down, "You have tools."), "look around", approve=approve_all, quiet=True)
    shown = repr(show_turn(run, 2))
    assert "--- Sent: 4 messages" in shown and "<tool_response" in shown and "(nothing)" in shown and "overloaded" in shown
    assert repr(show_turn(run, 1)).splitlines()[-1] == shown.splitlines()[-1]


def test_a_run_written_down_without_its_messages_shows_the_last_one_and_claims_no_more():
    run = AgentRun("look around", steps=2, turns=[Turn(1, "look around", "hm"), Turn(2, "go on", "hm")])
    assert "--- Sent: the last message\n" in repr(show_turn(run, 2)) and "sent: the last message" in run._repr_html_()


def test_an_empty_reply_of_unknown_cost_makes_the_sum_unknown():
    model = connect("practice", script=[call_text("list_files", path="."), "", done()], faults={2: "missing_usage"})
    run = run_agent(Chat(model, "You have tools."), "look around", approve=approve_all, quiet=True)
    assert "Tokens: unknown." in repr(run) and model.usage.input_tokens is None


def test_a_list_that_was_emptied_since_is_not_taken_for_what_was_sent(recorded):
    run, _ = recorded
    run.messages.clear()
    assert "--- Sent: the last message" in repr(show_turn(run, 3))


def test_a_step_that_there_was_not_is_named(recorded):
    with pytest.raises(ValueError, match="no step 9: it has 4 steps"):
        show_turn(recorded[0], 9)


def test_a_very_long_message_is_cut_in_its_middle_and_the_cut_is_said():
    run = AgentRun("x", steps=1, turns=[Turn(1, "a" * 90_000 + "END", "b" * 90_000)])
    assert len(repr(show_turn(run, 1))) < 15_000 and "characters ..." in repr(show_turn(run, 1)) and "END" in repr(show_turn(run, 1))
    assert len(run._repr_html_()) < 12_000

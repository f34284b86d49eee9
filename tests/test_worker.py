"""A run in a thread: what it tells, how it asks, and that nothing follows once it was stopped."""
import copy
import json
import sys
import threading
from types import SimpleNamespace

import pytest
from scripted import call_text, done, scripted_chat
from test_call_with_tools import reply, scripted

from agent_steps import CourseError
from agent_steps.ask_user import tools_interactive
from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom.question_console import QUESTIONER, ask_person
from agent_steps.classroom.worker import Worker
from agent_steps.make_it_safer import Policy, Workspace
from agent_steps.native_tools import tool
from agent_steps.providers import ModelError
from agent_steps.providers.formats import told_in
from agent_steps.run_agent import run_agent
from agent_steps.usage_and_cost import BudgetReached, within_budget
from agent_steps.wall.child import run_child

LIST = call_text("list_files", path=".")


def started(*replies, function=run_agent, **options):
    worker = Worker(function, scripted_chat(*replies), "look around", quiet=True, **options)
    worker.start()
    return worker


def answer(worker, *answers):
    """Answer question after question; return the stages of all events, and the events of the questions."""
    events = []
    for each in answers:
        while not events or events[-1].stage != "APPROVE":
            events.append(worker.events.get(timeout=10))
        worker.answers.put(each)
        events.append(worker.events.get(timeout=10)) if each == "y" else None
    worker.join(10)
    while not worker.events.empty():
        events.append(worker.events.get())
    return [event.stage for event in events], events


def test_the_stages_are_told_in_the_order_of_the_loop():
    stages, _ = answer(started(LIST, done()), "y", "y")
    assert stages == ["THINK", "APPROVE", "ACT", "OBSERVE", "THINK", "APPROVE", "ACT"]


def test_what_a_rule_answers_is_told_and_not_asked(tmp_path):
    workspace = Workspace(tmp_path)
    policy = Policy(workspace, deny=["read_file"], allow=["list_files"])
    stages, events = answer(started(LIST, call_text("read_file", path="a"), done(), policy=policy, call_tool=workspace.call_tool), "y")
    assert stages == ["THINK", "RULE", "ACT", "OBSERVE", "THINK", "RULE", "OBSERVE", "THINK", "APPROVE", "ACT"]
    assert [event.text for event in events if event.stage == "RULE"] == ["y", "n: a rule forbids this call. Do not try it again."]


def test_after_a_refusal_nothing_acts_and_the_refusal_is_observed():
    stages, events = answer(started(LIST, done()), "n: not now", "y")
    assert stages == ["THINK", "APPROVE", "OBSERVE", "THINK", "APPROVE", "ACT"]
    assert "The reason: not now" in events[2].text


def test_a_reply_without_a_call_is_observed_too():
    stages, events = answer(started("I wonder.", done()), "y")
    assert stages == ["THINK", "OBSERVE", "THINK", "APPROVE", "ACT"] and "Please call a tool" in events[1].text


def test_a_question_holds_the_parsed_call_and_what_the_model_said():
    _, events = answer(started(LIST, done()), "q")
    assert events[1].call.name == "list_files" and events[1].text.startswith("I will use list_files.")


def test_the_outcome_is_what_the_function_returns():
    worker = started(LIST, done())
    answer(worker, "y", "q")
    assert worker.outcome().stop_reason == "quit" and worker.outcome().tool_calls == 1


def test_the_chat_gets_what_was_said_and_keeps_its_own_model():
    chat = scripted_chat(done())
    model = chat.model
    worker = Worker(run_agent, chat, "look around", quiet=True)
    worker.start()
    answer(worker, "y")
    assert chat.messages == []   # not yet: the thread has a copy to itself
    worker.hand_back()
    assert chat.model is model and len(chat.messages) == 2 and worker.outcome().messages is chat.messages


def test_an_answer_belongs_to_one_call_even_if_two_threads_ask():
    worker = Worker(run_agent, scripted_chat(done()), "look around")
    answers = {}
    asking = [threading.Thread(target=lambda name=name: answers.update({name: worker.approve(name)})) for name in ("dangerous", "harmless")]
    for thread in asking:
        thread.start()
    asked = []
    for given in ("y", "n"):
        event = worker.events.get(timeout=10)
        while event.stage != "APPROVE":
            event = worker.events.get(timeout=10)
        asked.append(event.call)
        worker.answers.put(given)
    for thread in asking:
        thread.join(10)
    assert answers == {asked[0]: "y", asked[1]: "n"}


def test_a_function_may_take_a_model_in_place_of_a_chat():
    def ask_once(model, approve):
        return model.reply("", [{"role": "user", "content": "Hello"}]), model.name, repr(model)

    worker = Worker(ask_once, scripted_chat("Good day.").model)
    worker.run()
    reply, name, shown = worker.outcome()
    assert (reply, name) == ("Good day.", "practice") and shown.startswith("<model 'practice'")


def test_an_error_of_the_function_is_raised_where_the_outcome_is_wanted():
    chat = scripted_chat(done())
    chat.send("used")
    worker = Worker(run_agent, chat, "look around", quiet=True)
    worker.run()
    with pytest.raises(ValueError, match="already has a history"):
        worker.outcome()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_an_error_that_would_end_the_kernel_becomes_a_sentence(error):
    def ends(chat, approve):
        raise error

    worker = Worker(ends, scripted_chat(done()))
    worker.run()
    with pytest.raises(CourseError, match=error.__name__):
        worker.outcome()


def test_after_a_stop_an_open_question_ends_the_run_and_nothing_runs():
    ran = []
    worker = started(LIST, done(), call_tool=lambda *call: ran.append(call))
    assert [worker.events.get(timeout=10).stage for _ in range(2)] == ["THINK", "APPROVE"]
    worker.stop()
    worker.join(10)
    assert not worker.is_alive() and not ran and worker.events.empty()


def test_after_a_stop_a_yes_that_was_given_at_the_same_moment_runs_nothing():
    ran = []
    worker = started(LIST, done(), call_tool=lambda *call: ran.append(call))
    assert [worker.events.get(timeout=10).stage for _ in range(2)] == ["THINK", "APPROVE"]
    worker.stopped.set()
    worker.answers.put("y")
    worker.join(10)
    assert not ran and worker.events.empty()


def test_after_a_stop_a_late_reply_is_dropped_and_touches_no_chat():
    asked, may_answer = threading.Event(), threading.Event()
    chat = scripted_chat(LIST)

    class Slow:
        def reply(self, system_prompt, messages):
            asked.set()
            may_answer.wait(10)
            return LIST

    chat.model = slow = Slow()
    worker = Worker(run_agent, chat, "look around", quiet=True)
    worker.start()
    asked.wait(10)
    worker.stop()
    worker.hand_back()
    chat.messages.append("said since")
    may_answer.set()
    worker.join(10)
    assert chat.messages == ["said since"] and chat.model is slow
    assert [worker.events.get().stage] == ["THINK"] and worker.events.empty()


def test_a_stopped_run_asks_no_model_again():
    requests = []

    class Model:
        def reply(self, system_prompt, messages):
            requests.append(messages)
            return "hm"

    worker = Worker(lambda model, approve: [model.reply("", [{"role": "user", "content": "x"}]) for _ in range(2)], Model())
    worker.has_thought = lambda text, use: worker.stopped.set()
    worker.run()
    assert len(requests) == 1 and isinstance(worker.error, KeyboardInterrupt)


def test_a_stop_kills_the_child_process_that_a_tool_is_waiting_for(tmp_path):
    begun = tmp_path / "begun"
    code = f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\nprint('went on')"
    results = []

    def runs_code(chat, approve):
        results.append(run_child([sys.executable, "-c", code], timeout=60))

    worker = Worker(runs_code, scripted_chat(done()))
    worker.start()
    while not begun.exists() and worker.is_alive():
        worker.join(0.02)
    worker.stop()
    worker.join(20)
    assert not worker.is_alive() and not results


def test_after_a_stop_no_child_process_is_started(tmp_path):
    made = tmp_path / "made"
    worker = Worker(lambda chat, approve: run_child([sys.executable, "-c", f"open({str(made)!r}, 'w').close()"]), scripted_chat(done()))
    worker.stop()
    worker.run()
    assert isinstance(worker.error, KeyboardInterrupt) and not made.exists()


def test_a_stop_is_there_before_its_answer_to_the_open_question():
    worker = Worker(run_agent, scripted_chat(done()), "look around")
    given = []
    worker.answers = SimpleNamespace(put=lambda answer: given.append((answer, worker.stopped.is_set())))
    worker.stop()
    assert given == [("q", True)]


def test_a_second_question_waits_until_the_first_is_answered():
    worker = Worker(run_agent, scripted_chat(done()), "look around")
    worker.one_question.acquire()   # somebody is being asked
    second = threading.Thread(target=worker.approve, args=("second",), daemon=True)
    second.start()
    second.join(0.2)
    assert worker.events.empty()
    worker.one_question.release()
    assert worker.events.get(timeout=10).call == "second"
    worker.answers.put("n")
    second.join(10)


def test_a_run_does_not_keep_the_kernel_from_ending():
    assert Worker(run_agent, scripted_chat(done()), "look around").daemon


def test_a_watched_model_can_be_copied():
    model = Worker(run_agent, scripted_chat(done()), "look around").watched.model
    assert copy.copy(model).name == "practice"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_watched_model_that_is_limited_is_still_watched_and_still_limited(wire):
    model = scripted(wire, TWO_CALLS)
    worker = Worker(lambda model, approve: call_with_tools(within_budget(model, tokens=300, longest_reply=100), "Go.", [look], approve=approve), model)
    for _ in range(2):
        worker.answers.put("y")
    worker.run()
    with pytest.raises(BudgetReached, match="The next request might take"):
        worker.outcome()
    assert [event.stage for event in all_events(worker)] == ["THINK", "APPROVE", "ACT", "APPROVE", "ACT", "OBSERVE", "THINK"]
    assert len(model.requests) == model.usage.calls == 1   # what the copy took is counted by the model, too
    assert model.before_request is None and "max_tokens" not in model.options   # the limit is the copy's


# ---- native calls, and questions of the model ----

def question(text):
    options = [{"label": label, "description": "One of two."} for label in ("a.csv", "b.csv")]
    return {"question": text, "header": "File", "multiSelect": False, "options": options}


def asks(text):
    """A reply that asks the person one question."""
    return reply(("1", "ask_user", json.dumps({"questions": [question(text)]})))


def look(path: str) -> str:
    """Look at a file."""
    return f"{path}: 3 lines"


def native_worker(*replies, wire="openai", **options):
    return Worker(call_with_tools, scripted(wire, *replies), "Go.", [tool(look), *tools_interactive()], **options)


def next_question(worker, stage):
    """Wait for the next question of a kind, and return its event."""
    event = worker.events.get(timeout=10)
    while event.stage != stage:
        event = worker.events.get(timeout=10)
    return event


def all_events(worker):
    found = []
    while not worker.events.empty():
        found.append(worker.events.get())
    return found


TWO_CALLS = reply(("1", "look", '{"path": "a"}'), ("2", "look", '{"path": "b"}'))


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_native_calls_are_told_as_the_others_are_and_all_their_results_observed(wire):
    worker = native_worker(TWO_CALLS, wire=wire)
    worker.answers.put("y")
    worker.answers.put("y")
    worker.run()
    events = all_events(worker)
    assert [event.stage for event in events] == ["THINK", "APPROVE", "ACT", "APPROVE", "ACT", "OBSERVE", "THINK"]
    assert events[1].text == "I look." and events[5].text == "a: 3 lines\nb: 3 lines"
    assert events[0].took == "" and "sent" in events[1].took and worker.outcome().stop_reason == "answer"


@pytest.mark.parametrize("messages, text", [
    ([{"role": "user", "content": "Go."}], "Go."), ([], ""),
    ([{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "On."}], "On."),
    ([{"role": "assistant", "content": None}, {"role": "tool", "content": "one"}, {"role": "tool", "content": ""}, {"role": "user", "content": "two"}], "one\ntwo"),
    ([{"role": "assistant", "content": []}, {"role": "user", "content": [
        {"type": "tool_result", "content": "one"}, {"type": "tool_result", "content": [{"type": "text", "text": "two"}, {"type": "image"}]},
        {"type": "tool_result"}, {"type": "text", "text": "three"}]}], "one\ntwo\nthree")])
def test_what_a_model_is_told_is_what_came_since_its_last_reply(messages, text):
    assert told_in(messages) == text


def test_a_request_that_is_tried_again_is_no_step_of_its_own():
    class Unreliable:
        wire, stop_reason, last_request, failures = "openai", "end", None, 2

        def reply(self, system_prompt, messages):
            raise NotImplementedError

        def native_reply(self, messages, tools=(), **parameters):
            self.failures -= 1
            if self.failures >= 0:
                raise ModelError("busy", may_pass=True)
            return {"role": "assistant", "content": "Here I am."}

    worker = Worker(call_with_tools, Unreliable(), "Go.", [look], tries=3, wait_seconds=0)
    worker.run()
    assert worker.outcome().text == "Here I am." and [event.stage for event in all_events(worker)] == ["THINK"]


def test_a_stopped_run_makes_no_native_request():
    worker = native_worker()
    worker.stop()
    worker.run()
    assert isinstance(worker.error, KeyboardInterrupt) and worker.events.empty()


def test_a_question_of_the_model_comes_as_an_event_and_its_answer_goes_to_the_model():
    worker = native_worker(asks("Which file?"))
    worker.start()
    next_question(worker, "APPROVE")
    worker.answers.put("y")
    assert next_question(worker, "ASK").questions == [question("Which file?")]
    worker.answers.put({"Which file?": ["b.csv"]})
    worker.join(10)
    assert '"selected": ["b.csv"]' in worker.outcome().rows[0]["result"]


def test_after_a_stop_an_open_question_of_the_model_ends_the_run_and_answers_nothing():
    worker = native_worker(asks("Which file?"))
    worker.answers.put("y")
    worker.start()
    next_question(worker, "ASK")
    worker.stop()
    worker.join(10)
    assert not worker.is_alive() and isinstance(worker.error, KeyboardInterrupt) and worker.events.empty()


def test_a_question_of_the_model_waits_until_a_call_is_decided():
    worker = native_worker()
    worker.one_question.acquire()   # a call is being asked about
    asking = threading.Thread(target=worker.ask_person, args=([question("Which file?")],), daemon=True)
    asking.start()
    asking.join(0.2)
    assert worker.events.empty()
    worker.one_question.release()
    assert worker.events.get(timeout=10).stage == "ASK"
    worker.answers.put({})
    asking.join(10)


def test_two_runs_at_once_never_see_each_others_questions():
    workers = {text: native_worker(asks(text)) for text in ("First?", "Second?")}
    for worker in workers.values():
        worker.answers.put("y")
        worker.start()
    for text in ("Second?", "First?"):   # both are waiting; the later one is answered first
        [asked] = next_question(workers[text], "ASK").questions
        assert asked["question"] == text
        workers[text].answers.put({text: [f"mine, for {text}"]})
    for text, worker in workers.items():
        worker.join(10)
        assert f'"other_text": "mine, for {text}"' in worker.outcome().rows[0]["result"]


def test_outside_the_run_and_after_it_nobody_asks_in_its_panel():
    worker = Worker(lambda chat, approve: QUESTIONER.get(), scripted_chat(done()))
    worker.run()
    assert worker.outcome() == worker.ask_person and QUESTIONER.get() is None


def test_a_tool_asks_in_the_panel_of_the_thread_it_runs_in():
    worker = Worker(lambda chat, approve: ask_person([question("Which file?")]), scripted_chat(done()))
    worker.answers.put({"Which file?": ["a.csv"]})
    worker.run()
    assert worker.outcome() == {"Which file?": ["a.csv"]} and worker.events.get().stage == "ASK"

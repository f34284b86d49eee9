"""What a research agent knows: typed, kept whole in a file, told in short, and decided about by a person."""
import copy
import inspect
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from books import ROOT
from pydantic import ValidationError
from scripted import types

from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom import in_panel
from agent_steps.classroom.question_console import QUESTIONER, HumanInputUnavailable
from agent_steps.classroom.worker import Worker
from agent_steps.interrupt_and_resume import turns_of
from agent_steps.native_tools import tool
from agent_steps.providers import connect
from agent_steps.providers.formats import results_in, text_of
from agent_steps.research_state import (
    SUMMARY_PROMPT, VERSION, AgentPhase, HumanCheckpoint, ResearchState, StateError, approve_outline, approve_plan, as_lines, first_problem,
    in_parts, layered, record, retrieved, review_draft, review_facts, saved_at_the_end, select_sources, summarised, with_note)

QUESTIONS = ["What makes the tide rise?", "How is a tide table made?"]
RESULT = {"url": "spring-and-neap.html", "title": "Spring tides", "snippet": "The moon pulls at the sea."}
PAGE = {"url": "spring-and-neap.html", "title": "Spring tides", "content": "The moon pulls at the sea. So does the sun."}
FACT = {"fact": "The moon pulls at the sea.", "source_url": "spring-and-neap.html", "quote": "The moon pulls at the sea."}
SECTION = {"heading": "The moon", "facts": [1]}
TYPES = {
    "topic": str, "requirements": str, "phase": AgentPhase, "research_questions": list, "search_queries": list, "search_results": list,
    "fetched_pages": list, "extracted_facts": list, "report_outline": list, "report_draft": str, "final_report": str, "messages": list,
    "feedback_history": list}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def state():
    """A state in which every field holds something."""
    return ResearchState(
        topic="How do people predict the tides?", requirements="in metres, größer als 0", phase=AgentPhase.READING, research_questions=QUESTIONS,
        search_queries=["spring tides"], search_results=[RESULT], fetched_pages=[PAGE], extracted_facts=[FACT], report_outline=[SECTION],
        report_draft="## The moon\n", final_report="# Tides\n", messages=openai_talk(), feedback_history=[{"action": "plan", "added": ["a"]}])


# ---- conversations in both formats ----

TASK, NAME, LAST = [{"role": "user", "content": text} for text in ("How many CSV files are there?", "My name is Ada.", "And how many text files?")]
ANSWER = {"role": "assistant", "content": "There is one."}
RULE = {"role": "system", "content": "Be short."}


def openai_turn(number, count=2):
    calls = [{"id": f"call_{number}{at}", "type": "function", "function": {"name": "list_files", "arguments": '{"path": "data"}'}} for at in range(count)]
    return [{"role": "assistant", "content": "I will look.", "tool_calls": calls},
            *[{"role": "tool", "tool_call_id": call["id"], "content": f"tides_{number}.csv"} for call in calls]]


def anthropic_turn(number, count=2):
    calls = [{"type": "tool_use", "id": f"call_{number}{at}", "name": "list_files", "input": {"path": "data"}} for at in range(count)]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": f"tides_{number}.csv"} for call in calls]
    return [{"role": "assistant", "content": [{"type": "text", "text": "I will look."}, *calls]}, {"role": "user", "content": results}]


TURNS = {"openai": openai_turn, "anthropic": anthropic_turn}


def talk(wire):
    turn = TURNS[wire]
    return [TASK, *turn(1), ANSWER, NAME, ANSWER, *turn(2), ANSWER, LAST, *turn(3)]


def openai_talk():
    return talk("openai")


both_formats = pytest.mark.parametrize("wire", TURNS)


# ---- the fields ----

def test_the_thirteen_fields_begin_empty_and_in_the_planning_phase():
    state = ResearchState()
    assert {name: type(value) for name, value in state} == TYPES and len(TYPES) == 13
    assert state.phase == "planning" and not [value for name, value in state if name != "phase" and value]


def test_the_phases_are_those_of_a_research_in_their_order():
    assert [each.value for each in AgentPhase] == ["planning", "searching", "reading", "synthesizing", "writing", "reviewing", "complete"]
    assert f"{AgentPhase.PLANNING}" == "planning"


def test_two_states_share_nothing():
    one, other = ResearchState(), ResearchState()
    one.research_questions.append("Why?")
    one.messages.append(TASK)
    assert other == ResearchState()


@pytest.mark.parametrize(("name", "value", "problem"), [
    ("reserach_questions", [], "reserach_questions"), ("topic", 3, "topic: Input should be a valid string"), ("topic", None, "topic"),
    ("phase", "dreaming", "phase: Input should be 'planning'"), ("research_questions", "What makes the tide rise?", "research_questions: Input should be a valid list"),
    ("research_questions", [1], "research_questions.0: Input should be a valid string"), ("search_queries", {"a": 1}, "search_queries"),
    ("search_results", [{"url": "a", "title": "b"}], "search_results.0.snippet: Field required"),
    ("search_results", [RESULT | {"score": 1}], "search_results.0.score: Extra inputs are not permitted"),
    ("fetched_pages", [RESULT], "fetched_pages.0.content"), ("extracted_facts", [FACT | {"quote": None}], "extracted_facts.0.quote"),
    ("report_outline", [{"heading": "Moon", "facts": ["one"]}], "report_outline.0.facts.0"), ("messages", ["Hello"], "messages.0"),
    ("feedback_history", ["approved"], "feedback_history.0"),
])
def test_a_typo_or_a_wrong_type_is_refused_and_nothing_changes(state, name, value, problem):
    before = state.model_copy(deep=True)
    with pytest.raises(ValidationError) as refused:
        setattr(state, name, value)
    assert first_problem(refused.value).startswith(problem) and state == before
    with pytest.raises(ValidationError):
        ResearchState(**{name: value})


def test_a_phase_may_be_given_as_its_word():
    state = ResearchState(phase="reading")
    state.phase = "writing"
    assert state.phase is AgentPhase.WRITING


def test_a_list_that_is_assigned_is_copied():
    mine, state = list(QUESTIONS), ResearchState()
    state.research_questions = mine
    mine.append("Why?")
    assert state.research_questions == QUESTIONS


def test_the_first_problem_of_another_error_is_its_text():
    assert first_problem(ValueError("no")) == "no"


# ---- what a prompt is told ----

def test_the_context_tells_the_questions_in_full_and_of_all_else_the_number(state):
    assert state.to_context_string() == """Topic: How do people predict the tides?
Requirements: in metres, größer als 0
Phase: reading
Research questions (2):
- What makes the tide rise?
- How is a tide table made?
Search queries: 1
Search results: 1
Pages read: 1
Facts: 1
Outline sections: 1
Draft: yes"""


def test_the_context_of_an_empty_state_says_so():
    told = ResearchState(topic="Tides").to_context_string()
    assert "Requirements: none\n" in told and "Research questions (0):\nSearch queries: 0\n" in told and told.endswith("Draft: no")


def test_the_context_does_not_grow_with_pages_and_messages(state):
    before = len(state.to_context_string())
    state.fetched_pages = [PAGE | {"content": "long " * 10_000}] * 9
    state.messages = openai_talk() * 9
    assert len(state.to_context_string()) == before


def test_the_summary_is_one_line_without_a_model(state):
    assert state.summarize_for_context() == "reading: 2 questions, 1 results, 1 pages read, 1 facts"


@both_formats
@pytest.mark.parametrize("most", [1, 2, 5, 8, 12, 40])
def test_trimming_keeps_the_task_and_no_result_without_its_call(wire, most):
    state = ResearchState(messages=talk(wire))
    state.trim_messages(most)
    assert state.messages[0] == TASK and is_taken(wire, state.messages)
    assert len(state.messages) <= max(most, 5)


def test_trimming_below_one_is_refused_and_changes_nothing(state):
    with pytest.raises(ValueError):
        state.trim_messages(0)
    assert state.messages == openai_talk()


def test_what_a_loop_appends_to_is_still_the_states_list_after_trimming(state):
    held = state.messages
    state.trim_messages(2)
    held.append(ANSWER)
    assert state.messages is held and state.messages == [TASK, *openai_talk()[-4:], ANSWER]


def is_taken(wire, messages):
    """Whether the practice model, which is as strict as the services, takes these messages."""
    connect("practice", wire=wire).native_reply(messages)
    return True


# ---- saved and loaded ----

def test_a_state_comes_back_equal(state, here):
    state.save()
    assert ResearchState.load() == state and [each.name for each in here.iterdir()] == ["agent_state.json"]


def test_what_is_saved_can_be_read_by_people(state, here):
    state.save("mine.json")
    text = (here / "mine.json").read_text(encoding="utf-8")
    assert text.startswith('{\n  "research_state": 1,\n  "topic": "How do') and "größer" in text
    assert json.loads(text).keys() == {"research_state", *TYPES}


def test_a_subclass_is_saved_with_its_field_and_comes_back_as_itself(here):
    class Longer(ResearchState):
        budget: int = 0

    Longer(topic="Tides", budget=3).save("longer.json")
    assert Longer.load("longer.json").budget == 3
    with pytest.raises(StateError, match="budget: Extra inputs are not permitted"):
        ResearchState.load("longer.json")


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"content": value}
    return value


@pytest.mark.parametrize(("spoil", "problem"), [
    (lambda state: state.research_questions.append(3), "research_questions.2: Input should be a valid string"),
    (lambda state: state.search_results[0].pop("url"), "search_results.0.url: Field required"),
    (lambda state: state.extracted_facts[0].update(page=3), "extracted_facts.0.page: Extra inputs"),
    (lambda state: state.messages.append("Hello"), "messages"),
    (lambda state: state.messages.append({"role": "user", "content": {1, 2}}), "set is not JSON serializable"),
    (lambda state: state.messages.append({"content": float("nan")}), "Out of range float values"),
    (lambda state: state.messages.append({"content": state.messages}), "ircular reference"),
    (lambda state: state.feedback_history.append({("a", "b"): 1}), "keys must be"), (lambda state: state.messages.append(nested(100_000)), "recursion"),
])
def test_what_was_changed_in_place_is_caught_at_the_save_and_the_file_stays(state, here, spoil, problem):
    state.save()
    before = (here / "agent_state.json").read_bytes()
    spoil(state)
    with pytest.raises(StateError, match=problem) as refused:
        state.save()
    assert str(refused.value).startswith("The state was not saved: ") and str(refused.value).endswith("The file is as it was.")
    assert (here / "agent_state.json").read_bytes() == before


def test_half_a_character_is_saved_as_a_question_mark(here):
    ResearchState(topic="a\ud83d").save()
    assert ResearchState.load().topic == "a?"


@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_save_that_fails_in_the_middle_leaves_the_old_file(state, here, monkeypatch, place):
    state.save()
    before = (here / "agent_state.json").read_bytes()

    def fails(*arguments):
        raise OSError("the disk is full")

    state.topic = "another " * 1000
    with monkeypatch.context() as patched, pytest.raises(OSError, match="the disk is full"):
        patched.setattr(os, place, fails)
        state.save()
    assert (here / "agent_state.json").read_bytes() == before
    state.save()   # and afterwards it works again
    assert ResearchState.load() == state


def test_a_file_that_is_not_there_is_an_oserror_and_none_is_made(here):
    with pytest.raises(FileNotFoundError):
        ResearchState.load()
    with pytest.raises(OSError):
        ResearchState().save("no_folder/state.json")
    assert not list(here.iterdir())


SAVES = """
from agent_steps.research_state import ResearchState
state = ResearchState(topic="Tides")
for number in range(100_000):
    state.fetched_pages.append({"url": str(number), "title": "", "content": "tide " * 2000})
    del state.fetched_pages[:-20]
    state.save()
    if number == 30:
        print("saved", flush=True)
"""


def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_file(here):
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen([sys.executable, "-c", SAVES], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths})
    with child:
        child.stdout.readline()
        child.kill()
    state = ResearchState.load()
    assert len(state.fetched_pages) == 20 and all(page["content"] == "tide " * 2000 for page in state.fetched_pages)


# ---- files that hold no state, or not this one ----

def refused(path, content):
    """Load a file that must be refused; return the reason. Nothing about it may change."""
    path.write_bytes(content)
    with pytest.raises(StateError) as reason:
        ResearchState.load(path)
    assert path.read_bytes() == content and [each.name for each in path.parent.iterdir()] == [path.name]
    assert reason.value.__context__ is None or reason.value.__suppress_context__
    assert str(path.parent) not in str(reason.value)
    return str(reason.value)


@pytest.fixture
def saved(state, tmp_path):
    """The bytes of a saved state, with no file left."""
    path = tmp_path / "whole.json"
    state.save(path)
    whole = path.read_bytes()
    path.unlink()
    return whole


@pytest.mark.parametrize("part", [0, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_anywhere_is_refused_and_left_alone(saved, tmp_path, part):
    reason = refused(tmp_path / "bad.json", saved[:int(part * len(saved))])
    assert reason == "bad.json holds no whole research state. Nothing was changed. Mend it, or move it away to begin anew."


@pytest.mark.parametrize("content", [b"[]", b"3", b"null", b'"text"', b"{}", b'{"topic": "Tides"}', b"\xff\xfe{}", b"[" * 100_000, b"not json", b"\x00" * 50,
                                     b'{"research_state": NaN}'])
def test_what_is_no_state_at_all_is_refused_and_left_alone(tmp_path, content):
    assert refused(tmp_path / "bad.json", content).startswith("bad.json holds no whole research state.")


@pytest.mark.parametrize("version", [2, 0, -1, True, False, None, "1", 1.5, [1]])
def test_another_form_is_refused_and_left_alone(saved, tmp_path, version):
    content = json.dumps(json.loads(saved) | {"research_state": version}).encode()
    reason = refused(tmp_path / "bad.json", content)
    assert reason.startswith(f"bad.json has form {version!r}, and this program reads form {VERSION}. Nothing was changed.")


@pytest.mark.parametrize("name", TYPES)
def test_a_missing_field_is_named(saved, tmp_path, name):
    fields = json.loads(saved)
    del fields[name]
    assert refused(tmp_path / "bad.json", json.dumps(fields).encode()).startswith(f"bad.json lacks {name}. Nothing was changed.")


@pytest.mark.parametrize(("change", "problem"), [
    ({"colour": "blue"}, "colour: Extra inputs are not permitted"), ({"topic": 3}, "topic: Input should be a valid string"),
    ({"phase": "dreaming"}, "phase: Input should be 'planning'"), ({"messages": None}, "messages: Input should be a valid list"),
    ({"extracted_facts": [FACT | {"source_url": 3}]}, "extracted_facts.0.source_url"),
])
def test_an_unknown_field_or_a_wrong_value_is_named(saved, tmp_path, change, problem):
    reason = refused(tmp_path / "bad.json", json.dumps(json.loads(saved) | change).encode())
    assert reason.startswith(f"bad.json: {problem}") and "Nothing was changed." in reason and "https://" not in reason


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e999"])
def test_a_number_that_could_not_be_saved_again_is_refused(saved, tmp_path, number):
    content = saved.replace(b'"added": [', b'"score": ' + number + b', "added": [')
    assert content != saved and refused(tmp_path / "bad.json", content).startswith("bad.json holds no whole research state.")


def test_a_folder_in_the_place_of_the_file_is_an_oserror_and_stays(tmp_path):
    for reach in (ResearchState.load, ResearchState().save):
        with pytest.raises(OSError):
            reach(tmp_path)
    assert tmp_path.is_dir()


def test_what_an_editor_adds_does_no_harm(state, saved, tmp_path):
    path = tmp_path / "edited.json"
    path.write_bytes(b"\xef\xbb\xbf" + saved.replace(b"\n", b"\r\n") + b"\r\n")
    assert ResearchState.load(path) == state


# ---- saved when a block ends ----

@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_state_is_saved_by_whatever_ends_the_block_and_the_error_passes(here, error):
    state = ResearchState()
    with pytest.raises(error), saved_at_the_end(state) as same:
        same.topic = "Tides"
        raise error
    assert same is state and ResearchState.load().topic == "Tides"


def test_a_state_is_saved_at_a_good_end_and_under_the_name_that_was_given(here):
    with saved_at_the_end(ResearchState(), "mine.json") as state:
        state.phase = "complete"
    assert ResearchState.load("mine.json").phase == "complete"


def test_a_save_that_fails_at_the_end_does_not_hide_what_ended_the_block(here):
    state = ResearchState()
    with pytest.raises(StateError) as failed, saved_at_the_end(state):
        state.research_questions.append(3)
        raise KeyboardInterrupt
    assert isinstance(failed.value.__context__, KeyboardInterrupt) and not failed.value.__suppress_context__


# ---- the record ----

@pytest.mark.parametrize(("before", "after", "removed", "added", "changed"), [
    (["a", "b"], ["b", "c"], ["a"], ["c"], True), (["a"], ["a"], [], [], False), (["a", "b"], ["b", "a"], [], [], True), ([], [FACT], [], [FACT], True),
    ([FACT, SECTION], [FACT], [SECTION], [], True), (["a", "a"], ["a"], ["a"], [], True), ([], [], [], [], False),
    ([FACT, FACT], [FACT], [FACT], [], True), (["a"], ["a", "a", "b"], [], ["a", "b"], True), (["a", "b", "a"], ["b"], ["a", "a"], [], True),
])
def test_the_record_says_what_was_taken_out_and_put_in(before, after, removed, added, changed):
    state = ResearchState(phase="reading")
    record(state, "facts", before, after, asked=True)
    assert state.feedback_history == [{"phase": "reading", "action": "facts", "asked": True, "removed": removed, "added": added, "changed": changed}]


def test_a_record_without_lists_says_what_was_decided():
    state = ResearchState()
    record(state, "draft", decided="revise", feedback="shorter")
    assert state.feedback_history == [{"phase": "planning", "action": "draft", "decided": "revise", "feedback": "shorter"}]


def test_a_record_does_not_change_with_what_was_recorded():
    state, facts, more = ResearchState(), [copy.deepcopy(FACT)], {"why": ["old"]}
    record(state, "facts", facts, [], more=more)
    before = copy.deepcopy(state.feedback_history)
    facts[0]["fact"] = "changed"
    more["why"].append("changed")
    assert state.feedback_history == before


def test_records_stand_in_their_order_and_survive_a_save(here):
    state = ResearchState()
    for action in ("plan", "sources", "facts"):
        record(state, action, [], ["a"])
    state.save()
    assert [each["action"] for each in ResearchState.load().feedback_history] == ["plan", "sources", "facts"]


# ---- the parts of a conversation ----

@both_formats
@pytest.mark.parametrize("keep", range(0, 20))
def test_the_parts_are_the_whole_and_no_call_is_parted_from_its_results(wire, keep):
    messages = talk(wire)
    beginning, older, newest = in_parts(messages, keep)
    assert beginning == [TASK] and [*beginning, *sum(older, []), *newest] == messages
    assert not results_in(newest[0]) and not [turn for turn in older if results_in(turn[0])]
    assert len(newest) <= max(keep, len(turns_of(messages)[-1]))


@both_formats
def test_the_newest_turn_stays_however_long_it_is(wire):
    turn = TURNS[wire](1, count=9)
    assert in_parts([TASK, ANSWER, *turn], 2) == ([TASK], [[ANSWER]], turn)


@pytest.mark.parametrize(("messages", "parts"), [
    ([], ([], [], [])), ([TASK], ([TASK], [], [])), ([RULE, TASK, ANSWER], ([RULE, TASK], [], [ANSWER])),
    ([ANSWER, ANSWER], ([], [[ANSWER]], [ANSWER])), ([RULE, RULE], ([RULE, RULE], [], [])), ([RULE, ANSWER, ANSWER], ([RULE], [[ANSWER]], [ANSWER])),
    ([{"role": "developer", "content": "Be short."}, ANSWER], ([{"role": "developer", "content": "Be short."}], [], [ANSWER])),
])
def test_a_short_conversation_has_parts_too(messages, parts):
    assert in_parts(messages, 1) == parts


@both_formats
def test_a_turn_as_text_says_who_said_called_and_returned_what(wire):
    assert as_lines(turns_of([TASK])[0]) == "user: How many CSV files are there?"
    text = as_lines(turns_of(TURNS[wire](1, count=1))[0])
    assert text == 'assistant: I will look.\ncall: list_files {"path": "data"}\nresult: tides_1.csv'


def test_half_a_character_in_a_call_does_not_stop_a_summary_or_a_search():
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"word": "moon \\ud83d"}'}}
    messages = [TASK, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "none"}, ANSWER]
    assert as_lines(messages[1:3]) == 'assistant: \ncall: find {"word": "moon ?"}\nresult: none'
    assert retrieved(messages, "moon", keep=1) == messages and "none" in text_of(summarised(connect("practice"), messages, 1)[0])


def test_a_note_stands_behind_the_task_and_the_task_is_not_changed():
    before = copy.deepcopy(TASK)
    assert with_note([ANSWER, TASK], "A note.") == [ANSWER, {"role": "user", "content": "How many CSV files are there?\n\nA note."}] and before == TASK
    assert with_note([{"role": "user", "content": [{"type": "text", "text": "Hello"}]}], "A note.") == [{"role": "user", "content": "Hello\n\nA note."}]
    assert with_note([], "A note.") == [{"role": "user", "content": "A note."}]
    assert with_note([RULE], "A note.") == [RULE, {"role": "user", "content": "A note."}]   # what was said is no rule


# ---- memory strategies ----

class Noting:
    """A model that keeps what it was asked."""

    def __init__(self, answer="In short."):
        self.answer, self.asked = answer, []

    def reply(self, system_prompt, messages):
        self.asked.append((system_prompt, copy.deepcopy(messages)))
        return self.answer


@both_formats
def test_a_summary_takes_the_place_of_the_older_turns(wire):
    model, messages = Noting(), talk(wire)
    before = copy.deepcopy(messages)
    kept = summarised(model, messages, keep=4)
    assert kept == [{"role": "user", "content": f"{TASK['content']}\n\nWhat was said since then, in short: In short."}, *messages[-len(kept) + 1:]]
    [(system_prompt, [asked])] = model.asked
    assert system_prompt == "" and asked["content"].startswith(f"{SUMMARY_PROMPT}\n\n<conversation>\nassistant: I will look.\ncall: list_files")
    assert "user: My name is Ada." in asked["content"] and "tides_3.csv" not in asked["content"] and TASK["content"] not in asked["content"]
    assert messages == before and is_taken(wire, kept)


def test_where_nothing_is_older_no_summary_is_asked_for():
    model, messages = Noting(), [TASK, *openai_turn(1)]
    kept = summarised(model, messages)
    assert kept == messages and kept is not messages and model.asked == []


@both_formats
def test_the_practice_model_writes_such_a_summary_and_knows_the_name_from_it(wire):
    model = connect("practice", wire=wire)
    kept = summarised(model, talk(wire), keep=4)
    assert "The person said: My name is Ada." in text_of(kept[0])
    assert text_of(model.native_reply([*kept, {"role": "user", "content": "What is my name?"}])) == "Your name is Ada."


@both_formats
def test_retrieval_brings_the_turns_that_fit_in_their_order(wire):
    kept = retrieved(talk(wire), "What is my name? And what was in tides_1.csv?", keep=4, top=2)
    assert kept[0] == TASK and NAME in kept and kept[1:3] == TURNS[wire](1)[:2] and is_taken(wire, kept)
    assert not [each for each in kept if "tides_2.csv" in str(each)]


@both_formats
def test_retrieval_of_nothing_that_fits_leaves_the_task_and_the_newest(wire):
    messages = talk(wire)
    kept = retrieved(messages, "zebra", keep=4)
    beginning, _, newest = in_parts(messages, 4)
    assert kept == [*beginning, *newest] and is_taken(wire, kept)


def test_what_fits_best_does_not_come_before_what_was_said_earlier():
    messages = [TASK, *[{"role": "user", "content": text} for text in ("The moon is far.", "The moon, the sun.", "Nothing.")]]
    assert retrieved(messages, "moon and sun", keep=1) == messages


def test_retrieval_brings_no_more_than_was_asked_for():
    messages = [TASK, *[{"role": "user", "content": f"tide number {number}"} for number in range(9)], ANSWER]
    assert len(retrieved(messages, "tide", keep=1, top=3)) == 1 + 3 + 1


@both_formats
def test_layers_are_the_facts_and_decisions_in_the_tasks_message(wire):
    state = ResearchState(messages=talk(wire), extracted_facts=[FACT])
    record(state, "units", depths="metres")
    kept = layered(state, keep=4)
    assert text_of(kept[0]) == (f"{TASK['content']}\n\nFacts so far:\n- The moon pulls at the sea. (spring-and-neap.html)\nDecisions so far:\n"
                                '- {"phase": "planning", "action": "units", "depths": "metres"}')
    assert NAME not in kept and is_taken(wire, kept) and state.messages == talk(wire)
    assert kept[1:] == in_parts(state.messages, 4)[2] != layered(state, keep=9)[1:]


def test_layers_of_a_state_without_messages_are_a_message_of_their_own():
    assert layered(ResearchState()) == [{"role": "user", "content": "Facts so far:\nDecisions so far:"}]
    assert retrieved([], "Why?") == [] and summarised(Noting(), []) == []


def test_no_strategy_forgets_the_rules_where_there_is_no_task():
    messages = [RULE, ANSWER, *openai_turn(1), ANSWER]
    for kept in (summarised(Noting(), messages, 1), retrieved(messages, "tides", 1), layered(ResearchState(messages=messages), 1)):
        assert kept[0] == RULE and kept[-1] == ANSWER


@both_formats
def test_a_loop_goes_on_with_what_each_strategy_keeps(wire, here):
    @tool
    def list_files(path: str = ".") -> str:
        """List all files in a folder."""
        return "a.csv\nb.csv"

    model, state = connect("practice", wire=wire), ResearchState(messages=talk(wire))
    for kept in (summarised(model, state.messages, 4), retrieved(state.messages, "name", 4), layered(state, 4)):
        result = call_with_tools(model, [*kept, {"role": "user", "content": "How many CSV files are in the data folder?"}], [list_files])
        assert result.text.startswith("There are 2 CSV files")


# ---- the checkpoints, at the prompt ----

CHECKPOINTS = {
    "plan": lambda: approve_plan(QUESTIONS, ["tides"]), "sources": lambda: select_sources([RESULT]), "facts": lambda: review_facts([FACT]),
    "outline": lambda: approve_outline([SECTION]), "draft": lambda: review_draft("A draft."), "confirm": lambda: HumanCheckpoint.confirm("Go on?")}
every_checkpoint = pytest.mark.parametrize("checkpoint", CHECKPOINTS.values(), ids=CHECKPOINTS)


@every_checkpoint
@pytest.mark.parametrize("lines", [[], [""] * 10, ["perhaps"] * 10, ["y"] * 10])
def test_enter_or_anything_unclear_never_decides(monkeypatch, capsys, checkpoint, lines):
    types(monkeypatch, *lines)
    with pytest.raises(HumanInputUnavailable):
        checkpoint()


@every_checkpoint
def test_where_nobody_answers_the_host_hears_of_it(monkeypatch, capsys, checkpoint):
    def no_front_end(prompt=""):
        raise NotImplementedError

    monkeypatch.setattr("builtins.input", no_front_end)
    with pytest.raises(HumanInputUnavailable, match="Nobody is here to answer"):
        checkpoint()


def test_a_plan_is_approved_as_it_is_or_rejected(monkeypatch, capsys):
    types(monkeypatch, "", "approve", "reject")
    assert approve_plan(QUESTIONS, ["tides"]) == (QUESTIONS, ["tides"], True)
    assert approve_plan(QUESTIONS, ["tides"]) == ([], [], False)
    assert "Plan:\nQuestions:\n  1. What makes the tide rise?\n  2. How is a tide table made?\nSearch queries:\n  1. tides\nIs this the plan?\n" in capsys.readouterr().out


def test_a_plan_can_be_written_anew_and_added_to_and_is_shown_again_before_it_counts(monkeypatch, capsys):
    left = types(monkeypatch, "modify", "One? ; Two?;; ", "", "add", "Three?", "moon; sun", "approve")
    given = list(QUESTIONS), ["tides"]
    assert approve_plan(*given) == (["One?", "Two?", "Three?"], ["tides", "moon", "sun"], True)
    assert left == [] and given == (QUESTIONS, ["tides"])
    shown = capsys.readouterr().out
    assert shown.count("Is this the plan?") == 3 and "  3. Three?\nSearch queries:\n  1. tides\n  2. moon\n  3. sun\nIs this" in shown


def test_a_plan_and_an_outline_of_nothing_say_so(monkeypatch, capsys):
    types(monkeypatch, "approve", "no")
    assert approve_plan([], []) == ([], [], True) and approve_outline([]) == ([], False)
    shown = capsys.readouterr().out
    assert "Questions:\n  (none)\nSearch queries:\n  (none)\nIs this the plan?" in shown and "Headings:\n  (none)\nIs this" in shown


def test_no_line_of_what_a_model_wrote_passes_for_an_option(monkeypatch, capsys):
    types(monkeypatch, "reject", "no", "approve")
    trap = "The moon?\n  1. approve: stop here\r\n  2. reject: go on"
    approve_plan([trap], [trap])
    approve_outline([{"heading": trap, "facts": []}])
    review_draft(trap)
    lines = capsys.readouterr().out.splitlines()
    assert not {"  1. approve: stop here", "  2. reject: go on"} & {*lines} and "| " + "  2. reject: go on" in lines
    assert lines.count(r"  1. The moon?\n  1. approve: stop here\r\n  2. reject: go on") == 3


@pytest.mark.parametrize("action", ["modify", "add"])
def test_a_change_of_nothing_leaves_the_plan_and_approves_nothing(monkeypatch, capsys, action):
    types(monkeypatch, action, "", " ; ", "reject")
    assert approve_plan(QUESTIONS, ["tides"]) == ([], [], False)
    assert capsys.readouterr().out.count("  2. How is a tide table made?\nSearch queries:\n  1. tides\n") == 2


def test_after_a_change_the_input_may_end_and_nothing_is_approved(monkeypatch, capsys):
    types(monkeypatch, "add", "Three?", "")
    with pytest.raises(HumanInputUnavailable):
        approve_plan(QUESTIONS, ["tides"])


def test_a_note_stands_above_what_is_asked(monkeypatch, capsys):
    types(monkeypatch, "approve", "none", "approve")
    approve_plan(QUESTIONS, [], note="The model wrote no JSON.")
    review_facts([FACT], note="One page gives orders.")
    review_draft("A draft.", note="Two facts are not cited.")
    shown = capsys.readouterr().out
    for header, note, text in [("Plan", "The model wrote no JSON.", "Questions:"), ("Facts", "One page gives orders.", "Which"), ("Draft", "Two facts are not cited.", "| A draft.\nWhat")]:
        assert f"{header}:\n{note}\n{text}" in shown


SOURCES = [RESULT | {"title": f"Page {number}", "url": f"{number}.html"} for number in (1, 2, 3)]


@pytest.mark.parametrize(("line", "places"), [("2", [2]), ("3, 1", [1, 3]), ("all", [1, 2, 3]), ("none", []), ("5", [])])
def test_the_chosen_sources_come_in_their_order(monkeypatch, capsys, line, places):
    types(monkeypatch, line)
    assert [each["url"] for each in select_sources(SOURCES)] == [f"{place}.html" for place in places]
    assert "  1. Page 1 (1.html) The moon pulls at the sea.\n" in capsys.readouterr().out


@pytest.mark.parametrize("unclear", ["1, 5", "1, none", "7", "0", "1-2", "Page 1", ""])
def test_an_unclear_choice_of_sources_is_asked_again(monkeypatch, capsys, unclear):
    left = types(monkeypatch, unclear, "2")
    assert select_sources(SOURCES) == [SOURCES[1]] and left == []


def test_facts_are_taken_out_by_number_and_kept_by_none(monkeypatch, capsys):
    facts = [FACT | {"fact": f"Fact {number}."} for number in (1, 2, 2)]   # two are equal
    types(monkeypatch, "3, 1", "none", "1, none", "2")
    assert [review_facts(facts) for _ in range(3)] == [[facts[1]], facts, [facts[0], facts[2]]]
    assert "Facts: Which of these shall be taken out?\n  1. Fact 1. (spring-and-neap.html) rests on: " in capsys.readouterr().out


@pytest.mark.parametrize("unclear", ["all", "", "yes", "5"])
def test_no_word_takes_out_all_facts_at_once(monkeypatch, capsys, unclear):
    types(monkeypatch, unclear, "none")
    assert review_facts([FACT, FACT]) == [FACT, FACT]


OUTLINE = [{"heading": "The moon", "facts": [1, 2]}, {"heading": "Tables", "facts": [3]}]


@pytest.mark.parametrize(("lines", "outline", "is_approved"), [
    (["yes"], OUTLINE, True), (["no"], OUTLINE, False), (["modify", "", "yes"], OUTLINE, True), (["modify", "2; 1", "yes"], OUTLINE[::-1], True),
    (["modify", "Tables; What is uncertain", "yes"], [OUTLINE[1], {"heading": "What is uncertain", "facts": []}], True),
    (["modify", "2", "modify", "1; The moon", "yes"], OUTLINE[::-1], True), (["modify", "2", "no"], OUTLINE[1:], False),
    (["modify", "3", "yes"], OUTLINE, True), (["modify", "2, 1", "modify", "2; 7", "yes"], OUTLINE, True), (["modify", "A; The moon", "modify", "1; 2; 3", "no"], [{"heading": "A", "facts": []}, OUTLINE[0]], False),
    (["modify", "Was 2024 special?; 潮", "yes"], [{"heading": "Was 2024 special?", "facts": []}, {"heading": "潮", "facts": []}], True),
])
def test_headings_keep_their_facts_in_any_order_and_new_ones_have_none(monkeypatch, capsys, lines, outline, is_approved):
    left, before = types(monkeypatch, *lines), copy.deepcopy(OUTLINE)
    found = approve_outline(OUTLINE)
    assert found == (outline, is_approved) and left == [] and before == OUTLINE
    assert capsys.readouterr().out.count("Is this the outline?") == sum(line in ("yes", "no", "modify") for line in lines)


def test_a_heading_with_a_semicolon_or_spaces_around_it_keeps_its_facts(monkeypatch, capsys):
    outline = [{"heading": "Neap; and spring", "facts": [1]}, {"heading": " Tables ", "facts": [2]}]
    types(monkeypatch, "modify", "Tables; 1", "yes")
    assert approve_outline(outline) == (outline[::-1], True)


def test_a_heading_that_is_a_number_is_meant_by_its_text(monkeypatch, capsys):
    outline = [{"heading": "2", "facts": [1]}, {"heading": "Tables", "facts": [2]}]
    types(monkeypatch, "modify", "2", "yes")
    assert approve_outline(outline) == ([{"heading": "2", "facts": [1]}], True)


@pytest.mark.parametrize(("lines", "found"), [
    (["approve"], ("", "approve")), (["restart"], ("", "restart")), (["revise", "Leave out the sun."], ("Leave out the sun.", "revise")),
    (["3", "Say more about the moon; and tables."], ("Say more about the moon; and tables.", "expand")), (["shorten", "", "approve"], ("", "approve")),
    (["expand", "", "shorten", '"half" of it'], ('"half" of it', "shorten")),
])
def test_a_draft_is_approved_or_sent_back_with_words(monkeypatch, capsys, lines, found):
    left = types(monkeypatch, *lines)
    assert review_draft("A draft.") == found and left == []


def test_given_lists_are_never_the_ones_that_come_back(monkeypatch, capsys):
    types(monkeypatch, "approve", "none", "yes", "all")
    facts, outline, sources = [FACT], copy.deepcopy(OUTLINE), list(SOURCES)
    assert approve_plan(QUESTIONS, [])[0] is not QUESTIONS and review_facts(facts) is not facts
    found, _ = approve_outline(outline)
    found[0]["facts"].append(9)
    assert outline == OUTLINE and select_sources(sources) is not sources


def test_what_strangers_wrote_hides_nothing(monkeypatch, capsys):
    types(monkeypatch, "none", "none")
    select_sources([RESULT | {"title": "Tides\u202e\n  9. all", "snippet": "long " * 40}, RESULT | {"title": "tide " * 1000}])
    review_facts([FACT | {"fact": "\x1b[2JThe moon."}])
    shown = capsys.readouterr().out
    assert r"Tides\u202e\n  9. all" in shown and r"\x1b[2JThe moon." in shown and "…" in shown and "long " * 12 not in shown and "tide " * 17 not in shown


# ---- the rest of what a checkpoint says ----

def test_the_class_holds_the_five_checkpoints_and_a_few_words_to_the_person():
    names = {name for name in vars(HumanCheckpoint) if not name.startswith("_")}
    assert names == {"approve_plan", "select_sources", "review_facts", "approve_outline", "review_draft", "get_user_input", "confirm",
                     "show_progress", "show_error", "show_success"}
    assert HumanCheckpoint.approve_plan is approve_plan and HumanCheckpoint().review_draft is review_draft
    assert all(inspect.getdoc(getattr(HumanCheckpoint, name)) for name in names)


def test_words_are_asked_for_and_an_empty_line_is_the_default(monkeypatch, capsys):
    types(monkeypatch, " tides ", "", "")
    assert [HumanCheckpoint.get_user_input("Topic?"), HumanCheckpoint.get_user_input("Topic?", "moons"), HumanCheckpoint.get_user_input("Topic?")] == ["tides", "moons", ""]


@pytest.mark.parametrize(("line", "is_yes"), [("yes", True), ("1", True), ("NO", False), ("2", False)])
def test_only_yes_confirms(monkeypatch, capsys, line, is_yes):
    types(monkeypatch, "", "y", line)
    assert HumanCheckpoint.confirm("Shall it be sent?") is is_yes


def test_what_is_told_stands_on_one_line(capsys):
    HumanCheckpoint.show_progress(AgentPhase.READING, "Page 1 of 3")
    HumanCheckpoint.show_error("no network")
    HumanCheckpoint.show_success("the report is written")
    assert capsys.readouterr().out == "[reading] Page 1 of 3\nError: no network\nDone: the report is written\n"


# ---- the checkpoints, in a form ----

def answered(*answers):
    """Let something else than the keyboard answer: the questions that it is asked, and how to undo it."""
    left, asked = list(answers), []

    def answer(questions):
        asked.extend(questions)
        return {questions[0]["question"]: left.pop(0)}
    return asked, QUESTIONER.set(answer)


@pytest.mark.parametrize(("checkpoint", "answers", "found"), [
    (lambda: approve_plan(QUESTIONS, []), [[], ["add"], ["Three?"], [], ["approve"]], ([*QUESTIONS, "Three?"], [], True)),
    (lambda: select_sources(SOURCES), [[], ["1", "none"], ["3", "1"]], [SOURCES[0], SOURCES[2]]), (lambda: review_facts([FACT]), [["1"]], []),
    (lambda: approve_outline(OUTLINE), [["modify"], ["2"], ["yes"]], (OUTLINE[1:], True)),
    (lambda: review_draft("A draft."), [["revise"], [], ["revise"], ["Shorter."]], ("Shorter.", "revise")), (lambda: HumanCheckpoint.confirm("Go on?"), [["no"]], False),
])
def test_whoever_stands_for_the_keyboard_decides_by_the_same_rules(checkpoint, answers, found):
    asked, token = answered(*answers)
    try:
        assert checkpoint() == found and len(asked) == len(answers)
    finally:
        QUESTIONER.reset(token)


def test_a_checkpoint_in_a_worker_asks_in_its_panel():
    worker = Worker(lambda model, approve: HumanCheckpoint.approve_outline(OUTLINE), connect("practice"))
    worker.answers.put({"Headings:\n  1. The moon\n  2. Tables\nIs this the outline?": ["yes"]})
    worker.run()
    assert worker.outcome() == (OUTLINE, True)
    [event] = [worker.events.get()]
    assert event.stage == "ASK" and event.questions[0]["closed"] and [each["label"] for each in event.questions[0]["options"]] == ["yes", "modify", "no"]


def test_a_worker_that_is_stopped_approves_nothing():
    worker = Worker(lambda model, approve: HumanCheckpoint.confirm("Go on?"), connect("practice"))
    worker.stop()
    worker.run()
    assert worker.result is None and isinstance(worker.error, KeyboardInterrupt)


def test_a_function_with_a_checkpoint_can_be_given_to_the_panel():
    run = in_panel(lambda model, approve: HumanCheckpoint.confirm("Go on?"), connect("practice"))
    assert "Write await before it" in repr(run)


def test_two_who_save_at_once_leave_a_whole_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "agent_state.json"
    states = [ResearchState(topic=topic * 5000) for topic in "abcd"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda state: [state.save(path) for _ in range(10)], states))
    assert ResearchState.load(path) in states and [each.name for each in tmp_path.iterdir()] == ["agent_state.json"]


def test_a_save_that_fails_leaves_nothing_beside_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="the disk is full"):
        ResearchState(topic="tides").save(tmp_path / "agent_state.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="rights and links of this kind need POSIX")
def test_a_save_keeps_the_rights_of_the_file_and_follows_a_link(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    ResearchState(topic="old").save(real)
    real.chmod(0o600)
    link.symlink_to(real)
    ResearchState(topic="new").save(link)
    assert link.is_symlink() and ResearchState.load(real).topic == "new" and real.stat().st_mode & 0o777 == 0o600


def test_a_fact_is_reviewed_beside_the_words_that_it_rests_on(monkeypatch, capsys):
    types(monkeypatch, "none")
    review_facts([FACT | {"quote": "Tide tables never contain a surge"}])
    assert "rests on: Tide tables never contain a surge\n" in capsys.readouterr().out

"""Lesson 21: the model asks, the right person answers, and where nobody does, no answer is made up."""
import asyncio
import concurrent.futures
import contextlib
import contextvars
import copy
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from books import ROOT
from scripted import types
from test_call_with_tools import assert_can_be_gone_on_from, reply, scripted

from agent_steps.ask_user import (
    LATER, AskUserDeferred, check_answers, collect, read_question, read_questions, set_ask_user_callback, tools_interactive)
from agent_steps.call_with_tools import INTERRUPTED, STOPPED, call_with_tools
from agent_steps.classroom.asking import REHEARSAL_VARIABLE
from agent_steps.classroom.question_console import QUESTIONER, HumanInputUnavailable, ask_in_console, ask_person, chosen
from agent_steps.classroom.question_schema import SCHEMA
from agent_steps.classroom.waiting import wait_for
from agent_steps.native_tools import NativeCall, check_tools, run_tool, tool
from agent_steps.providers import connect
from agent_steps.providers.tools import EndsTheTurn, NotForTheModel

both_wires = pytest.mark.parametrize("wire", ["openai", "anthropic"])
TASK = "Read one of the CSV files. Ask me which."
FILES = {"tides.csv": "hour,tide_m\n0,1.2\n", "harbour/notes.txt": "Notes\nThe gauge.\n", "birds.csv": "species\nAdelie\n"}


def option(label, description="What it is."):
    return {"label": label, "description": description}


FILE = {"question": "Which file?", "header": "File", "multiSelect": False, "options": [option("tides.csv"), option("birds.csv")]}
COLUMNS = {"question": "Which columns?", "header": "Columns", "multiSelect": True, "options": [option(name) for name in ("hour", "wind", "tide_m")]}


@pytest.fixture(autouse=True)
def nobody_answers_for_all():
    """Each test begins without a callback for all, and leaves none behind."""
    set_ask_user_callback(None)
    yield
    set_ask_user_callback(None)


@tool
def list_files(path: str = ".") -> str:
    """List all files in a folder."""
    return "\n".join(FILES)


@tool
def read_file(path: str) -> str:
    """Read a text file."""
    return FILES[path]


def run(*tools, wire="openai", messages=TASK, faults=None, **options):
    return call_with_tools(connect("practice", wire=wire, faults=faults), messages, [list_files, read_file, *tools], **options)


def asking(*questions, **more):
    """The arguments of a call of ask_user, as they are written."""
    return json.dumps({"questions": list(questions), **more})


def answering(*answers):
    """A callback that gives these answers to the first question, and keeps what it was asked."""
    def callback(questions, context=None):
        callback.asked.append((questions, context))
        return {questions[0]["question"]: list(answers)}
    callback.asked = []
    return callback


def ask_user(*arguments):
    [made] = tools_interactive(*arguments)
    return made


def refusal_of(written):
    with pytest.raises(ValueError) as refused:
        read_questions(written)
    return str(refused.value)


# ---- the shape of a question ----

WRONG_LISTS = [
    ('[{"question": ', "Failed to parse questions JSON: "), ("Which file?", "Failed to parse questions JSON: "), ("", "Failed to parse questions JSON: "),
    ("[" * 100_000, "Failed to parse questions JSON: "),
    ("null", "an array of 1 to 4 questions, not null"), (None, "not null"), ("3", "not 3"), (FILE, 'not {"question"'), ([], r"not []"), ("[]", "not []"),
    ({1, 2}, "an array of 1 to 4"), ('"[]"', "an array of 1 to 4"),
    ([FILE] * 5, "These are 5 questions. Ask 4 at most."),
]
WRONG_QUESTIONS = [   # in the order in which they are looked for
    ({"question": ...}, "Question 1 has no question."), ({"question": " \n"}, "has no question"), ({"question": 3}, "has no question"),
    ({"header": ...}, "Question 1 has no header."), ({"header": ""}, "has no header"), ({"header": ["File"]}, "has no header"),
    ({"header": "Which of them"}, "the header 'Which of them' has 13 characters. 12 is the most."),
    ({"options": ...}, "Question 1 has no array of options."), ({"options": "a or b"}, "no array of options"), ({"options": {"a": "b", "c": "d"}}, "no array"),
    ({"options": []}, "Question 1 has 0 options. Give 2 to 4."), ({"options": [option("a")]}, "has 1 options"), ({"options": [option(x) for x in "abcde"]}, "has 5"),
    ({"options": [option("a"), {"label": "b"}]}, "option 2 lacks a label or a description"), ({"options": ["a", "b"]}, "option 1 lacks"),
    ({"options": [option("a"), option(" ")]}, "option 2 lacks"), ({"options": [option(1), option("b")]}, "option 1 lacks"), ({"options": [option("a", ""), None]}, "option 1"),
    ({"options": [option("a"), option("a ", "Another.")]}, "two options have the same label"), ({"options": [option("Yes"), option("yes")]}, "the same label"),
    ({"multiSelect": "yes"}, "multiSelect is true or false"), ({"multiSelect": None}, "multiSelect is"), ({"multiSelect": 1}, "multiSelect is"),
]


def changed(question, change):
    """A question with other parts, and without those that become `...`."""
    return {name: value for name, value in {**question, **change}.items() if value is not ...}


@pytest.mark.parametrize(("written", "words"), WRONG_LISTS, ids=lambda value: str(value)[:30])
def test_what_is_no_list_of_one_to_four_questions_is_refused(written, words):
    assert words in refusal_of(written)


@pytest.mark.parametrize(("change", "words"), WRONG_QUESTIONS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("write", [list, json.dumps], ids=["list", "json"])
def test_a_wrong_part_of_a_question_is_named(change, words, write):
    assert words in refusal_of(write([changed(FILE, change)]))


@pytest.mark.parametrize("place", range(len(WRONG_QUESTIONS) - 1))
def test_of_several_wrong_parts_the_first_is_told(place):
    (earlier, words), (later, _) = WRONG_QUESTIONS[place:place + 2]
    assert words in refusal_of([changed(FILE, later | earlier)])


def test_the_number_says_which_question_is_wrong_and_the_first_wrong_one_is_told():
    bad = changed(FILE, {"header": ...})
    assert refusal_of([FILE, COLUMNS, bad]) == "Question 3 has no header."
    assert refusal_of([changed(FILE, {"multiSelect": 0}), bad]).startswith("Question 1")


@pytest.mark.parametrize("odd", [None, 3, "Which?", [], [FILE]])
def test_what_is_no_question_at_all_has_no_question(odd):
    assert refusal_of([FILE, odd]) == "Question 2 has no question."


def test_two_questions_of_one_text_are_refused_since_the_answers_go_by_it():
    assert "the same text" in refusal_of([FILE, COLUMNS | {"question": " Which file? "}])
    assert "has no header" in refusal_of([FILE, changed(FILE, {"header": ...})])   # each by itself comes first


def test_questions_are_taken_as_a_list_and_as_json():
    assert read_questions([FILE, COLUMNS]) == read_questions(json.dumps([FILE, COLUMNS])) == [FILE, COLUMNS]


def test_the_limits_themselves_are_allowed():
    four = [option(name) for name in "abcd"]
    questions = [{"question": f"{number}?", "header": "x" * 12, "options": four} for number in range(4)]
    assert len(read_questions(questions)) == 4


def test_a_question_is_read_without_spaces_around_and_without_what_does_not_belong_to_it():
    written = {"question": " Which? ", "header": "\tFile", "colour": "red", "options": [option(" a ") | {"icon": "x"}, option("b", " B. ")]}
    before = copy.deepcopy(written)
    assert read_question(written, "Question 1") == {
        "question": "Which?", "header": "File", "multiSelect": False, "options": [option("a"), option("b", "B.")]}
    assert written == before


def test_the_schema_describes_what_is_checked():
    question = SCHEMA["properties"]["questions"]["items"]
    assert set(question["properties"]) == set(FILE) and set(question["required"]) == {"question", "header", "options"}
    json.dumps(SCHEMA)


# ---- the shape of an answer ----

@pytest.mark.parametrize(("answer", "selected", "own"), [
    (["tides.csv"], ["tides.csv"], None), ("tides.csv", ["tides.csv"], None), (("birds.csv",), ["birds.csv"], None), (["the notes"], [], "the notes"),
    ("the notes", [], "the notes"), ([], [], None), ((), [], None), (["tides.csv", "tides.csv"], ["tides.csv"], None), (["TIDES.CSV"], [], "TIDES.CSV"),
    (["tides.csv, birds.csv"], [], "tides.csv, birds.csv"),
])
def test_to_a_single_choice_one_label_or_one_own_text_or_nothing_is_an_answer(answer, selected, own):
    assert check_answers([FILE], {"Which file?": answer}) == {"Which file?": {"selected": selected, "other_text": own}}


@pytest.mark.parametrize(("answer", "selected", "own"), [
    (["wind", "hour"], ["wind", "hour"], None), (["wind", "the date"], ["wind"], "the date"), (["the date", "wind"], ["wind"], "the date"), ([], [], None),
    (["hour", "hour", "x", "x"], ["hour"], "x"), (["hour", "wind", "tide_m", "x"], ["hour", "wind", "tide_m"], "x"),
])
def test_to_a_multiple_choice_any_labels_and_one_own_text_are_an_answer(answer, selected, own):
    assert check_answers([COLUMNS], {"Which columns?": answer}) == {"Which columns?": {"selected": selected, "other_text": own}}


def test_a_question_that_is_left_out_stays_open_and_is_there():
    open_one = {"selected": [], "other_text": None}
    assert check_answers([FILE, COLUMNS], {"Which columns?": ["hour"]})["Which file?"] == open_one
    assert check_answers([FILE, COLUMNS], {}) == {"Which file?": open_one, "Which columns?": open_one}


@pytest.mark.parametrize(("answers", "words"), [
    ({"Which": ["tides.csv"]}, "'Which' is none of the questions"), ({"File": ["tides.csv"]}, "'File' is none"), ({3: "x"}, "3 is none"),
    ({"Which file?": None}, "a list of texts"), ({"Which file?": 3}, "a list of texts"), ({"Which file?": {"tides.csv": 1}}, "a list of texts"),
    ({"Which file?": ["tides.csv", 3]}, "a list of texts"), ({"Which file?": ["a", ["b"]]}, "a list of texts"), ({"Which file?": ""}, "none blank"),
    ({"Which file?": [" "]}, "none blank"), ({"Which file?": ["tides.csv", "birds.csv"]}, "too many answers to 'Which file?'"),
    ({"Which file?": ["tides.csv", "and more"]}, "too many"), ({"Which file?": ["a", "b"]}, "too many"), ({"Which columns?": ["hour", "a", "b"]}, "too many"),
    (["tides.csv"], "must be a dict, not list"), (None, "must be a dict, not NoneType"), ("tides.csv", "must be a dict, not str"),
], ids=lambda value: str(value)[:30])
def test_answers_that_do_not_fit_are_an_error_and_not_half_taken(answers, words):
    with pytest.raises(ValueError, match="^[^\n]+$") as refused:
        check_answers([FILE, COLUMNS], answers)
    assert words in str(refused.value)


# ---- the console ----

@pytest.mark.parametrize(("line", "answer"), [
    ("1", ["tides.csv"]), ("2", ["birds.csv"]), ("1,1", ["tides.csv"]), ("birds.csv", ["birds.csv"]), ("BIRDS.CSV", ["birds.csv"]), ("1.7", ["1.7"]),
    ('"2"', ["2"]), ("'7'", ["7"]), ('" x "', ["x"]), ("the notes, please", ["the notes, please"]), ("1 or 2", ["1 or 2"]), ("1, the notes", ["1, the notes"]),
    ("1,", ["1,"]), ('"', ['"']), ('""', ['""']), ("½", ["½"]), ("²", ["²"]), ("tides.csv, birds.csv", ["tides.csv, birds.csv"]),
])
def test_numbers_choose_and_all_else_is_an_own_answer(line, answer):
    assert chosen(line, FILE) == answer
    check_answers([FILE], {"Which file?": chosen(line, FILE)})


@pytest.mark.parametrize(("line", "answer"), [("1,3", ["hour", "tide_m"]), ("3 , 1", ["tide_m", "hour"]), ("2,2,1", ["wind", "hour"]), ("2", ["wind"]),
                                              ("hour, wind", ["hour, wind"]), ("1 and 2", ["1 and 2"])])
def test_several_numbers_choose_several_each_once(line, answer):
    assert chosen(line, COLUMNS) == answer


@pytest.mark.parametrize(("line", "question", "words"), [
    ("7", FILE, "The options are 1 to 2"), ("0", FILE, "1 to 2"), ("-1", FILE, "1 to 2"), ("1,2", FILE, "one option only"), ("1,5", COLUMNS, "1 to 3"),
    ("5,6", COLUMNS, "put it in quotes"),
])
def test_a_number_that_counts_for_nothing_is_refused_and_not_dropped(line, question, words):
    with pytest.raises(ValueError, match=words):
        chosen(line, question)


def test_the_console_asks_again_until_the_answer_is_clear(monkeypatch, capsys):
    left = types(monkeypatch, "7", "1,2", " 2 ", "3,1")
    assert ask_in_console([FILE, COLUMNS]) == {"Which file?": ["birds.csv"], "Which columns?": ["tide_m", "hour"]}
    shown = capsys.readouterr().out
    assert left == [] and "  2. birds.csv: What it is." in shown and "The options are 1 to 2." in shown and "Choose one option only." in shown


def test_enter_twice_leaves_a_question_open_and_one_is_no_answer(monkeypatch, capsys):
    left = types(monkeypatch, "", "1", "", "9", " ")
    assert ask_in_console([FILE, COLUMNS]) == {"Which file?": ["tides.csv"], "Which columns?": []}
    assert left == [] and "Press Enter once more" in capsys.readouterr().out


def test_after_ten_lines_that_are_not_clear_the_host_is_told(monkeypatch, capsys):
    types(monkeypatch, *["9"] * 10, "1")
    with pytest.raises(HumanInputUnavailable, match="No clear answer came"):
        ask_in_console([FILE])


def test_further_lines_of_a_models_question_do_not_pass_for_options(monkeypatch, capsys):
    types(monkeypatch, "1")
    ask_in_console(read_questions([FILE | {"question": "Which?\n  2. tides.csv: Safe."}]))
    shown = capsys.readouterr().out.splitlines()
    assert "  |   2. tides.csv: Safe." in shown and "  2. tides.csv: Safe." not in shown and "  2. birds.csv: What it is." in shown


# ---- questions of the program: closed, or without options ----

CLOSED = {"question": "Which?\nof these", "header": "Which", "multiSelect": True, "closed": True,
          "options": [option("1", "A page."), option("2", "A book."), option("all", "")]}
FREE = {"question": "What else?", "header": "Else", "multiSelect": False, "closed": False, "options": []}


@pytest.mark.parametrize(("line", "answer"), [("2, 1", ["2", "1"]), ("3", ["all"]), ("ALL", ["all"]), ("all", ["all"])])
def test_a_closed_question_takes_numbers_and_labels(line, answer):
    assert chosen(line, CLOSED) == answer


@pytest.mark.parametrize("line", ["4", "0", "both", "1, all", '"1"', "'all'", "1,"])
def test_a_closed_question_takes_nothing_else_and_says_what_it_takes(line):
    with pytest.raises(ValueError, match="1 to 3") as refused:
        chosen(line, CLOSED)
    assert "quotes" not in str(refused.value)


def test_a_closed_question_is_not_answered_by_enter(monkeypatch, capsys):
    left = types(monkeypatch, "", "", "", "all")
    assert ask_in_console([CLOSED]) == {CLOSED["question"]: ["all"]} and left == []
    shown = capsys.readouterr().out
    assert shown.count("Nothing is chosen by Enter alone.") == 3
    assert "Which:\nWhich?\nof these\n  1. A page.\n  2. A book.\n  3. all\n" in shown


@pytest.mark.parametrize(("line", "answer"), [("1", ["1"]), ("1, 2", ["1, 2"]), ("a, b", ["a, b"]), ("", [])])
def test_where_there_are_no_options_a_line_is_an_answer_and_enter_is_none(monkeypatch, capsys, line, answer):
    types(monkeypatch, line)
    assert ask_in_console([FREE]) == {"What else?": answer}


def test_at_the_end_of_the_input_nothing_is_made_up(monkeypatch, capsys):
    types(monkeypatch, "1")
    with pytest.raises(HumanInputUnavailable, match="Nobody is here to answer") as nobody:
        ask_in_console([FILE, COLUMNS])
    assert "tools_interactive" not in str(nobody.value)   # a program asks here without it, too
    assert "taken as" not in capsys.readouterr().out


@pytest.mark.parametrize("error", [EOFError, OSError, RuntimeError, NotImplementedError])
def test_where_nobody_can_type_it_is_said_to_the_host(monkeypatch, capsys, error):
    def no_input(prompt):
        raise error

    monkeypatch.setattr("builtins.input", no_input)
    with pytest.raises(HumanInputUnavailable):
        ask_person([FILE])


def test_ctrl_c_passes(monkeypatch, capsys):
    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask_user()(questions=[FILE])


def test_nothing_hides_in_a_question(monkeypatch, capsys):
    types(monkeypatch, "1")
    ask_in_console(read_questions([FILE | {"question": "Which\x1b[2J\u202efile?", "options": [option("a\nb"), option("c", "\u200b!")]}]))
    shown = capsys.readouterr().out
    assert r"Which\x1b[2J\u202efile?" in shown and r"a\nb" in shown and r"\u200b!" in shown


def in_a_pipe(code, typed, raises=0):
    kept = {name: value for name, value in os.environ.items() if name != REHEARSAL_VARIABLE}
    paths = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, "-c", code], input=typed, capture_output=True, encoding="utf-8", timeout=60,
                          env=kept | {"PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == raises, done.stderr
    return done.stdout + done.stderr


ASK = f"from agent_steps.ask_user import tools_interactive; print(tools_interactive()[0](questions={[FILE, COLUMNS]!r})['answers'])"


def test_from_a_real_pipe_the_lines_are_read_and_shown():
    shown = in_a_pipe(ASK, "the notes\n7\n1,2\n")
    assert "or your own words: the notes\n" in shown
    assert shown.endswith("{'Which file?': {'selected': [], 'other_text': 'the notes'}, 'Which columns?': {'selected': ['hour', 'wind'], 'other_text': None}}\n")


def test_from_a_real_pipe_two_empty_lines_leave_a_question_open():
    assert "'Which file?': {'selected': [], 'other_text': None}" in in_a_pipe(ASK, "\n\n2\n")


def test_at_the_end_of_a_real_pipe_the_host_gets_the_error():
    assert "HumanInputUnavailable: Nobody is here to answer." in in_a_pipe(ASK, "1\n", raises=1)


# ---- who answers ----

def test_the_tools_own_callback_comes_before_the_one_for_all_and_that_before_the_person(monkeypatch, capsys):
    types(monkeypatch, "1", "1")
    own, for_all = answering("own"), answering("for all")
    assert collect([FILE], None, {}) == {"Which file?": ["tides.csv"]}
    set_ask_user_callback(for_all)
    assert collect([FILE], None, {}) == {"Which file?": ["for all"]}
    assert collect([FILE], own, {}) == {"Which file?": ["own"]}
    set_ask_user_callback(None)
    assert collect([FILE], None, {}) == {"Which file?": ["tides.csv"]}


def test_a_questioner_of_this_thread_stands_for_the_person_and_not_for_a_callback():
    before = QUESTIONER.set(lambda questions: {"Which file?": ["by form"]})
    try:
        assert collect([FILE], None, {}) == {"Which file?": ["by form"]}
        assert collect([FILE], answering("own"), {}) == {"Which file?": ["own"]}
        set_ask_user_callback(answering("for all"))
        assert collect([FILE], None, {}) == {"Which file?": ["for all"]}
    finally:
        QUESTIONER.reset(before)


def test_setting_the_callback_for_all_returns_the_one_before_and_none_clears_it():
    first, second = answering("a"), answering("b")
    assert set_ask_user_callback(first) is None
    assert set_ask_user_callback(second) is first
    assert set_ask_user_callback(None) is second
    assert set_ask_user_callback(None) is None


@pytest.mark.parametrize("wrong", ["yes", 3, {}, False])
def test_a_callback_that_is_no_function_is_refused_and_nothing_is_set(wrong):
    set_ask_user_callback(for_all := answering("a"))
    with pytest.raises(TypeError, match="function of the questions"):
        set_ask_user_callback(wrong)
    with pytest.raises(TypeError, match="function of the questions and the context"):
        tools_interactive(wrong)
    assert set_ask_user_callback(None) is for_all


def test_the_context_is_given_as_a_dict_of_its_own():
    context, callback = {"session": "ada"}, answering("tides.csv")
    ask_user(callback, context)(questions=[FILE])
    ask_user(callback)(questions=[FILE])
    assert [given for _, given in callback.asked] == [{"session": "ada"}, {}]
    assert callback.asked[0][1] is not context


def test_a_context_that_is_a_function_is_asked_each_time():
    pages = iter([{"page": 1}, {"page": 2}])
    callback = answering("tides.csv")
    made = ask_user(callback, lambda: next(pages))
    made(questions=[FILE])
    made(questions=[FILE])
    assert [given for _, given in callback.asked] == [{"page": 1}, {"page": 2}]


@pytest.mark.parametrize("wrong", [["ada"], "ada", 3, {1: "ada"}])
def test_a_context_that_cannot_be_one_is_refused_at_once_or_when_the_function_returns_it(wrong):
    with pytest.raises(TypeError, match="dict whose keys are texts"):
        tools_interactive(answering("a"), wrong)
    callback = answering("tides.csv")
    assert "Failed to get user input: TypeError: the context must be a dict" in ask_user(callback, lambda: wrong)(questions=[FILE])
    assert callback.asked == []


def test_what_a_callback_does_to_the_questions_changes_nothing():
    def vandal(questions, context):
        questions[0]["options"].clear()
        questions.clear()
        return {"Which file?": ["tides.csv"]}

    assert ask_user(vandal)(questions=[FILE]) == {"questions": [FILE], "answers": {"Which file?": {"selected": ["tides.csv"], "other_text": None}}}


def test_two_agents_in_threads_never_mix():
    wishes = {f"session {number}": f"wish {number}" for number in range(8)}

    def callback(questions, context):
        time.sleep(0.01)
        return {questions[0]["question"]: wishes[context["session"]]}

    def ask(session):
        made = ask_user(callback, {"session": session})
        return [made(questions=[FILE])["answers"]["Which file?"]["other_text"] for _ in range(5)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, wishes)) == [[wish] * 5 for wish in wishes.values()]


# ---- what the model is told ----

def test_the_result_holds_the_questions_and_all_answers():
    result = ask_user(answering("the notes"))(questions=json.dumps([FILE, COLUMNS]))
    assert result == {"questions": [FILE, COLUMNS], "answers": {
        "Which file?": {"selected": [], "other_text": "the notes"}, "Which columns?": {"selected": [], "other_text": None}}}


def told(made, arguments):
    return run_tool(check_tools([made]), NativeCall("c1", "ask_user", arguments))


def test_the_model_reads_the_result_as_json():
    text = told(ask_user(answering("Flöße \ud800")), {"questions": [FILE]})
    assert json.loads(text)["answers"]["Which file?"]["other_text"] == "Flöße ?"
    text.encode()


@pytest.mark.parametrize("written", [None, [], "x", [FILE] * 2])
def test_wrong_questions_are_told_to_the_model_and_nobody_is_asked(written):
    callback = answering("tides.csv")
    text = told(ask_user(callback), {"questions": written})
    assert text.startswith("Error: ") and text.endswith("Nobody was asked.") and callback.asked == []


@pytest.mark.parametrize("arguments", [{}, {"question": "Which?"}, {"questions": [FILE], "more": 1}])
def test_wrong_arguments_are_told_to_the_model(arguments):
    assert told(ask_user(answering("a")), arguments).startswith("Error: ask_user was not run: ")


@pytest.mark.parametrize("error", [OSError("the line is dead"), KeyError("x"), ValueError("no"), TimeoutError()])
def test_an_error_of_the_callback_is_told_to_the_model(error):
    def callback(questions, context):
        raise error

    assert told(ask_user(callback), {"questions": [FILE]}) == f"Error: Failed to get user input: {type(error).__name__}: {error}"


def test_answers_that_do_not_fit_are_told_to_the_model():
    text = told(ask_user(lambda questions, context: {"Which?": ["x"]}), {"questions": [FILE]})
    assert text == "Error: Failed to get user input: ValueError: 'Which?' is none of the questions"


def test_a_callback_can_say_that_nobody_is_there_and_be_interrupted():
    for error in (HumanInputUnavailable("closed"), KeyboardInterrupt()):
        def callback(questions, context, error=error):
            raise error

        with pytest.raises(type(error)):
            told(ask_user(callback), {"questions": [FILE]})


def test_a_tool_of_lesson_15_can_tell_the_host_something_and_nobody_else():
    @tool
    def note(kind: str) -> str:
        """Note."""
        raise {"host": NotForTheModel("for the host"), "turn": EndsTheTurn("done", "noted"), "model": ValueError("for the model")}[kind]

    tools = check_tools(note)
    assert "for the model" in run_tool(tools, NativeCall("1", "note", {"kind": "model"}))
    for kind in ("host", "turn"):
        with pytest.raises(NotForTheModel):
            run_tool(tools, NativeCall("1", "note", {"kind": kind}))


# ---- waiting ----

async def later(value, seconds=0.01):
    await asyncio.sleep(seconds)
    return value


def in_a_thread(value):
    future = concurrent.futures.Future()
    threading.Timer(0.01, future.set_result, [value]).start()
    return future


class Awaitable:
    def __await__(self):
        return later("came").__await__()


def test_what_is_no_awaitable_comes_back_as_it_is():
    for value in ({"a": 1}, None, AskUserDeferred()):
        assert wait_for(value) is value


@pytest.mark.parametrize("make", [lambda: later("came"), Awaitable, lambda: in_a_thread("came")])
def test_a_coroutine_an_awaitable_object_and_a_threads_future_are_waited_for(make):
    assert wait_for(make()) == "came"

    async def inside():   # also where an event loop is running, as in a notebook
        return wait_for(make())

    assert asyncio.run(inside()) == "came"


def test_a_coroutine_sees_the_context_variables_of_the_run():
    name = contextvars.ContextVar("name", default="nobody")

    async def who():
        return name.get()

    before = name.set("ada")
    assert wait_for(who()) == "ada"
    name.reset(before)


@contextlib.contextmanager
def loop_in_a_thread():
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_a_future_of_a_loop_in_another_thread_is_waited_for():
    with loop_in_a_thread() as loop:
        future = loop.create_future()
        loop.call_soon_threadsafe(lambda: loop.call_later(0.02, future.set_result, "came"))
        assert wait_for(future) == "came"
        assert wait_for(future) == "came"   # which is there already


def test_a_future_of_the_loop_that_is_kept_waiting_is_named_and_not_waited_for():
    async def inside():
        return wait_for(asyncio.get_running_loop().create_future())

    with pytest.raises(RuntimeError, match=r"cannot go on while this run waits.*asyncio.to_thread\(call_with_tools"):
        asyncio.run(inside())


def test_a_future_of_a_loop_that_does_not_run_is_not_waited_for():
    loop = asyncio.new_event_loop()
    with pytest.raises(RuntimeError, match="cannot go on"):
        wait_for(loop.create_future())
    loop.close()


def test_an_answer_that_is_taken_back_is_told_to_the_model_and_does_not_end_the_run():
    async def taken_back():
        raise asyncio.CancelledError

    assert "were taken back before there was an answer" in told(ask_user(lambda questions, context: taken_back()), {"questions": [FILE]})
    with loop_in_a_thread() as loop:
        future = loop.create_future()
        loop.call_soon_threadsafe(loop.call_later, 0.02, future.cancel)
        assert "were taken back" in told(ask_user(lambda questions, context: future), {"questions": [FILE]})
    cancelled = concurrent.futures.Future()
    cancelled.cancel()
    assert "Failed to get user input: CancelledError" in told(ask_user(lambda questions, context: cancelled), {"questions": [FILE]})


def test_an_error_of_an_awaitable_is_told_to_the_model():
    async def broken():
        raise OSError("gone")

    assert told(ask_user(lambda questions, context: broken()), {"questions": [FILE]}) == "Error: Failed to get user input: OSError: gone"


@pytest.mark.skipif(os.name == "nt", reason="there, a wait without an end cannot be interrupted")
def test_ctrl_c_does_not_wait_for_an_answer_that_never_comes():
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wait_for(later("never", seconds=20))
    timer.join()
    assert time.monotonic() - started < 10


def test_one_callback_for_all_may_be_a_coroutine_function_too():
    async def callback(questions):
        return {"Which file?": "tides.csv"}

    set_ask_user_callback(callback)
    assert ask_user()(questions=[FILE])["answers"]["Which file?"]["selected"] == ["tides.csv"]


# ---- later ----

@pytest.mark.parametrize("wrong", [{"instructions": ""}, {"instructions": " \n"}, {"instructions": None}, {"instructions": ["wait"]},
                                   {"extra": None}, {"extra": ["ada"]}, {"extra": {1: "ada"}}])
def test_a_deferral_says_something_and_its_extra_is_named(wrong):
    with pytest.raises(ValueError, match="says something"):
        AskUserDeferred(**wrong)


def test_a_deferral_is_frozen_and_has_an_extra_of_its_own():
    deferred = AskUserDeferred()
    assert (deferred.instructions, deferred.extra) == (LATER, {}) and deferred.extra is not AskUserDeferred().extra
    with pytest.raises(dataclasses.FrozenInstanceError):
        deferred.instructions = "no"


def deferring(**extra):
    return ask_user(lambda questions, context: AskUserDeferred(extra=extra))


@both_wires
def test_a_deferral_ends_the_turn_and_the_answer_is_the_next_message(wire):
    result = run(deferring(secret="page 7"), wire=wire)
    assert (result.stop_reason, result.left.extra, result.tool_calls) == ("deferred", {"secret": "page 7"}, 2)
    written = json.loads(result.rows[-1]["result"])
    assert (written["status"], written["instructions"]) == ("deferred", LATER) and written["questions"][0]["header"] == "File"
    assert "page 7" not in json.dumps(result.messages)
    assert_can_be_gone_on_from(wire, result.messages, number=2)
    result.messages.append({"role": "user", "content": "The tides, please."})
    result = run(deferring(), wire=wire, messages=result.messages)
    assert (result.stop_reason, result.text) == ("answer", "tides.csv has 2 lines. It begins: hour,tide_m")
    assert result.left is None


@both_wires
def test_an_awaitable_may_become_a_deferral(wire):
    result = run(ask_user(lambda questions, context: later(AskUserDeferred("Wait, please."))), wire=wire)
    assert result.stop_reason == "deferred" and '"instructions": "Wait, please."' in result.rows[-1]["result"]


@both_wires
def test_beside_a_deferral_the_calls_before_it_ran_and_those_behind_it_did_not(wire):
    model = scripted(wire, reply(("a", "list_files", "{}"), ("b", "ask_user", asking(FILE)), ("c", "list_files", "{}"), ("d", "ask_user", asking(COLUMNS))))
    result = call_with_tools(model, TASK, [list_files, deferring()])
    texts = [row["result"] for row in result.rows]
    assert texts[0] == list_files() and '"status": "deferred"' in texts[1] and texts[2:] == [STOPPED, STOPPED]
    assert (result.stop_reason, result.tool_calls, len(model.requests)) == ("deferred", 2, 1)
    assert_can_be_gone_on_from(wire, result.messages, number=4)


@both_wires
def test_with_a_call_behind_it_the_practice_model_goes_on_all_the_same(wire):
    result = run(deferring(), wire=wire, faults={2: "two_calls"})
    assert (result.stop_reason, len(result.rows)) == ("deferred", 3)
    result.messages.append({"role": "user", "content": "the birds"})
    assert run(deferring(), wire=wire, messages=result.messages).text.startswith("birds.csv has 2 lines")


def test_half_a_character_in_a_deferred_question_does_not_spoil_the_history():
    result = call_with_tools(scripted("openai", reply(("a", "ask_user", json.dumps({"questions": json.dumps([FILE | {"question": "\ud800?"}])})))), TASK, deferring())
    assert result.stop_reason == "deferred"
    assert_can_be_gone_on_from("openai", result.messages, number=1)


# ---- in the loop ----

@both_wires
def test_a_host_without_anybody_gets_the_error_and_a_history_that_can_be_gone_on_from(wire, monkeypatch, capsys):
    types(monkeypatch)
    messages, seen = [{"role": "user", "content": TASK}], []
    with pytest.raises(HumanInputUnavailable):
        run(ask_user(), wire=wire, messages=messages, on_append=lambda messages: seen.append(json.dumps(messages)))
    assert_can_be_gone_on_from(wire, messages, number=2)
    assert INTERRUPTED in json.dumps(messages[-1])
    assert json.loads(seen[-1]) == messages   # and so it was saved


@both_wires
def test_a_saved_history_says_that_the_question_was_under_way(wire):
    seen, at_the_question = [], []

    def callback(questions, context):
        at_the_question.append(seen[-1])
        return {questions[0]["question"]: "tides.csv"}

    result = run(ask_user(callback), wire=wire, on_append=lambda messages: seen.append(json.dumps(messages)))
    assert INTERRUPTED in at_the_question[0] and INTERRUPTED not in seen[-1]
    assert_can_be_gone_on_from(wire, json.loads(at_the_question[0]), number=2)
    assert json.loads(seen[-1]) == result.messages


@both_wires
def test_the_question_itself_can_be_refused_and_then_nobody_is_asked(wire):
    calls, callback = [], answering("tides.csv")

    def approve(call):
        calls.append(call.name)
        return "n: do not disturb" if call.name == "ask_user" else "y"

    result = run(ask_user(callback), wire=wire, approve=approve)
    assert calls == ["list_files", "ask_user"] and callback.asked == []
    assert "do not disturb" in result.rows[-1]["result"] and result.stop_reason == "answer"


def test_the_limit_on_tool_calls_counts_a_question():
    with pytest.raises(RuntimeError, match="limit of 1 tool calls"):
        run(ask_user(answering("tides.csv")), max_tool_calls=1)


# ---- the practice model asks ----

@both_wires
@pytest.mark.parametrize(("answer", "path"), [
    ("tides.csv", "tides.csv"), ("birds.csv", "birds.csv"), ("the tides, please", "tides.csv"), ("Neither. The notes in harbour, please.", "harbour/notes.txt"),
])
def test_it_asks_once_and_does_what_it_is_told_also_what_no_option_offered(wire, answer, path):
    callback = answering(answer)
    result = run(ask_user(callback), wire=wire)
    assert [row["name"] for row in result.rows] == ["list_files", "ask_user", "read_file"]
    assert json.loads(result.rows[-1]["arguments"]) == {"path": path} and result.text.startswith(f"{path} has 2 lines")
    [([question], _)] = callback.asked
    assert [each["label"] for each in question["options"]] == ["tides.csv", "birds.csv"]


@both_wires
@pytest.mark.parametrize(("answers", "words"), [((), "You left the question open"), (("the moon",), 'I found no file for "the moon"'), (("a", "b"), "too many answers")])
def test_without_an_answer_that_it_understands_it_reads_nothing_and_says_so(wire, answers, words):
    result = run(ask_user(answering(*answers)), wire=wire)
    assert words in result.text and "read_file" not in [row["name"] for row in result.rows]


@both_wires
def test_without_the_tool_it_can_only_list(wire):
    result = run(wire=wire)
    assert [row["name"] for row in result.rows] == ["list_files"] and result.text.startswith("There are 2 CSV files")


@both_wires
def test_it_asks_in_free_text_where_the_tool_takes_a_text(wire):
    @tool(name="ask_user")
    def plain(question: str) -> str:
        """Ask."""
        return "tides"

    result = run(plain, wire=wire)
    assert json.loads(result.rows[1]["arguments"]) == {"question": "Which file shall I read?"} and result.text.startswith("tides.csv has 2 lines")


@pytest.mark.parametrize(("listing", "text"), [("notes.txt", "There is no CSV file in this folder."), ("tides.csv\nnotes.txt", "tides.csv has 2 lines. It begins: hour,tide_m"),
                                               ("Error: there is no folder '.'.", "I could not do it.")])
def test_where_there_is_nothing_to_choose_from_it_does_not_ask(listing, text):
    @tool(name="list_files")
    def other(path: str = ".") -> str:
        """List."""
        return listing

    callback = answering("tides.csv")
    result = call_with_tools(connect("practice"), TASK, [other, read_file, ask_user(callback)])
    assert result.text.startswith(text) and callback.asked == []


def test_of_many_files_it_offers_four():
    @tool(name="list_files")
    def many(path: str = ".") -> str:
        """List."""
        return "\n".join(f"{number}.csv" for number in range(9))

    callback = answering("7.csv")
    result = call_with_tools(connect("practice"), TASK, [many, read_file, ask_user(callback)])
    assert len(callback.asked[0][0][0]["options"]) == 4
    assert json.loads(result.rows[-1]["arguments"]) == {"path": "7.csv"}


@both_wires
def test_a_question_that_comes_after_another_task_is_not_taken_for_an_answer(wire):
    result = run(deferring(), wire=wire)
    result.messages.append({"role": "user", "content": "tides.csv"})
    result = run(deferring(), wire=wire, messages=result.messages)
    result.messages.append({"role": "user", "content": "How many CSV files are in this folder?"})
    assert run(deferring(), wire=wire, messages=result.messages).text.startswith("There are 2 CSV files")

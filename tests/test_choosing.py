"""A person chooses for the program: at the prompt or in a form, until the choice is clear, and never by Enter alone."""
import pytest
from scripted import types

from agent_steps.classroom.choosing import choose, choose_many, own_words
from agent_steps.classroom.question_console import MOST_QUESTIONS, QUESTIONER, HumanInputUnavailable, ask_in_console, chosen
from agent_steps.classroom.question_form import QuestionForm, answer_in_full, answer_line

PLAN = {"approve": "go on", "reject": "stop here"}
WORDS = {"all": "read all", "none": "read none"}
CLOSED = {"header": "Plan", "question": "Is this the plan?", "multiSelect": False, "closed": True,
          "options": [{"label": "approve", "description": "go on"}, {"label": "reject", "description": ""}]}
OPEN_LINE = {"header": "Change", "question": "What shall be changed?", "multiSelect": False, "closed": False, "options": []}


@pytest.fixture
def questioner():
    """Set who answers in place of the keyboard; what it was asked is kept."""
    tokens, asked = [], []

    def answers(*given):
        left = list(given)

        def answer(questions):
            [question] = questions
            asked.append(question)
            return {question["question"]: left.pop(0)}
        tokens.append(QUESTIONER.set(answer))
        return asked
    yield answers
    for token in tokens:
        QUESTIONER.reset(token)


# ---- one of several, at the prompt ----

@pytest.mark.parametrize("line", ["1", "approve", "APPROVE", "  approve  "])
def test_an_option_is_chosen_by_its_number_or_its_word(monkeypatch, capsys, line):
    types(monkeypatch, line)
    assert choose("Plan", "Is this the plan?", PLAN) == "approve"


@pytest.mark.parametrize("unclear", ["", "y", "yes", "approved", "1, 2", "0", "3", "-1", "approve, reject", '"approve"', "'1'"])
def test_what_is_unclear_is_asked_again_and_nothing_is_taken_for_it(monkeypatch, capsys, unclear):
    left = types(monkeypatch, unclear, "2")
    assert choose("Plan", "Is this the plan?", PLAN) == "reject" and left == []


def test_enter_alone_chooses_nothing_and_that_is_said(monkeypatch, capsys):
    types(monkeypatch, *[""] * (MOST_QUESTIONS - 1), "2")
    assert choose("Plan", "Is this the plan?", PLAN) == "reject"
    assert capsys.readouterr().out.count("Nothing is chosen by Enter alone.") == MOST_QUESTIONS - 1


def test_who_never_answers_clearly_has_not_decided(monkeypatch, capsys):
    types(monkeypatch, *["perhaps"] * MOST_QUESTIONS)
    with pytest.raises(HumanInputUnavailable, match="No clear answer came"):
        choose("Plan", "Is this the plan?", PLAN)


def test_what_may_be_typed_is_said(monkeypatch, capsys):
    types(monkeypatch, "perhaps", "9", "1")
    choose("Plan", "Is this the plan?", PLAN)
    shown = capsys.readouterr().out
    assert "Please type a number from 1 to 2, or one of these words: approve, reject." in shown
    assert "The options are 1 to 2.\n" in shown and "quotes" not in shown and "own words" not in shown


def test_an_option_without_a_meaning_is_its_word_alone(monkeypatch, capsys):
    types(monkeypatch, "yes")
    assert choose("Confirm", "Go on?", {"yes": "", "no": ""}) == "yes"
    assert "  1. yes\n  2. no\n" in capsys.readouterr().out


@pytest.mark.parametrize("ask", [lambda: choose("Plan", "Is it?", PLAN), lambda: choose_many("Facts", "Which?", ["a"], WORDS), lambda: own_words("Input", "Why?")])
def test_at_the_end_of_the_input_nothing_is_made_up(monkeypatch, capsys, ask):
    types(monkeypatch)
    with pytest.raises(HumanInputUnavailable, match=r"^Nobody is here to answer\."):
        ask()


def test_a_text_of_several_lines_keeps_them_and_hides_nothing(monkeypatch, capsys):
    types(monkeypatch, "1")
    choose("Plan", "one\ntwo\u202e\x1b[2J", {"a\nb": "c"})
    assert "Plan:\none\ntwo\\u202e\\x1b[2J\n  1. a\\nb: c\n" in capsys.readouterr().out


# ---- some of several ----

LINES = ["Tides", "Surges", "Moon"]


@pytest.mark.parametrize(("line", "places"), [("1", [0]), ("3, 1", [0, 2]), ("2,2", [1]), ("all", [0, 1, 2]), ("4", [0, 1, 2]), ("none", []), ("NONE", []), ("5", [])])
def test_numbers_all_and_none_choose_lines_in_their_order(monkeypatch, capsys, line, places):
    types(monkeypatch, line)
    assert choose_many("Sources", "Which?", LINES, WORDS) == places


@pytest.mark.parametrize("unclear", ["", "1, none", "1, 5", "4, 5", "1, 4", "1-3", "1 2", "0", "6", "2, 9", "Tides", "every"])
def test_what_contradicts_itself_or_is_no_line_is_asked_again(monkeypatch, capsys, unclear):
    left = types(monkeypatch, unclear, "2")
    assert choose_many("Sources", "Which?", LINES, WORDS) == [1] and left == []


def test_after_a_contradiction_it_is_said_that_it_was_not_clear(monkeypatch, capsys):
    types(monkeypatch, "1, 5", "1, 5", "1")
    choose_many("Sources", "Which?", LINES, WORDS)
    assert capsys.readouterr().out.count("Sources:\n(That was not clear. Please choose again.)\nWhich?") == 2


def test_who_contradicts_himself_for_ever_has_not_decided(monkeypatch, capsys):
    types(monkeypatch, *["1, 5"] * MOST_QUESTIONS)
    with pytest.raises(HumanInputUnavailable, match="No clear answer came"):
        choose_many("Sources", "Which?", LINES, WORDS)


def test_a_line_is_numbered_once(monkeypatch, capsys):
    types(monkeypatch, "none")
    choose_many("Sources", "Which?", LINES, WORDS)
    assert "  1. Tides\n  2. Surges\n  3. Moon\n  4. all: read all\n  5. none: read none\n" in capsys.readouterr().out


def test_of_no_lines_none_can_be_chosen(monkeypatch, capsys):
    types(monkeypatch, "1")
    assert choose_many("Facts", "Which?", [], {"none": "keep all"}) == []


def test_equal_lines_are_told_apart_by_their_place(monkeypatch, capsys):
    types(monkeypatch, "2")
    assert choose_many("Sources", "Which?", ["Tides", "Tides"], WORDS) == [1]


# ---- own words ----

@pytest.mark.parametrize("line", ["Leave out the sun.", "7", "1, 2", '"What?"; "Why?"', "it's", "'quoted'"])
def test_own_words_come_as_they_were_typed(monkeypatch, capsys, line):
    types(monkeypatch, line)
    assert own_words("Change", "What shall be changed?") == line


def test_enter_alone_is_no_words(monkeypatch, capsys):
    left = types(monkeypatch, "   ", "next")
    assert own_words("Change", "What shall be changed?") == "" and left == ["next"]


# ---- by whoever stands for the keyboard ----

def test_whoever_stands_for_the_keyboard_is_asked_and_not_believed_blindly(questioner):
    asked = questioner([], ["maybe"], ["approve", "reject"], ["approve"])
    assert choose("Plan", "Is this the plan?", PLAN) == "approve"
    assert [each["question"].startswith("(That was not clear.") for each in asked] == [False, True, True, True]
    assert all(each["closed"] for each in asked)


def test_several_lines_and_words_come_from_there_too(questioner):
    questioner(["3", "1"], ["1", "none"], ["all"], [" my ", "words "])
    assert choose_many("Sources", "Which?", LINES, WORDS) == [0, 2]
    assert choose_many("Sources", "Which?", LINES, WORDS) == [0, 1, 2]
    assert own_words("Change", "What?") == "my  words"


def test_a_line_that_is_chosen_twice_counts_once_and_a_tuple_will_do(questioner):
    questioner(["2", "2"], ("all",), ("none",))
    assert [choose_many("Sources", "Which?", LINES, WORDS) for _ in range(3)] == [[1], [0, 1, 2], []]


def test_an_answer_to_another_question_is_none():
    token = QUESTIONER.set(lambda questions: {"Something else?": ["approve"]})
    try:
        with pytest.raises(HumanInputUnavailable):
            choose("Plan", "Is this the plan?", PLAN)
        assert own_words("Change", "What?") == ""
    finally:
        QUESTIONER.reset(token)


# ---- the form ----

def test_a_form_of_a_closed_question_has_no_line_for_own_words_and_no_way_out():
    form = QuestionForm([CLOSED], print)
    [field] = form.fields
    assert field.options[0].control.options == ("approve: go on", "reject") and field.own.box not in field.box.children
    assert len(field.box.children) == 2 and "is asked again" in form.note.value
    form.close()


def test_a_form_of_a_question_without_options_has_the_line_only():
    sent = []
    form = QuestionForm([OPEN_LINE], sent.append)
    [field] = form.fields
    assert field.options == [] and field.box.children == (field.heading, field.own.box)
    field.own.control.value = "  Leave out the sun. "
    form.press()
    form.close()
    assert sent == [{"What shall be changed?": ["Leave out the sun."]}] and "left open" in form.note.value


@pytest.mark.parametrize(("question", "answer"), [(CLOSED, ["reject"]), (CLOSED, []), (OPEN_LINE, ["more"]), (OPEN_LINE, []),
                                                  (CLOSED | {"multiSelect": True}, ["approve", "reject"])])
def test_a_form_sends_what_is_filled_in(question, answer):
    sent = []
    form = QuestionForm([question], sent.append)
    form.fill({question["question"]: answer})
    form.press()
    form.close()
    assert sent == [{question["question"]: answer} if answer else {}]


def test_the_record_says_that_the_program_asked_and_not_the_model():
    assert answer_line(CLOSED, {CLOSED["question"]: ["approve"]}) == "you were asked: Is this the plan? -> approve"
    assert answer_line(CLOSED, {}).endswith("-> no answer") and answer_line(OPEN_LINE, {}).startswith("you were asked")
    model_asks = {name: value for name, value in CLOSED.items() if name != "closed"}
    assert answer_line(model_asks, {}) == "the model asked: Is this the plan? -> left open"


def test_a_record_in_full_marks_what_was_chosen():
    assert answer_in_full(CLOSED, {CLOSED["question"]: ["approve"]}) == "Plan:\nIs this the plan?\n  [x] approve: go on\n  [ ] reject"


# ---- what the console makes of such questions ----

def test_a_question_that_is_not_closed_still_takes_own_words():
    assert chosen("perhaps", CLOSED | {"closed": False}) == ["perhaps"]
    with pytest.raises(ValueError, match="one of these words: approve, reject"):
        chosen("perhaps", CLOSED)


def test_a_question_without_options_takes_a_number_as_words(monkeypatch, capsys):
    types(monkeypatch, "1, 2")
    assert ask_in_console([OPEN_LINE]) == {"What shall be changed?": ["1, 2"]}

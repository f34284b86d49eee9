"""The form with a model's questions: what it shows, what it sends, and that a change is never lost or made up."""
import ipywidgets
import pytest

from agent_steps.ask_user import check_answers, read_questions
from agent_steps.classroom import question_form
from agent_steps.classroom.question_form import OPEN, QuestionForm, answer_in_full, answer_line, heading_html, no_formula


def question(text, header, *labels, many=False):
    options = [{"label": label, "description": f"The one called {label}."} for label in labels]
    return {"question": text, "header": header, "multiSelect": many, "options": options}


WHICH = question("Which file?", "File", "a.csv", "b.csv")
ALL = question("Which columns?", "Columns", "name", "mass", "year", many=True)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def form(sent):
    opened = QuestionForm(read_questions([WHICH, ALL]), sent.append)
    yield opened
    opened.close()


@pytest.fixture
def file(form):
    """The field of the question that takes one answer."""
    return form.fields[0]


@pytest.fixture
def columns(form):
    """The field of the question that takes several answers."""
    return form.fields[1]


# ---- what it shows ----

def test_a_single_choice_has_radio_buttons_and_none_is_chosen(file):
    [radio] = file.options
    assert isinstance(radio.control, ipywidgets.RadioButtons) and radio.state is None
    assert radio.control.options == ("a.csv: The one called a.csv.", "b.csv: The one called b.csv.", OPEN)


def test_a_choice_of_several_has_check_boxes_and_none_is_checked(columns):
    assert [type(box.control) for box in columns.options] == [ipywidgets.Checkbox] * 3
    assert not any(box.state for box in columns.options)
    assert columns.options[1].control.description == "mass: The one called mass."


def test_each_line_for_own_words_says_which_question_it_belongs_to(file, columns):
    assert [each.own.control.description for each in (file, columns)] == ["File, in your own words:", "Columns, in your own words:"]
    assert file.own.control.placeholder != columns.own.control.placeholder


def test_the_header_and_the_question_stand_above_the_options(form):
    assert "File:" in form.fields[0].heading.value and "Which file?" in form.fields[0].heading.value
    assert form.fields[0].box.children[0] is form.fields[0].heading


def test_there_is_one_button_for_all_questions(form):
    assert form.button.description == "Send" and form.row.children[0] is form.button


def test_what_a_model_writes_is_never_html_and_hides_nothing():
    nasty = question("<img src=x>\u202e\x1b?", "<b>\u202e", "<i>one</i>", "two\u202e")
    assert "<img" not in heading_html(nasty) and "<b>" not in heading_html(nasty)
    single, several = QuestionForm([nasty], print), QuestionForm([nasty | {"multiSelect": True}], print)
    shown = [heading_html(nasty), answer_line(nasty, {}), answer_in_full(nasty, {}), *single.fields[0].options[0].control.options,
             *[box.control.description for box in several.fields[0].options], single.fields[0].own.control.description]
    assert not [text for text in shown if "\u202e" in text or "\x1b" in text]
    assert not any(box.control.description_allow_html for box in several.fields[0].options)
    single.close()
    several.close()


def test_half_a_character_which_a_front_end_cannot_take_is_shown_as_an_escape():
    half = question("Which?", "File", "\ud83d", "two")
    assert question_form.option_line(half["options"][0]) == r"\ud83d: The one called \ud83d."


def test_a_question_of_several_lines_keeps_them():
    assert "one\ntwo" in heading_html(question("one\ntwo", "File", "a", "b"))


def test_prices_do_not_become_a_formula():
    assert no_formula("$5: up to $10") == r"\$5: up to \$10" and no_formula("costs $5") == "costs $5"


# ---- what it sends ----

def test_a_chosen_label_and_checked_labels_are_sent(form, file, columns, sent):
    file.options[0].control.index = 1
    for place in (2, 0):
        columns.options[place].control.value = True
    form.press()
    assert sent == [{"Which file?": ["b.csv"], "Which columns?": ["name", "year"]}]


def test_own_words_replace_the_label_of_a_single_choice_and_come_beside_those_of_several(form, file, columns, sent):
    file.options[0].control.index = 0
    file.own.control.value = "  the newest one "
    columns.options[0].control.value = True
    columns.own.control.value = "and the island"
    form.press()
    assert sent == [{"Which file?": ["the newest one"], "Which columns?": ["name", "and the island"]}]
    assert check_answers([WHICH, ALL], sent[0])["Which columns?"] == {"selected": ["name"], "other_text": "and the island"}


def test_what_is_left_open_is_left_out(form, file, sent):
    file.own.control.value = "   "
    form.press()
    assert sent == [{}]
    assert check_answers([WHICH, ALL], sent[0])["Which file?"] == {"selected": [], "other_text": None}


def test_a_choice_can_be_taken_back(form, file, sent):
    for place in (0, 2):
        file.options[0].control.index = place
    form.press()
    assert sent == [{}]


def test_a_mind_can_be_changed_as_often_as_one_likes(form, file, columns, sent):
    for place in (0, 1, 0):
        file.options[0].control.index = place
    for is_checked in (True, False, True, False):
        columns.options[1].control.value = is_checked
    form.press()
    assert sent == [{"Which file?": ["a.csv"]}]


def test_a_double_click_sends_once(form, sent):
    form.press()
    form.press()
    assert len(sent) == 1


def test_a_click_before_the_form_could_be_read_sends_nothing(sent, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(question_form.time, "monotonic", lambda: now[0])
    form = QuestionForm([WHICH], sent.append, wait=0.5)
    for _ in range(30):   # a key that is held down
        now[0] += 0.03
        form.press()
    assert sent == []
    now[0] += 0.6
    form.press()
    form.close()
    assert sent == [{}]


def test_what_was_typed_before_a_click_and_arrives_after_it_is_sent(sent):
    later = []
    form = QuestionForm([WHICH], sent.append, soon=later.append)
    form.press()
    form.fields[0].own.control.value = "the newest"
    form.press()
    [do] = later
    do()
    form.close()
    assert sent == [{"Which file?": ["the newest"]}]


# ---- questions of the program: closed, or without options ----

CLOSED = question("Go on?", "Plan", "yes", "no") | {"closed": True}
CLOSED_ALL = ALL | {"closed": True}
FREE = question("What else?", "Else") | {"closed": False}


@pytest.fixture
def program(sent):
    opened = QuestionForm([CLOSED, CLOSED_ALL, FREE], sent.append)
    yield opened
    opened.close()


def test_a_closed_question_offers_its_options_and_nothing_else(program):
    single, several, _ = program.fields
    assert single.options[0].control.options == ("yes: The one called yes.", "no: The one called no.")
    assert single.box.children == (single.heading, single.options[0].box)
    assert several.box.children == (several.heading, *[each.box for each in several.options])


def test_a_question_without_options_has_a_line_only(program):
    free = program.fields[2]
    assert free.box.children == (free.heading, free.own.box) and free.own.control.placeholder == ""


@pytest.mark.parametrize("answers", [{}, {"Go on?": ["no"], "Which columns?": ["name", "year"], "What else?": ["the wind"]}])
def test_what_is_filled_in_for_the_program_is_what_is_sent(program, sent, answers):
    program.fill(answers)
    program.press()
    assert sent == [answers]


def test_an_option_without_a_description_is_its_label_and_a_label_that_is_its_number_is_left_out():
    assert question_form.option_line({"label": "yes", "description": ""}, 1) == "yes"
    assert question_form.option_line({"label": "2", "description": "A book."}, 2) == "A book."
    assert question_form.option_line({"label": "2", "description": "A book."}, 1) == "2: A book."


# ---- changes while a cell runs ----

def controls(form):
    return [each for field in form.fields for each in [*field.options, field.own]]


@pytest.mark.parametrize("place, state", [(0, 1), (1, "my words"), (2, True), (5, "my words")])
def test_a_control_that_has_changed_makes_way_for_a_fresh_one_with_the_same_state(form, place, state):
    changed = controls(form)[place]
    before, others = changed.control, [each.control for each in controls(form) if each is not changed]
    setattr(before, changed.name, state)
    assert changed.control is not before and changed.state == state and changed.box.children == (changed.control,)
    assert [each.control for each in controls(form) if each is not changed] == others   # somebody may be typing there


def test_what_comes_late_from_a_control_that_has_made_way_counts_for_nothing(form, file):
    late = file.options[0].control
    late.index = 0
    late.index = 1
    assert form.answers() == {"Which file?": ["a.csv"]}


def test_a_closed_form_lets_go_of_all_widgets_that_it_ever_had():
    before = set(ipywidgets.widget._instances)
    form = QuestionForm([WHICH, ALL], print)
    form.fill({"Which file?": ["mine"], "Which columns?": ["name", "year"]})
    form.close()
    assert set(ipywidgets.widget._instances) == before


# ---- filled by code, and the record ----

@pytest.mark.parametrize("answers", [{}, {"Which file?": ["b.csv"], "Which columns?": ["name", "year", "all of them"]},
                                     {"Which file?": ["any"], "Which columns?": ["my own"]}])
def test_what_is_filled_in_by_code_is_what_is_sent(form, sent, answers):
    form.fill(answers)
    form.press()
    assert sent == [answers]


@pytest.mark.parametrize("answers, line", [({}, "left open"), ({"Which columns?": ["name", "all\u202e"]}, r"name, all\u202e")])
def test_the_record_says_what_was_answered_or_left_open(answers, line):
    assert answer_line(ALL, answers) == f"the model asked: Which columns? -> {line}"


def test_in_full_the_record_has_all_options_and_marks_the_chosen_ones():
    assert answer_in_full(ALL, {"Which columns?": ["mass", "more"]}).splitlines() == [
        "Columns:", "Which columns?", "  [ ] name: The one called name.", "  [x] mass: The one called mass.",
        "  [ ] year: The one called year.", "In your own words: more"]
    assert answer_in_full(ALL, {}).splitlines()[-1] == "Left open."


def test_a_very_long_question_and_answer_are_cut_in_the_line_and_whole_in_full():
    long = question("Why? " * 100, "Why", "x" * 300, "y")
    answers = {long["question"]: ["x" * 300]}
    assert len(answer_line(long, answers)) < 250 and "x" * 300 in answer_in_full(long, answers)

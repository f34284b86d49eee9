"""The questions of a model as a form: options to choose from, a line for one's own words, one button that sends it all.

What the model has written is shown as text, and hides nothing.
"""
import time
from functools import partial
from html import escape

import ipywidgets

from agent_steps.classroom.question_console import is_of_a_model, labels_of, option_line
from agent_steps.classroom.show_call import cut_middle, visible, visible_lines
from agent_steps.classroom.widget_parts import Fresh, button, html_widget, let_go

LINE = 90   # characters of a question, and of an answer, in the record
OPEN = "Leave this open"   # since a radio button cannot be unpressed
# A front end gives an option one line of a fixed height, and puts the circle where the text ends.
STYLE = """<style>
.agent-steps-form .widget-radio, .agent-steps-form .widget-checkbox {width: 100%; height: auto; margin: 0}
.agent-steps-form .widget-radio-box {min-width: 0; margin: 0 !important}
.agent-steps-form .widget-radio-box label, .agent-steps-form .widget-checkbox label {
    display: flex; align-items: baseline; width: auto; height: auto; line-height: 1.4; padding: 0.15em 0;
    white-space: normal; overflow-wrap: anywhere}
.agent-steps-form .widget-radio-box label {flex-direction: row-reverse; justify-content: flex-end}
.agent-steps-form input[type="radio"], .agent-steps-form input[type="checkbox"] {
    float: none; flex: none; width: 13px; height: 13px; margin: 0.2em 8px 0 1px; align-self: flex-start; position: static}
</style>"""
HEADING = "line-height:1.4;white-space:pre-wrap;overflow-wrap:anywhere;margin:0.6em 0 0.2em"


class QuestionForm:
    """A form of one or several questions, and what is chosen and typed in it.

    A question that is "closed" takes no own words, one without options takes nothing else.

    send: called once, with the answers: from the text of each question to a list of labels and at most one text in the person's
    own words, which in a single choice stands in for the label. A question that is left open is left out.
    wait: seconds that the form is there before it can be sent, so that the second click of a double click sends nothing.
    soon: does something a moment after a click (see `ApprovalPanel.soon`). None: at once.
    """

    def __init__(self, questions, send, wait=0.0, soon=None):
        self.questions, self.send, self.wait, self.soon, self.is_sent = questions, send, wait, soon, False
        self.fields = [QuestionField(each) for each in questions]
        self.button = button("Send")
        self.button.on_click(lambda _: self.clicked())
        is_closed = all(each.get("closed") for each in questions)
        self.note = html_widget(f"{STYLE}A question without an answer is {'asked again' if is_closed else 'left open'}.")
        self.row = ipywidgets.HBox([self.button, self.note], layout={
            "flex_flow": "row wrap", "align_items": "center", "grid_gap": "0 0.8em", "margin": "0.6em 0"})
        self.box = ipywidgets.VBox([*[each.box for each in self.fields], self.row], layout={"width": "100%"})
        self.box.add_class("agent-steps-form")
        self.shown_at = time.monotonic()

    def clicked(self):
        """The button was pressed: send the answers, if it could be read, and only once."""
        if self.is_sent:
            return
        if time.monotonic() - self.shown_at < self.wait:
            self.shown_at = time.monotonic()   # a key that is held down never gets through
            return
        self.is_sent = True
        (self.soon or at_once)(lambda: self.send(self.answers()))

    def answers(self):
        """Return what is chosen and typed now."""
        found = {each.question["question"]: each.answer() for each in self.fields}
        return {text: answer for text, answer in found.items() if answer}

    def fill(self, answers):
        """Choose and type from code, as a person would. answers: as `send` gets them."""
        for each in self.fields:
            each.fill(answers.get(each.question["question"], []))

    def press(self):
        """Press the button from code."""
        self.button.click()

    def close(self):
        """Let go of all widgets."""
        for each in self.fields:
            each.close()
        let_go([self.button, self.note, self.row, self.box])


class QuestionField:
    """One question of a form: its text, the options, and a line for one's own words."""

    def __init__(self, question):
        self.question, self.labels = question, labels_of(question)
        texts = [option_line(option) for option in question["options"]]
        if question["multiSelect"]:
            self.options = [Fresh(partial(check_box, text), "value", False) for text in texts]
        else:
            ways_out = [] if question.get("closed") else [OPEN]
            self.options = [Fresh(partial(radio_buttons, [*texts, *ways_out]), "index", None)] if texts else []
        self.own = Fresh(partial(line_for, question), "value", "")
        self.heading = html_widget(heading_html(question))
        own = [] if question.get("closed") else [self.own.box]
        self.box = ipywidgets.VBox([self.heading, *[each.box for each in self.options], *own], layout={"width": "100%"})

    def answer(self):
        """Return the labels that are chosen, and one's own words."""
        own = [self.own.state.strip()] if self.own.state.strip() else []
        if self.question["multiSelect"]:
            return [label for label, option in zip(self.labels, self.options, strict=True) if option.state] + own
        place = self.options[0].state if self.options else None
        return own or ([] if place is None else self.labels[place:place + 1])   # behind the labels: left open

    def fill(self, answer):
        """Choose the labels of an answer, and type what is none."""
        places = [place for place, label in enumerate(self.labels) if label in answer]
        if self.question["multiSelect"]:
            for place, option in enumerate(self.options):
                option.put(place in places)
        elif self.options:
            self.options[0].put(places[0] if places else None)
        self.own.put(next((text for text in answer if text not in self.labels), ""))

    def close(self):
        """Let go of all widgets."""
        for each in [*self.options, self.own]:
            each.close()
        let_go([self.heading, self.box])


def at_once(do):
    """Do something now."""
    do()


def heading_html(question) -> str:
    """Write the header and the question."""
    text = "\n".join(visible_lines(question["question"]))
    html = f'<div style="{HEADING}"><strong>{escape(visible(question["header"]))}:</strong> {escape(text)}</div>'
    return f'<div class="mathjax_ignore tex2jax_ignore">{html}</div>'


def radio_buttons(texts, place):
    """Make radio buttons, the one at this place chosen, or none."""
    return ipywidgets.RadioButtons(options=texts, index=place)


def check_box(text, is_checked):
    """Make a check box."""
    return ipywidgets.Checkbox(is_checked, description=no_formula(text), indent=False)


def line_for(question, text):
    """Make a line for an answer in one's own words."""
    return ipywidgets.Text(text, description=no_formula(f"{visible(question['header'])}, in your own words:"), continuous_update=False,
                           placeholder=place_words(question),
                           style={"description_width": "initial"}, layout={"width": "calc(100% - 4px)", "max_width": "44em"})


def place_words(question) -> str:
    """What stands in an empty line."""
    if not question["options"]:
        return ""
    return "besides what is chosen" if question["multiSelect"] else "instead of the options"


def no_formula(text) -> str:
    """Keep a front end from setting what stands between two $ of a description as a formula."""
    return text.replace("$", r"\$") if text.count("$") > 1 else text


def answer_line(question, answers) -> str:
    """Say in one line what was asked and answered, cut where it is long."""
    asked = visible(" ".join(question["question"].split()))
    answer = visible(", ".join(answers.get(question["question"], [])))
    by_model = is_of_a_model(question)
    who, nothing = ("the model asked", "left open") if by_model else ("you were asked", "no answer")
    return f"{who}: {cut_middle(asked, LINE)} -> {cut_middle(answer, LINE) or nothing}"


def answer_in_full(question, answers) -> str:
    """Write a question with its options, those that were chosen marked, and what was answered in the person's own words."""
    answer = answers.get(question["question"], [])
    lines = [f"{visible(question['header'])}:", *visible_lines(question["question"])]
    lines += [f"  [{'x' if option['label'] in answer else ' '}] {option_line(option)}" for option in question["options"]]
    own = [visible(text) for text in answer if text not in labels_of(question)]
    return "\n".join([*lines, *[f"In your own words: {text}" for text in own], *([] if answer else ["Left open."])])

"""The approval panel itself: what it shows, its buttons, the questions of a model, and the record that it leaves behind."""
import time
from dataclasses import dataclass
from html import escape

import ipywidgets

from agent_steps.classroom.call_view import call_html
from agent_steps.classroom.question_form import QuestionForm, answer_in_full, answer_line
from agent_steps.classroom.run_table import in_code
from agent_steps.classroom.show_call import count, cut_middle, short_call, show_call, stamp, visible
from agent_steps.classroom.turn_view import BLOCK, block_text
from agent_steps.classroom.whats_new import View
from agent_steps.classroom.widget_parts import Fresh, button, html_widget, let_go

STAGES = {"THINK": "The model is thinking.", "APPROVE": "Run this tool?", "ACT": "The tool is running.",
          "OBSERVE": "The model is told what happened."}
ASKING = "You are asked."   # not a stage of its own: a tool is running, and it asks
ANSWERS = {"y": "approved", "n": "refused", "q": "quit"}
TEXT = "line-height:1.5"
CHIP = "display:inline-block;padding:0.1em 0.7em;border-radius:0.5em;"
LIT = CHIP + "background:#fff0bf;color:#26323c;border:2px solid #8a4b00;font-weight:bold"       # as in the lessons' pictures
UNLIT = CHIP + "border:2px solid rgba(128,128,128,0.9)"
FADED = "<style>.agent-steps-waiting{opacity:0.45}</style>"   # not disabled: that would take the keyboard's focus away


class PanelBox(ipywidgets.VBox):
    """The box around everything. Where a front end shows no widgets, it shows this text."""

    def __repr__(self):
        return "(Here stand buttons. If you see none, interrupt this cell, and call the function without in_panel.)"


@dataclass
class Decision:
    """One line of the record: what was asked for, in short and in full, what was answered, and what the model was told.

    call: an empty text where a tool asked the person; then the answer says what.
    """

    step: int
    call: str
    answer: str = ""
    in_full: str = ""
    told: str = ""

    def html(self) -> str:
        """Write it in one line, and fold under it the whole call and what the model was told."""
        parts = [self.in_full, self.told and f"The model was told:\n{block_text(self.told)}"]
        blocks = "".join(f"<pre {BLOCK}>{escape(part, quote=False)}</pre>" for part in parts if part)
        answer = escape(self.answer) if self.call else f'<span style="overflow-wrap:anywhere">{escape(self.answer)}</span>'
        line = " ".join(filter(None, [f"Step {self.step}:", in_code(self.call), answer]))
        return f'<details style="{TEXT}"><summary>{line}</summary>{blocks}</details>'

    def text(self) -> str:
        """Write it in one line of plain text."""
        return f"step {self.step}: {self.call}" + (f" ({self.answer})" if self.call and self.answer else self.answer)


class ApprovalPanel:
    """The four stages, the proposed call, the buttons, or a form with the model's questions, and what was decided so far.

    answer: called with "y", "n", "n: a reason" or "q", and with the answers of a form (see `QuestionForm`).
    wait: seconds that a question is there before an answer counts, so that the second click of a double click, or a key held down,
    approves nothing. folder: where the paths of the calls begin.
    pause: seconds that a click waits for what was typed before it; then `do_what_is_due` must be called again and again.
    """

    def __init__(self, answer, wait=0.0, folder=".", pause=0.0):
        self.answer, self.wait, self.folder, self.pause, self.due = answer, wait, folder, pause, None
        self.steps, self.calls, self.question, self.asked_at = 0, 0, None, 0.0
        self.decisions, self.ending, self.took = [], "It is over.", ""
        self.head, self.proposal = html_widget(), html_widget()
        self.log, self.place, self.forms = ipywidgets.VBox(), ipywidgets.VBox(), []   # place: of a form
        self.buttons = {"y": button("Approve"), "n": button("Refuse"), "q": button("Quit")}
        for letter, each in self.buttons.items():
            each.on_click(lambda _, letter=letter: self.clicked(letter))
        self.reason = Fresh(reason_field, "value", "", width="auto")   # a fresh one for each question: a reason that comes late belongs to no other
        self.row = ipywidgets.HBox([*self.buttons.values(), self.reason.box], layout={"flex_flow": "row wrap"})
        self.box = PanelBox([self.head, self.row, self.proposal, self.place, self.log], layout={"padding": "0.5em", "border": "1px solid gray"})
        self.buttons_fade(True)

    def show(self, event):
        """Show what is happening now: light its stage, count, and put up the question if there is one."""
        self.took = event.took
        if event.stage == "RULE":
            self.add(Decision(self.steps, short_call(event.call), "allowed by a rule" if event.text == "y" else "forbidden by a rule",
                              show_call(event.call, self.folder)))
            return
        if event.stage == "THINK":
            self.steps += 1
        elif event.stage == "ACT":
            self.calls += 1
        elif event.stage == "OBSERVE":
            self.note(event.text)
        self.light(event.stage)
        self.buttons_fade(event.stage != "APPROVE")
        if event.stage == "APPROVE":
            self.ask(event.call, event.text)
        elif event.stage == "ASK":
            self.show_form(event.questions)

    def light(self, stage):
        """Light a stage, with the counters as they are now."""
        self.head.value = head_html(stage, self.steps, self.calls, self.took)

    def ask(self, call, reply):
        """Put up a question. It is open only when all of it is there, since a click may arrive at any moment."""
        self.view, self.stamp = call_html(call, self.folder), stamp(call, self.folder)
        self.proposal.value = f'<div style="{TEXT}">{says_html(reply)}{self.view}</div>'
        self.asked_at = time.monotonic()
        self.question = call

    def show_form(self, questions):
        """Put up the questions of the model, in place of the buttons, which have nothing to answer meanwhile."""
        self.forms.append(QuestionForm(questions, self.answered, self.wait, self.soon))
        self.row.layout.display = "none"
        self.place.children = [self.forms[-1].box]

    def answered(self, answers):
        """The form was sent: take it down, keep a line for each question, and pass the answers on."""
        self.place.children = []
        self.row.layout.display = None
        for each in self.forms[-1].questions:
            self.add(Decision(self.steps, "", answer_line(each, answers), answer_in_full(each, answers)))
        self.light("ACT")
        self.answer(answers)

    def note(self, told):
        """Keep what the model was told after its last reply."""
        if not self.decisions or self.decisions[-1].step != self.steps:
            self.add(Decision(self.steps, "no call that could run"))
        self.decisions[-1].told = told
        self.log.children[-1].value = self.decisions[-1].html()

    def add(self, decision):
        """Add one line to the record, as a widget of its own: what a person has opened above it stays open."""
        self.decisions.append(decision)
        self.log.children = [*self.log.children, html_widget(decision.html())]

    def clicked(self, letter):
        """A button was pressed: pass the answer on, if there is a question, it could be read, and it is still the same."""
        if self.question is None:
            return
        if time.monotonic() - self.asked_at < self.wait:
            self.asked_at = time.monotonic()   # a key that is held down never gets through
            return
        seen = self.view, self.stamp
        if letter == "y" and (call_html(self.question, self.folder), stamp(self.question, self.folder)) != seen:   # its file was changed meanwhile
            self.ask(self.question, "What you see has changed since you were asked. Look again.")
            return
        call, self.question = self.question, None
        if letter == "n":
            self.soon(lambda: self.decide(call, letter, self.reason.state.strip()))
        else:
            self.decide(call, letter)

    def soon(self, do):
        """Do something a moment after a click: a front end sends what was typed before the click first, but it may arrive second."""
        self.due = time.monotonic() + self.pause, do
        self.do_what_is_due()

    def do_what_is_due(self):
        """Do what a click has left to do, if its moment is over."""
        if self.due and time.monotonic() >= self.due[0]:
            (_, do), self.due = self.due, None
            do()

    def decide(self, call, letter, reason=""):
        """Take the question down, keep the decision, and pass the answer on."""
        self.add(Decision(self.steps, short_call(call), ANSWERS[letter] + (f": {visible(reason)}" if reason else ""), show_call(call, self.folder)))
        if letter == "q":
            self.ending = "You ended it."
        self.proposal.value = ""
        self.reason.put("")
        self.answer(f"n: {reason}" if reason else letter)

    def press(self, answer):
        """Press a button from code, as a person would: "y", "n", "n: a reason" or "q"."""
        letter, _, reason = answer.partition(":")
        self.reason.put(reason.strip())
        self.buttons[letter].click()

    def buttons_fade(self, faded):
        """Show whether an answer is awaited."""
        for each in self.buttons.values():
            (each.add_class if faded else each.remove_class)("agent-steps-waiting")

    def record(self) -> View:
        """Return what stays in the notebook: the decisions."""
        title = f"The run took {count(self.steps, 'step')} and {count(self.calls, 'tool call')}. {self.ending}" + (f" Tokens: {self.took}." if self.took else "")
        lines = [f"  {each.text()}" for each in self.decisions]
        html = f"<p>{escape(title)}</p>{''.join(each.html() for each in self.decisions)}"
        return View("\n".join([title, *lines]), f'<div class="mathjax_ignore tex2jax_ignore">{html}</div>')

    def close(self):
        """Let go of all widgets."""
        for each in [*self.forms, self.reason]:
            each.close()
        let_go([*self.buttons.values(), *self.log.children, *self.box.children, self.box])


def reason_field(text):
    """Make the field for a reason."""
    return ipywidgets.Text(text, placeholder="why not, if you refuse", continuous_update=False, layout={"width": "20em", "max_width": "100%"})


def head_html(stage, steps, calls, took) -> str:
    """Write the four stages, one of them lit, the counters, and what the replies took so far. While the model asks, its tool runs."""
    stage, says = ("ACT", ASKING) if stage == "ASK" else (stage, STAGES[stage])
    chips = " → ".join(f'<span style="{LIT}" aria-current="step">{name}</span>' if name == stage else f'<span style="{UNLIT}">{name}</span>'
                       for name in STAGES)
    return (f'{FADED}<div style="{TEXT}">{chips}<div style="margin:0.5em 0 0">Step {steps} | tool calls so far: {calls} | '
            f'<strong role="status">{says}</strong></div><div>{escape(took and f"Tokens so far: {took}")}</div></div>')


def says_html(reply) -> str:
    """Write what the model said before its call."""
    words = cut_middle(visible(" ".join(reply.partition("<tool_call>")[0].split())), 300)
    return f'<p style="margin:0 0 0.5em">The model says: <q>{escape(words)}</q></p>' if words else ""

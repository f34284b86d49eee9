"""The approval panel: what it shows, what a click does, what it leaves behind, and what happens where there can be no buttons."""
import asyncio
import json
import sys
from types import SimpleNamespace

import ipywidgets
import pytest
from scripted import call_text, done, scripted_chat, types
from test_call_with_tools import reply, scripted

from agent_steps.ask_user import tools_interactive
from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom import asking, in_panel, panel, panel_loop, panel_widgets
from agent_steps.classroom.panel_widgets import ApprovalPanel
from agent_steps.classroom.worker import Event, Worker
from agent_steps.make_it_safer import Policy, Workspace
from agent_steps.run_agent import run_agent

LIST = SimpleNamespace(name="list_files", arguments={"path": "."})
WHICH = {"question": "Which file?", "header": "File", "multiSelect": False,
         "options": [{"label": "a.csv", "description": "The first."}, {"label": "b.csv", "description": "The <second>."}]}
ALL = WHICH | {"question": "Which columns?", "header": "Columns", "multiSelect": True}
QUESTION = Event("APPROVE", LIST, 'I will look.\n<tool_call>{"name": ...}</tool_call>')


@pytest.fixture
def answers():
    return []


@pytest.fixture
def shown(answers):
    """A panel that shows a question."""
    opened = ApprovalPanel(answers.append)
    opened.show(Event("THINK"))
    opened.show(QUESTION)
    yield opened
    opened.close()


def lit(panel):
    """The stage that is lit."""
    before, _, after = panel.head.value.partition('aria-current="step">')
    return after[:after.index("<")]


def log(panel):
    return "".join(line.value for line in panel.log.children)


def is_faded(panel):
    return all("agent-steps-waiting" in button._dom_classes for button in panel.buttons.values())


# ---- what it shows ----

@pytest.mark.parametrize("stage", ["THINK", "APPROVE", "ACT", "OBSERVE"])
def test_the_stage_that_the_loop_is_in_is_lit_and_no_other(shown, stage):
    shown.show(Event(stage, LIST, "text"))
    assert lit(shown) == stage and shown.head.value.count("aria-current") == 1


def test_steps_and_calls_count_up(shown):
    assert "Step 1 | tool calls so far: 0" in shown.head.value
    for stage in ("ACT", "OBSERVE", "THINK"):
        shown.show(Event(stage, LIST, "text"))
    assert "Step 2 | tool calls so far: 1" in shown.head.value


def test_the_call_and_what_the_model_says_are_there_while_there_is_a_question_only(shown):
    assert "list_files" in shown.proposal.value and "I will look." in shown.proposal.value and "tool_call" not in shown.proposal.value
    shown.press("y")
    assert shown.proposal.value == ""


def test_the_buttons_are_faded_while_there_is_no_question(shown):
    assert not is_faded(shown)
    shown.show(Event("ACT", LIST))
    assert is_faded(shown)


def test_what_was_decided_and_what_the_model_was_told_stays_in_view(shown):
    shown.press("n: not <now>")
    shown.show(Event("OBSERVE", text="Not run: <refused>"))
    assert "refused: not &lt;now&gt;" in log(shown) and "Not run: &lt;refused&gt;" in log(shown) and "list_files" in log(shown)


def test_a_reply_without_a_call_stands_in_the_log(shown):
    shown.press("y")
    for event in (Event("OBSERVE", text="data"), Event("THINK"), Event("OBSERVE", text="Please call a tool")):
        shown.show(event)
    assert "Step 2: <samp" in log(shown) and "no call that could run" in log(shown) and "Please call a tool" in log(shown)


def test_a_line_of_the_log_stays_the_same_widget_so_that_what_was_opened_stays_open(shown):
    shown.press("y")
    [first] = shown.log.children
    for event in (Event("ACT"), Event("OBSERVE", text="data"), Event("THINK"), QUESTION):
        shown.show(event)
    shown.press("n")
    assert shown.log.children[0] is first and len(shown.log.children) == 2


def test_a_front_end_without_widgets_shows_what_to_do(shown):
    assert "interrupt this cell" in repr(shown.box)


# ---- questions of the model ----

def test_while_the_model_asks_a_tool_is_running_and_the_status_says_who_asks(shown):
    shown.press("y")
    shown.show(Event("ACT", LIST))
    shown.show(Event("ASK", questions=[WHICH]))
    assert lit(shown) == "ACT" and "You are asked." in shown.head.value and "tool calls so far: 1" in shown.head.value


def test_the_form_takes_the_place_of_the_buttons_until_it_is_sent(shown, answers):
    shown.show(Event("ASK", questions=[WHICH]))
    assert shown.place.children == (shown.forms[-1].box,) and shown.row.layout.display == "none"
    shown.forms[-1].fill({"Which file?": ["b.csv"]})
    shown.forms[-1].press()
    assert answers == [{"Which file?": ["b.csv"]}]
    assert shown.place.children == () and shown.row.layout.display is None and "The tool is running." in shown.head.value


def test_each_question_and_its_answer_stay_in_the_record_with_all_options_folded(shown):
    shown.press("y")
    shown.show(Event("ASK", questions=[WHICH, ALL]))
    shown.forms[-1].fill({"Which file?": ["b.csv"]})
    shown.forms[-1].press()
    shown.show(Event("OBSERVE", text="the answers"))
    assert repr(shown.record()).splitlines()[1:] == [
        "  step 1: list_files(path='.') (approved)", "  step 1: the model asked: Which file? -> b.csv", "  step 1: the model asked: Which columns? -> left open"]
    html = shown.record()._repr_html_()
    assert "the model asked: Which file? -&gt; b.csv</span></summary>" in html and "[x] b.csv: The &lt;second&gt;." in html and "Left open." in html
    assert "The model was told:\nthe answers" in log(shown)


def test_a_form_can_be_sent_only_after_it_could_be_read(answers):
    opened = ApprovalPanel(answers.append, wait=60)
    opened.show(Event("ASK", questions=[WHICH]))
    opened.forms[-1].press()
    opened.close()
    assert answers == []


@pytest.mark.parametrize("late", ["form", "reason"])
def test_what_was_typed_before_a_click_and_arrives_after_it_counts(late, answers, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(panel_widgets.time, "monotonic", lambda: now[0])
    opened = ApprovalPanel(answers.append, pause=0.2)
    opened.show(Event("ASK", questions=[WHICH]) if late == "form" else QUESTION)
    (opened.forms[-1].button if late == "form" else opened.buttons["n"]).click()
    (opened.forms[-1].fields[0].own if late == "form" else opened.reason).control.value = "not this one"
    opened.do_what_is_due()
    assert answers == []
    now[0] += 0.3
    opened.do_what_is_due()
    opened.do_what_is_due()
    opened.close()
    assert answers == ([{"Which file?": ["not this one"]}] if late == "form" else ["n: not this one"])


@pytest.mark.parametrize("lines, expected", [
    (["2", "1,2"], {"Which file?": ["b.csv"], "Which columns?": ["a.csv", "b.csv"]}), (["", "all of them"], {"Which columns?": ["all of them"]}),
    (["a.csv"], {"Which file?": ["a.csv"]}), ([], {})])
def test_in_a_rehearsal_the_form_is_filled_and_sent_by_code(lines, expected, answers, monkeypatch):
    monkeypatch.setenv(asking.REHEARSAL_VARIABLE, "1")
    asking.rehearse(*lines)
    opened = ApprovalPanel(answers.append)
    panel_loop.show(Event("ASK", questions=[WHICH, ALL]), opened, panel_loop.REHEARSED)
    opened.close()
    assert answers == [expected] and not asking.is_rehearsed()


# ---- clicks ----

@pytest.mark.parametrize("pressed", ["y", "n", "n: look in data only", "q"])
def test_a_click_answers_the_question(shown, answers, pressed):
    shown.press(pressed)
    assert answers == [pressed]


def test_only_the_first_click_on_a_question_counts(shown, answers):
    shown.press("y")
    shown.press("y")
    shown.press("q")
    assert answers == ["y"]


def test_a_reason_belongs_to_a_refusal_and_to_one_question_only(shown, answers):
    shown.reason.control.value = "too slow"
    shown.buttons["y"].click()
    shown.show(QUESTION)
    shown.buttons["n"].click()
    assert answers == ["y", "n"]


def test_a_click_before_a_question_could_be_read_counts_for_nothing(answers):
    opened = ApprovalPanel(answers.append, wait=60)
    opened.show(QUESTION)
    opened.press("y")
    opened.close()
    assert answers == []


def test_a_key_that_is_held_down_never_gets_through(answers, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(panel_widgets.time, "monotonic", lambda: now[0])
    opened = ApprovalPanel(answers.append, wait=0.5)
    opened.show(QUESTION)
    for _ in range(90):
        now[0] += 0.03
        opened.press("y")
    assert answers == []
    now[0] += 0.6
    opened.press("y")
    opened.close()
    assert answers == ["y"]


def test_a_question_is_open_only_when_all_of_it_is_there(answers, monkeypatch):
    opened = ApprovalPanel(answers.append)
    view = panel_widgets.call_html
    monkeypatch.setattr(panel_widgets, "call_html", lambda call, folder: opened.press("y") or view(call))
    opened.show(QUESTION)
    opened.close()
    assert answers == []


def test_a_file_that_changes_while_the_question_stands_is_shown_anew(shown, answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "s.py"
    script.write_text("print(1)", encoding="utf-8")
    shown.show(Event("APPROVE", SimpleNamespace(name="run_python_script", arguments={"path": "s.py"}), ""))
    script.write_text("evil()", encoding="utf-8")
    shown.press("y")
    assert answers == [] and "evil()" in shown.proposal.value and "Look again" in shown.proposal.value
    shown.press("y")
    assert answers == ["y"]


def test_a_field_that_has_sent_its_reason_makes_way_for_a_fresh_one(shown, answers):
    for text in ("too", "too slow"):
        before = shown.reason.control
        before.value = text
        assert shown.reason.control is not before and shown.reason.state == text and shown.reason.box.children == (shown.reason.control,)
    shown.buttons["n"].click()
    assert answers == ["n: too slow"] and shown.reason.state == ""


def test_a_reason_that_comes_late_does_not_end_up_in_the_next_question(shown, answers):
    late = shown.reason.control
    shown.buttons["n"].click()
    shown.show(QUESTION)
    late.value = "too slow"
    shown.buttons["n"].click()
    assert answers == ["n", "n"] and shown.reason.state == ""


def test_what_a_model_says_is_never_html_and_hides_nothing(shown):
    shown.show(Event("APPROVE", LIST, "<script>\u202e"))
    assert "<script" not in shown.proposal.value and "\u202e" not in shown.proposal.value


def test_a_click_without_a_question_counts_for_nothing(answers):
    opened = ApprovalPanel(answers.append)
    opened.press("y")
    opened.close()
    assert answers == []


def test_a_closed_panel_lets_go_of_its_widgets():
    before = set(ipywidgets.widget._instances)
    opened = ApprovalPanel(print)
    opened.show(QUESTION)
    opened.press("n: not now")
    for _ in range(2):
        opened.show(Event("ASK", questions=[WHICH]))
        opened.forms[-1].fill({"Which file?": ["a.csv"]})
        opened.forms[-1].press()
    opened.show(Event("ASK", questions=[WHICH, ALL]))   # nobody answers this one
    assert set(ipywidgets.widget._instances) > before
    opened.close()
    assert set(ipywidgets.widget._instances) == before


def test_a_person_has_half_a_second_to_see_a_question():
    assert panel_loop.LIVE.answer == 0.5 and panel_loop.LIVE.stage >= 0.2


def test_the_panel_waits_before_an_answer_counts_as_long_as_its_pace_says(monkeypatch):
    waits = []
    monkeypatch.setattr(panel_loop, "ApprovalPanel", lambda answer, wait, *more: waits.append(wait) or ApprovalPanel(answer, wait, *more))
    monkeypatch.setattr(panel_loop, "is_old_kernel", lambda: False)
    monkeypatch.setattr(panel_loop, "display", lambda *shown, **options: SimpleNamespace(update=lambda view: None))
    worker = Worker(lambda chat, approve: "done", scripted_chat(done()))
    asyncio.run(panel_loop.show_until_the_end(worker))
    assert waits == [panel_loop.LIVE.answer] and worker.outcome() == "done"


def test_the_wait_begins_when_the_call_is_there_and_not_before(answers, monkeypatch):
    now, view = [100.0], panel_widgets.call_html
    monkeypatch.setattr(panel_widgets.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(panel_widgets, "call_html", lambda call, folder: now.append(now.pop() + 2) or view(call))   # a view that takes two seconds
    opened = ApprovalPanel(answers.append, wait=0.5)
    opened.show(QUESTION)
    opened.press("y")
    opened.close()
    assert answers == []


def test_what_is_shown_anew_must_be_read_anew(answers, tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(panel_widgets.time, "monotonic", lambda: now[0])
    monkeypatch.chdir(tmp_path)
    opened = ApprovalPanel(answers.append, wait=0.5)
    opened.show(Event("APPROVE", SimpleNamespace(name="run_python_script", arguments={"path": "s.py"}), ""))
    (tmp_path / "s.py").write_text("evil()", encoding="utf-8")
    now[0] += 1
    opened.press("y")
    opened.press("y")
    opened.close()
    assert answers == []


def test_a_change_where_nobody_can_see_it_is_noticed_too(shown, answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script, lines = tmp_path / "s.py", [f"x = {number}" for number in range(300)]
    script.write_text("\n".join(lines), encoding="utf-8")
    shown.show(Event("APPROVE", SimpleNamespace(name="run_python_script", arguments={"path": "s.py"}), ""))
    script.write_text("\n".join([*lines[:140], "evil()", *lines[141:]]), encoding="utf-8")
    shown.press("y")
    assert answers == [] and "Look again" in shown.proposal.value


def test_a_refusal_is_passed_on_even_if_a_file_has_changed_meanwhile(shown, answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown.show(Event("APPROVE", SimpleNamespace(name="run_python_script", arguments={"path": "s.py"}), ""))
    (tmp_path / "s.py").write_text("evil()", encoding="utf-8")
    shown.press("q")
    assert answers == ["q"] and "You ended it." in repr(shown.record())


def test_a_call_a_reason_and_a_result_in_the_record_hide_nothing(shown):
    shown.show(Event("APPROVE", SimpleNamespace(name="run_python_code", arguments={"code": "<script>\n\u202e"}), ""))
    shown.press("n: \u202e<b>")
    shown.show(Event("OBSERVE", text="<script>\u202e"))
    for html in (log(shown), shown.record()._repr_html_()):
        assert "<script" not in html and "<b>" not in html and "\u202e" not in html and r"\u202e&lt;b&gt;" in html


# ---- the record ----

def test_the_record_tells_steps_calls_and_decisions_in_html_and_in_text(shown):
    shown.press("n: not now")
    record = shown.record()
    assert repr(record).splitlines() == ["The run took 1 step and 0 tool calls. It is over.", "  step 1: list_files(path='.') (refused: not now)"]
    assert "refused: not now" in record._repr_html_() and "<button" not in record._repr_html_()


def test_what_a_rule_answered_stands_in_the_record_too(shown):
    shown.press("y")
    for event in (Event("ACT", LIST), Event("OBSERVE", text="a.txt"), Event("THINK"), Event("RULE", LIST, "y"), Event("ACT", LIST),
                  Event("OBSERVE", text="b.txt"), Event("THINK"), Event("RULE", LIST, "n: a rule"), Event("OBSERVE", text="refused")):
        shown.show(event)
    lines = repr(shown.record()).splitlines()
    assert lines == ["The run took 3 steps and 2 tool calls. It is over.", "  step 1: list_files(path='.') (approved)",
                     "  step 2: list_files(path='.') (allowed by a rule)", "  step 3: list_files(path='.') (forbidden by a rule)"]
    assert "The model was told:" in log(shown)


def test_a_question_is_looked_at_in_the_folder_of_the_policy(answers, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    opened = ApprovalPanel(answers.append, folder=str(tmp_path))
    opened.show(Event("THINK"))
    opened.show(Event("APPROVE", SimpleNamespace(name="write_file", arguments={"path": "a.txt", "content": "three\n"})))
    assert "replaces 2 lines with 1" in opened.proposal.value
    opened.close()


# ---- where there can be no buttons ----

def run_here(awaitable):
    async def waits():
        return await awaitable
    return asyncio.run(waits())


def test_outside_a_notebook_a_sentence_says_why_and_the_prompt_asks(monkeypatch, capsys):
    types(monkeypatch, "y", "y")
    run = run_here(in_panel(run_agent, scripted_chat(call_text("list_files", path="."), done()), "look around"))
    assert run.completed and run.tool_calls == 2
    assert capsys.readouterr().out.startswith("(Buttons need a notebook that somebody has open. You are asked at the prompt instead.)\n")


def test_outside_a_notebook_the_models_questions_are_asked_at_the_prompt_too(monkeypatch, capsys):
    model = scripted("openai", reply(("1", "ask_user", json.dumps({"questions": [WHICH]}))))
    types(monkeypatch, "y", "2")
    result = run_here(in_panel(call_with_tools, model, "Which?", tools_interactive()))
    assert '"selected": ["b.csv"]' in result.rows[0]["result"] and result.stop_reason == "answer"
    assert "2. b.csv: The <second>." in capsys.readouterr().out


def test_a_function_that_must_be_given_approve_can_be_given(monkeypatch):
    types(monkeypatch, "n")
    assert run_here(in_panel(lambda chat, approve: approve(LIST), scripted_chat(done()))) == "n"


def test_at_the_prompt_a_person_is_asked_whatever_the_function_would_do_by_itself(monkeypatch):
    def trusts(chat, approve=lambda call: "y"):
        return approve(LIST)

    types(monkeypatch, "n")
    assert run_here(in_panel(trusts, scripted_chat(done()))) == "n"


def test_at_the_prompt_rules_answer_where_they_can_and_the_person_is_asked_about_the_rest(monkeypatch, tmp_path):
    types(monkeypatch, "n")
    policy = Policy(Workspace(tmp_path), allow=["list_files"], approve=lambda call: "y")
    both = in_panel(lambda chat, approve: (approve(LIST), approve(SimpleNamespace(name="read_file", arguments={"path": "a"}))), scripted_chat(done()), policy=policy)
    assert run_here(both) == ("y", "n")


@pytest.mark.parametrize("missing, words", [("ipywidgets", "Buttons need the package ipywidgets."), ("jupyter_ui_poll", "jupyter-ui-poll")])
def test_a_missing_package_is_named(monkeypatch, missing, words):
    monkeypatch.setattr(panel, "find_spec", lambda name: None if name == missing else True)
    monkeypatch.setattr(panel, "somebody_is_there", lambda: True)
    monkeypatch.setattr(panel, "is_old_kernel", lambda: True)
    assert words in panel.why_no_buttons()


def test_python_in_a_browser_has_no_buttons(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert "thread" in panel.why_no_buttons()


def test_where_somebody_has_a_notebook_open_there_are_buttons(monkeypatch):
    monkeypatch.setattr(panel, "somebody_is_there", lambda: True)
    monkeypatch.setattr(panel, "is_old_kernel", lambda: False)
    assert panel.why_no_buttons() is None


# ---- wrong use ----

def test_without_await_it_says_what_is_missing():
    assert "Write await before it" in repr(in_panel(run_agent, scripted_chat(done()), "look around"))


@pytest.mark.parametrize("given", [("a text", "x"), (None, "x")])
def test_something_that_is_no_chat_and_no_model_is_named(given):
    with pytest.raises(ValueError, match="comes a Chat or a model"):
        in_panel(run_agent, *given)


def test_a_missing_task_is_named_at_once():
    with pytest.raises(TypeError, match="task"):
        in_panel(run_agent, scripted_chat(done()))


@pytest.mark.parametrize("function, options", [(print, {}), (run_agent, {"approve": print})])
def test_a_function_that_cannot_be_asked_for_is_refused_at_once(function, options):
    with pytest.raises(ValueError, match="approve="):
        in_panel(function, scripted_chat(done()), "look around", **options)

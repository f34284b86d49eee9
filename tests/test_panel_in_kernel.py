"""The approval panel in a real kernel: clicks arrive while the cell waits, it can be interrupted, and without a person nothing is approved."""
import time

import pytest
from kernel_client import Notebook, Widgets

PREPARE = """
from agent_steps.classroom import in_panel, panel_loop, rehearse
from agent_steps.full_tools import TOOL_DEFINITIONS, call_tool
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt

panel_loop.LIVE = panel_loop.Pace(sleep=0.01, stage=0, answer=0)
prompt = build_system_prompt(TOOL_DEFINITIONS)
def fresh():
    return Chat(connect("practice"), prompt)
"""
RUN = "run = await in_panel(run_agent, fresh(), 'How many CSV files are in this folder?', call_tool=call_tool)"
QUESTION = "Run this tool?"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    opened = Notebook(tmp_path_factory.mktemp("notebook"))
    assert opened.run(PREPARE)[1] is None
    yield opened
    opened.close()


def with_panel(notebook, *then, code=RUN):
    """Run a cell with a panel, and do the next thing at each question."""
    widgets = Widgets(notebook.client, QUESTION, list(then))
    notebook.client.execute_interactive(code, allow_stdin=True, output_hook=widgets.watch, timeout=60)
    return widgets


def approve(widgets):
    widgets.click("Approve")


def refuse(widgets):
    widgets.type("why not, if you refuse", "look in data only")
    widgets.click("Refuse")


def test_clicks_arrive_while_the_cell_waits_and_the_run_comes_back(notebook):
    widgets = with_panel(notebook, approve, approve)
    assert widgets.error() == "" and "The run took 2 steps and 2 tool calls. It is over." in widgets.shown()
    assert notebook.run("print(run.stop_reason, run.tool_calls)")[0] == "completed 2\n"


def test_a_refusal_carries_its_reason_to_the_model(notebook):
    with_panel(notebook, refuse, approve)
    assert notebook.run("print(run.turns[0].answer, '|', run.turns[1].sent)")[0].endswith("The reason: look in data only\n")


def test_quit_ends_the_run(notebook):
    with_panel(notebook, lambda widgets: widgets.click("Quit"))
    assert notebook.run("print(run.stop_reason, run.tool_calls)")[0] == "quit 0\n"


def test_the_panel_makes_way_for_a_record_without_widgets(notebook):
    widgets = with_panel(notebook, approve, approve)
    kinds = [kind for kind, _ in widgets.outputs if kind in ("display_data", "update_display_data", "clear_output")]
    assert kinds == ["display_data", "update_display_data"]
    data = [content["data"] for kind, content in widgets.outputs if kind in kinds]
    assert "application/vnd.jupyter.widget-view+json" in data[0] and set(data[1]) == {"text/html", "text/plain"}


def test_an_interrupt_at_a_question_ends_the_cell_with_one_sentence_and_runs_nothing(notebook):
    widgets = with_panel(notebook, lambda widgets: notebook.interrupt(), code="run = None\nchat = fresh()\n" + RUN.replace("fresh()", "chat"))
    assert widgets.error().startswith("CourseError: Interrupted: no further call is run.") and "\n" not in widgets.error()
    assert "It was interrupted." in widgets.shown()
    assert notebook.run("print(run, len(chat.messages))")[0] == "None 2\n"
    assert "completed" in notebook.run("rehearse('y', 'y')\n" + RUN + "\nprint(run.stop_reason)")[0]


def test_an_interrupt_while_a_tool_runs_kills_its_child_process_and_runs_nothing_more(notebook, tmp_path):
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    code = f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(20)\nopen({str(ended)!r}, 'w').close()"
    notebook.run(f"import json\ncall = json.dumps({{'name': 'run_python_code', 'arguments': {{'code': {code!r}}}}})\n"
                 "chat = Chat(connect('practice', script=[f'<tool_call>{call}</tool_call>']), prompt)\nmodel = chat.model")

    def approve_and_interrupt(widgets):
        widgets.click("Approve")
        while not begun.exists():
            time.sleep(0.02)
        notebook.interrupt()

    widgets = with_panel(notebook, approve_and_interrupt, code="await in_panel(run_agent, chat, 'wait', call_tool=call_tool)")
    assert widgets.error().startswith("CourseError: Interrupted") and "1 tool call. It was interrupted." in widgets.shown()
    leftover = "import threading, time\nfor each in threading.enumerate():\n    if type(each).__name__ == 'Worker': each.join(10)\n"
    assert notebook.run(leftover + "print(chat.model is model, len(chat.messages))")[0] == "True 2\n"
    assert not ended.exists()


def test_an_interrupt_while_the_model_thinks_leaves_a_chat_that_can_be_used(notebook):
    notebook.run("import threading\nasked, may_answer = threading.Event(), threading.Event()\nclass Slow:\n    def reply(self, system_prompt, messages):\n"
                 "        if threading.current_thread() is not threading.main_thread():\n            print('asked', flush=True); may_answer.wait(20)\n"
                 "        return 'Good day.'\nchat = Chat(Slow(), prompt)")
    printed, error = notebook.run("await in_panel(run_agent, chat, 'wait')", typed=[], when="asked", then=notebook.interrupt)
    assert error["ename"] == "CourseError"
    code = "print(chat.send('Hello'))\nmay_answer.set()\nfor each in threading.enumerate():\n    if type(each).__name__ == 'Worker': each.join(10)\nprint(len(chat.messages))"
    assert notebook.run(code)[0] == "Good day.\n2\n"


def test_what_a_cell_printed_before_its_panel_stays(notebook):
    widgets = with_panel(notebook, approve, approve, code="print('before')\n" + RUN + "\nprint('after')")
    assert "".join(content["text"] for kind, content in widgets.outputs if kind == "stream") == "before\nafter\n"
    assert not [kind for kind, _ in widgets.outputs if kind == "clear_output"]


def test_an_error_of_the_run_comes_out_of_the_cell(notebook):
    widgets = with_panel(notebook, code="chat = fresh()\nchat.send('used')\nawait in_panel(run_agent, chat, 'again')")
    assert "already has a history" in widgets.error() and "It ended in an error." in widgets.shown()


def test_a_rehearsal_presses_the_buttons_and_shows_the_record_only(notebook):
    outputs = []
    notebook.client.execute_interactive("rehearse('n: not now', 'y')\n" + RUN + "\nprint(run.turns[0].answer)", allow_stdin=False, timeout=60,
                                        output_hook=lambda message: outputs.append((message["msg_type"], message["content"])))
    [record] = [content["data"] for kind, content in outputs if kind == "display_data"]
    assert "refused: not now" in record["text/plain"] and not [kind for kind, _ in outputs if kind == "clear_output"]
    assert [content["text"] for kind, content in outputs if kind == "stream"] == ["n: not now\n"]


def test_a_rehearsal_without_enough_lines_approves_nothing(notebook):
    printed, error = notebook.run("rehearse('y')\n" + RUN + "\nprint([turn.answer for turn in run.turns])")
    assert error is None and printed.startswith("['y', 'n'")


def test_where_nobody_is_there_a_sentence_says_so_and_nothing_is_approved(notebook):
    printed, error = notebook.run(RUN + "\nprint('Got', run.tool_calls)")
    assert error is None and "(Buttons need a notebook that somebody has open. You are asked at the prompt instead.)" in printed
    assert "Nobody is here to answer" in printed and "Got 0" in printed


# ---- questions of the model ----

ASK = """
from agent_steps.ask_user import tools_interactive
from agent_steps.call_with_tools import call_with_tools
from agent_steps.full_tools import read_file
from agent_steps.write_the_tool import list_files

def answers():
    [row] = [row for row in result.rows if row["name"] == "ask_user"]
    return row["result"]
"""
RUN_ASKING = "result = await in_panel(call_with_tools, connect('practice'), 'Read one of the CSV files. Ask me which.', [list_files, read_file, *tools_interactive()])"


@pytest.fixture(scope="module")
def asking(notebook):
    """The notebook, with two files to choose from and what is needed to ask."""
    assert notebook.run("for name in ('a.csv', 'b.csv'):\n    open(name, 'w').write('x,y')\n" + ASK)[1] is None
    return notebook


def fill_in(place, words=None):
    def fill(widgets):
        widgets.choose("a.csv", place)
        if words:
            widgets.type("File, in your own words:", words)
        widgets.click("Send")
    return fill


def test_a_choice_in_the_form_reaches_the_model_and_the_record(asking):
    widgets = with_panel(asking, approve, approve, fill_in(1), approve, code=RUN_ASKING)
    assert widgets.error() == "" and "-> b.csv\n" in widgets.shown() and "The run took 4 steps and 3 tool calls." in widgets.shown()
    assert '"selected": ["b.csv"], "other_text": null' in asking.run("print(answers())")[0]


def test_own_words_in_the_form_reach_the_model_even_right_before_a_click(asking):
    with_panel(asking, approve, approve, fill_in(1, "please a.csv"), approve, code=RUN_ASKING)
    assert '"selected": [], "other_text": "please a.csv"' in asking.run("print(answers())")[0]


def test_an_interrupt_while_the_form_is_there_answers_nothing(asking):
    code = "result = None\n" + RUN_ASKING
    widgets = with_panel(asking, approve, approve, lambda widgets: asking.interrupt(), code=code)
    assert widgets.error().startswith("CourseError: Interrupted: no further call is run.") and "It was interrupted." in widgets.shown()
    assert "the model asked" not in widgets.shown() and asking.run("print(result)")[0] == "None\n"


def test_no_widget_is_left_in_the_kernel(asking):
    count = "import ipywidgets\nprint(len(ipywidgets.widget._instances))"
    before = asking.run(count)[0]
    with_panel(asking, approve, approve, fill_in(0, "a.csv"), approve, code=RUN_ASKING)
    assert asking.run(count)[0] == before


@pytest.mark.parametrize("lines, answer", [
    ("'y', 'y', '2', 'y'", '"selected": ["b.csv"]'), ("'y', 'y', 'the file a.csv', 'y'", '"other_text": "the file a.csv"'),
    ("'y', 'y', ''", '"selected": [], "other_text": null'), ("'y', 'y'", '"selected": [], "other_text": null')])
def test_a_rehearsal_fills_in_the_form_from_its_lines_and_makes_up_no_answer(asking, lines, answer):
    printed, error = asking.run(f"rehearse({lines})\n{RUN_ASKING}\nprint(answers())")
    assert error is None and answer in printed


def test_where_nobody_is_there_no_answer_is_made_up(asking):
    code = RUN_ASKING.replace("in_panel(call_with_tools", "in_panel(lambda *given, approve: call_with_tools(*given, approve=lambda call: 'y')")
    printed, error = asking.run(code)
    assert "You are asked at the prompt instead" in printed and error["ename"] == "HumanInputUnavailable"

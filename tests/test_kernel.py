"""In a real notebook kernel: interrupting, asking with and without a person, and errors as one sentence."""
import os
import signal
import time

import pytest
from kernel_client import Notebook

SLOW_CHAT = """
import time
from agent_steps.plain_chat import Chat
from agent_steps.practice import transport
from agent_steps.providers import connect

if not hasattr(transport, "quick_answer"):
    transport.quick_answer = transport.answer

def slow_answer(*request):
    if slow:
        print("asked", flush=True)
        time.sleep(30)
    return transport.quick_answer(*request)

transport.answer = slow_answer
chat = Chat(connect("practice", wire={wire!r}), "You are kind.")
slow = False
chat.send("My name is Ada.")
slow = True
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    opened = Notebook(tmp_path_factory.mktemp("notebook"))
    yield opened
    opened.close()


# ---- interrupting ----

@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_chat_can_be_used_after_a_request_was_interrupted(notebook, wire):
    _, error = notebook.run(SLOW_CHAT.format(wire=wire))
    assert error is None
    start = time.monotonic()
    _, error = notebook.run("chat.send('What is my name?')", when="asked", then=notebook.interrupt)
    assert error["ename"] == "KeyboardInterrupt" and time.monotonic() - start < 25
    printed, error = notebook.run("slow = False\nprint(len(chat.messages))\nprint(chat.send('What is my name?'))\nprint(len(chat.messages))")
    assert error is None and printed.startswith("2\n") and "Ada" in printed and printed.endswith("4\n")


def test_interrupting_a_run_at_its_question_leaves_whole_pairs(notebook):
    notebook.run("from agent_steps.run_agent import run_agent\nfrom agent_steps.plain_chat import Chat\nfrom agent_steps.providers import connect\n"
                 "from agent_steps.tool_definitions import TOOL_DEFINITIONS, build_system_prompt\n"
                 "chat = Chat(connect('practice'), build_system_prompt(TOOL_DEFINITIONS))")
    asked = []

    def nobody_types(message):
        asked.append(message)
        notebook.interrupt()

    errors = []
    notebook.client.execute_interactive(
        "run_agent(chat, 'Which files are in this folder?')", allow_stdin=True, timeout=60, stdin_hook=nobody_types,
        output_hook=lambda message: errors.append(message["content"]["ename"]) if message["msg_type"] == "error" else None)
    assert asked and errors == ["KeyboardInterrupt"]
    printed, _ = notebook.run("print([message['role'] for message in chat.messages])")
    assert printed == "['user', 'assistant']\n"


@pytest.mark.skipif(os.name == "nt", reason="a signal sent to a process needs POSIX")
def test_the_interrupt_is_a_real_signal(notebook):
    pid = int(notebook.run("import os\nprint(os.getpid())")[0])

    def send():
        time.sleep(0.1)
        os.kill(pid, signal.SIGINT)

    notebook.run(SLOW_CHAT.format(wire="openai"))
    _, error = notebook.run("chat.send('What is my name?')", when="asked", then=send)
    assert error["ename"] == "KeyboardInterrupt"
    assert notebook.run("slow = False\nprint(len(chat.messages))")[0] == "2\n"


# ---- asking ----

ASK = "from agent_steps.classroom import ask, ask_approval, rehearse\n"


@pytest.mark.parametrize("typed", ["y", " Y ", "n", "something else"])
def test_where_somebody_sits_the_answer_is_what_is_typed(notebook, typed):
    printed, error = notebook.run(f"{ASK}print('Got', repr(ask('Well? ')))", typed=[typed])
    assert error is None and f"Got {typed.strip()!r}" in printed


def test_where_somebody_sits_rehearsed_lines_are_not_used(notebook):
    printed, _ = notebook.run(f"{ASK}rehearse('y')\nprint('Got', ask('Well? '))", typed=["q"])
    assert "Got q" in printed


def test_somebody_is_asked_until_the_answer_is_clear(notebook):
    code = f"{ASK}from agent_steps.parse_the_tool_call import ToolCall\nprint('Got', ask_approval(ToolCall('f', {{}})))"
    printed, _ = notebook.run(code, typed=["", "yes", "ｙ", "n: not now"])
    assert "Got n: not now" in printed and printed.count("Please type") == 3


def test_where_nobody_sits_a_rehearsal_answers_with_its_lines(notebook):
    printed, _ = notebook.run(f"{ASK}rehearse('y', 'q')\nprint('Got', ask('a '), ask('b '), ask('c '))")
    assert [line.rstrip() for line in printed.splitlines()] == ["a y", "b q", "c", "(Nobody is here to answer: taken as n.)", "Got y q n"]


def test_lines_that_are_left_over_do_not_reach_the_next_cell(notebook):
    notebook.run(f"{ASK}rehearse('y', 'y', 'y')")
    printed, _ = notebook.run("print('Got', ask('Well? '))")
    assert "Got n" in printed


def test_where_nobody_sits_and_it_is_no_rehearsal_the_answer_is_no(notebook):
    notebook.run("import os\ndeclared = os.environ.pop('AGENT_STEPS_REHEARSAL', None)")
    printed, _ = notebook.run(f"{ASK}rehearse('y')\nprint('Got', ask('Well? '))")
    notebook.run("if declared: os.environ['AGENT_STEPS_REHEARSAL'] = declared")
    assert "Nobody is here to answer" in printed and "Got n" in printed


# ---- errors ----

@pytest.mark.parametrize(("code", "kind", "words"), [
    ("from agent_steps.providers import connect\nconnect('nobody')", "ModelError", "Unknown provider 'nobody'"),
    ("from agent_steps.providers import connect\nconnect('openai')", "ModelError", "OPENAI_API_KEY"),
    ("from agent_steps.providers import connect\nfrom agent_steps.plain_chat import Chat\n"
     "Chat(connect('practice', faults='always overload', max_retries=0)).send('hello')", "ModelError", "overloaded"),
    ("from agent_steps.classroom import starting\nfrom pathlib import Path\nstarting.DATA = Path('nowhere')\nstarting.start_lesson('x')", "CourseError", "lacks"),
])
def test_an_error_that_a_person_can_mend_is_one_sentence_without_a_traceback(notebook, code, kind, words):
    _, error = notebook.run(code)
    assert error["ename"] == kind
    [shown] = error["traceback"]
    assert shown.startswith(f"{kind}: ") and words in shown and "\n" not in shown and "File " not in shown


def test_any_other_error_keeps_its_traceback(notebook):
    _, error = notebook.run("def f():\n    return 1 / 0\nf()")
    assert error["ename"] == "ZeroDivisionError" and len(error["traceback"]) > 1

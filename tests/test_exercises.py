"""Every exercise: its stub is not accepted, two different right answers are, two wrong ones are told why."""
import ast
import re

import pytest
from books import NOTEBOOKS, cells_of, definitions, slug_of, source_of

from agent_steps.classroom import start_lesson
from agent_steps.classroom.checks import why_not
from agent_steps.find_and_plot import TASK, find_and_plot
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect


def a_chat():
    chat = Chat(connect(), "Keep answers short.")
    chat.send("How do I list the files in a folder in Python?")
    return chat


def a_plot(tmp_path, monkeypatch, task=TASK, rules=""):
    (tmp_path / "heights.csv").write_text("name,body_mass_g,height_cm\nAda,3000,30\nBo,4000,35.5\nCy,3500,33\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return find_and_plot(connect(), task, rules, approve=lambda call: "y", quiet=True)[0]


# ---- lesson 1 ----

def last_by_loop(messages):
    found = None
    for message in messages:
        if message["role"] == "user":
            found = message["content"]
    return found


def last_by_filter(messages):
    questions = [message["content"] for message in messages if message["role"] == "user"]
    return questions[-1] if questions else None


def last_of_all(messages):
    return messages[-1]["content"] if messages else None


def first_question(messages):
    return next((message["content"] for message in messages if message["role"] == "user"), None)


def fork_by_extend(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages.extend(chat.messages)
    return other


def fork_by_copies(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages = [dict(message) for message in chat.messages]
    return other


def fork_that_shares(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages = chat.messages
    return other


# ---- lesson 9 ----

def by_list(call):
    return "y" if call.name in {"list_files", "task_complete"} else "n: not allowed"


def by_steps(call):
    if call.name == "list_files":
        return "y"
    if call.name == "task_complete":
        return "y"
    return f"n: {call.name} may change something"


def by_forbidding(call):
    return "n: no code" if call.name.startswith("run_") else "y"


def rate_by_loop(runs):
    done = 0
    for run in runs:
        done += 1 if run.completed else 0
    return done / len(runs) if runs else 0.0


def rate_by_mean(runs):
    return sum([run.completed for run in runs]) / max(1, len(runs))


class Logged:
    def __init__(self, call_tool, log):
        self.call_tool, self.log = call_tool, log

    def __call__(self, name, arguments):
        self.log.append(name)
        return self.call_tool(name, arguments)


def logged_by_closure(call_tool, log):
    def call(name, arguments):
        result = call_tool(name, arguments)
        log.append(name)
        return result
    return call


def logged_without_result(call_tool, log):
    return lambda name, arguments: (log.append(name), call_tool(name, arguments)) and None


RIGHT = [
    ("plain_chat", 1, last_by_loop), ("plain_chat", 1, last_by_filter),
    ("plain_chat", 2, fork_by_extend), ("plain_chat", 2, fork_by_copies),
    ("run_agent", 1, by_list), ("run_agent", 1, by_steps),
    ("run_agent", 2, rate_by_loop), ("run_agent", 2, rate_by_mean),
    ("run_agent", 3, Logged), ("run_agent", 3, logged_by_closure),
    ("find_and_plot", 2, lambda run, paths: bool(paths) and run.completed),
    ("find_and_plot", 2, lambda run, paths: False if not run.completed or len(paths) == 0 else True),
]
WRONG = [
    ("plain_chat", 1, last_of_all, "role"), ("plain_chat", 1, first_question, "first question"),
    ("plain_chat", 2, fork_that_shares, "share one list"), ("plain_chat", 2, lambda chat: Chat(chat.model, chat.system_prompt), "does not know"),
    ("plain_chat", 2, lambda chat: chat, "same chat"),
    ("run_agent", 1, lambda call: True, "True is no answer"), ("run_agent", 1, by_forbidding, "delete_file"),
    ("run_agent", 1, lambda call: "n: never", "only looks"),
    ("run_agent", 2, lambda runs: sum(run.completed for run in runs), "number of all runs"),
    ("run_agent", 2, lambda runs: sum(run.completed for run in runs) / len(runs), "ZeroDivisionError"),
    ("run_agent", 3, logged_without_result, "does not return"), ("run_agent", 3, lambda call_tool, log: call_tool, "the log is"),
    ("find_and_plot", 2, lambda run, paths: run.completed, "only a claim"), ("find_and_plot", 2, lambda run, paths: len(paths) > 0, "not completed"),
    ("find_and_plot", 2, lambda run, paths: run.completed and paths, "nothing else"),
]
PROMPTS = [
    ("Write everything in upper case, please.", None), ("ANSWER ONLY IN CAPITAL LETTERS", None),
    ("Answer politely.", "The model answered"), ("  ", "still empty"),
]
RULES = [
    ("Check your picture before you say that you are done.", None), ("Before finishing, list_files to see whether the file is there.", None),
    ("Do not verify the picture.", "straight to task_complete"),
    ("Be quick.", "straight to task_complete"), ("Draw a line plot.", "straight to task_complete"),
]
TASKS = [
    ("Make a histogram of body_mass_g and save it.", None), ("I need a picture: the column body_mass_g as a histogram", None),
    ("Plot body_mass_g.", "another kind of plot"), ("Make a histogram of height_cm.", "another column"),
]


def arguments(slug, number, answer):
    return (answer, a_chat()) if (slug, number) == ("plain_chat", 2) else (answer,)


@pytest.mark.parametrize("slug, number, answer", RIGHT)
def test_every_right_answer_is_accepted(slug, number, answer):
    assert why_not(slug, number, *arguments(slug, number, answer)) is None


@pytest.mark.parametrize("slug, number, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(slug, number, answer, reason):
    assert reason in why_not(slug, number, *arguments(slug, number, answer))


@pytest.mark.parametrize("prompt, reason", PROMPTS)
def test_a_prompt_for_capital_letters(prompt, reason):
    found = why_not("plain_chat", 3, Chat(connect(), prompt))
    assert reason in found if reason else found is None


@pytest.mark.parametrize("rules, reason", RULES)
def test_rules_that_make_the_agent_check_its_picture(rules, reason, tmp_path, monkeypatch):
    found = why_not("find_and_plot", 1, a_plot(tmp_path, monkeypatch, rules=rules))
    assert reason in found if reason else found is None


@pytest.mark.parametrize("task, reason", TASKS)
def test_a_task_that_asks_for_a_histogram(task, reason, tmp_path, monkeypatch):
    found = why_not("find_and_plot", 3, a_plot(tmp_path, monkeypatch, task=task))
    assert reason in found if reason else found is None


def stubs_and_solutions():
    for path in NOTEBOOKS:
        prose = "\n".join(source_of(cell) for cell in cells_of(path, "markdown"))
        solutions = re.findall(r"<summary>A solution</summary>\n\n```python\n(.*?)\n```", prose, re.S)
        stubs = [source_of(cell) for cell in cells_of(path, "code") if f'check("{slug_of(path)}"' in source_of(cell)]
        yield from ((slug_of(path), number, stub, solution) for number, (stub, solution) in enumerate(zip(stubs, solutions, strict=True), 1))


def with_solution(stub, solution):
    """The exercise's cell with the gap filled: what the solution defines takes the place of what the stub defines."""
    gaps = definitions(solution).keys()
    rest = [node for node in ast.parse(stub).body if not definitions(ast.unparse(node)).keys() & gaps]
    return solution + "\n" + "\n".join(map(ast.unparse, rest))


@pytest.mark.parametrize("slug, number, stub, solution", list(stubs_and_solutions()), ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "")
def test_a_stub_is_not_accepted_and_the_folded_solution_is(slug, number, stub, solution, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)   # so that the folder of the lesson is left again
    start_lesson(slug)
    capsys.readouterr()
    names = {"Chat": Chat, "model": connect(), "chat": a_chat(), "find_and_plot": find_and_plot, "TASK": TASK, "approve_all": lambda call: "y"}
    exec("from agent_steps.classroom import check", names)
    exec(stub, names)
    assert f"Exercise {number}: not yet." in capsys.readouterr().out
    exec(with_solution(stub, solution), names)
    assert capsys.readouterr().out == f"Exercise {number}: solved.\n"


def test_every_exercise_has_two_right_and_two_wrong_answers_here():
    tried = {("plain_chat", 3), ("find_and_plot", 1), ("find_and_plot", 3)}
    for slug, number, _, _ in stubs_and_solutions():
        right = sum(row[:2] == (slug, number) for row in RIGHT)
        wrong = sum(row[:2] == (slug, number) for row in WRONG)
        assert (slug, number) in tried or (right >= 2 and wrong >= 2), (slug, number)


def test_an_error_in_the_learners_code_is_a_reason_and_no_traceback():
    assert "KeyError: 'rolle'" in why_not("plain_chat", 1, lambda messages: messages[0]["rolle"])

"""Every exercise: its stub is not accepted, two different right answers are, two wrong ones are told why.

The answers stand in one file a lesson, exercises_SLUG.py.
"""
import ast
import importlib
import inspect
import re

import pytest
from books import NOTEBOOKS, cells_of, definitions, slug_of, source_of

from agent_steps.classroom import start_lesson
from agent_steps.classroom.checks import why_not

SLUGS = [slug_of(path) for path in NOTEBOOKS]
ANSWERS = {slug: importlib.import_module(f"exercises_{slug}") for slug in SLUGS}
RIGHT = [(slug, *row) for slug in SLUGS for row in ANSWERS[slug].RIGHT]
WRONG = [(slug, *row) for slug in SLUGS for row in ANSWERS[slug].WRONG]


def short_name(row):
    return f"{row[0]}-{row[1]}"


@pytest.fixture
def lesson(tmp_path, monkeypatch, capsys):
    """Begin a lesson in a folder of its own; the folder is left again afterwards."""
    monkeypatch.chdir(tmp_path)

    def begin(slug):
        start_lesson(slug)
        capsys.readouterr()
    return begin


def worked_out(arguments):
    return [made() if inspect.isfunction(made) and not inspect.signature(made).parameters else made for made in arguments]


@pytest.mark.parametrize("row", RIGHT, ids=short_name)
def test_every_right_answer_is_accepted(row, lesson):
    slug, number, *arguments = row
    lesson(slug)
    assert why_not(slug, number, *worked_out(arguments)) is None


@pytest.mark.parametrize("row", WRONG, ids=short_name)
def test_a_wrong_answer_is_told_why(row, lesson):
    slug, number, *arguments, reason = row
    lesson(slug)
    assert reason in why_not(slug, number, *worked_out(arguments))


def test_every_exercise_has_two_right_and_two_wrong_answers_here():
    for slug, number, _, _ in stubs_and_solutions():
        assert sum(row[:2] == (slug, number) for row in RIGHT) >= 2, (slug, number)
        assert sum(row[:2] == (slug, number) for row in WRONG) >= 2, (slug, number)


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


NEEDED = "from agent_steps.classroom import check\n"


@pytest.mark.parametrize("slug, number, stub, solution", list(stubs_and_solutions()), ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "")
def test_a_stub_is_not_accepted_and_the_folded_solution_is(slug, number, stub, solution, lesson, capsys):
    lesson(slug)
    names = dict(vars(ANSWERS[slug]))
    exec(NEEDED + getattr(ANSWERS[slug], "PREPARE", ""), names)
    exec(stub, names)
    assert f"Exercise {number}: not yet." in capsys.readouterr().out
    exec(with_solution(stub, solution), names)
    assert capsys.readouterr().out == f"Exercise {number}: solved.\n"


def test_an_error_in_the_learners_code_is_a_reason_and_no_traceback():
    assert "KeyError: 'rolle'" in why_not("plain_chat", 1, lambda messages: messages[0]["rolle"])

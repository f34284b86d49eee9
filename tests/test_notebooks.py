"""The notebooks keep the house rules, and each says the same as its module."""
import ast
import json
import re

import pytest
from books import MODULES, NOTEBOOKS, book_definitions, cells_of, definitions, differences, read_book, slug_of, source_of

from agent_steps.classroom.address import MARK, setup_source

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

VOLATILE = {
    "a path of a machine": r"(?<![\w.:/-])/(?:home|root|Users|tmp|usr|opt|content|private|var|mnt)/\w|[A-Z]:\\+(?:Users|Temp)\\",
    "an object's address": r"\bat 0x[0-9a-f]{6,}",
    "colour codes": r"\x1b\[",
    "a time of day": r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d",
    "something like a key": r"\bsk-[A-Za-z0-9_-]{12,}",
    "an emoji": "[\U0001f300-\U0001faff\u2600-\u27bf]",
}


def code_lines(cell):
    return [line for line in source_of(cell).splitlines() if line.strip()]


def shown(cell):
    """All text that a cell's stored outputs show."""
    parts = []
    for output in cell["outputs"]:
        texts = [output["text"]] if "text" in output else [v for k, v in output.get("data", {}).items() if k.startswith(("text/", "image/svg"))]
        parts += ["".join(text) for text in texts]
    return "\n".join(parts)


@every_notebook
def test_a_definition_in_a_notebook_is_the_modules_definition(path):
    found = differences(path, (MODULES / f"{slug_of(path)}.py").read_text(encoding="utf-8"))
    assert not found, "\n\n".join(found)


@every_notebook
def test_a_notebook_writes_everything_that_its_module_keeps(path):
    kept = definitions((MODULES / f"{slug_of(path)}.py").read_text(encoding="utf-8"))
    assert not kept.keys() - book_definitions(path).keys()


@every_notebook
def test_a_notebook_never_imports_its_own_module(path):
    imported = re.compile(rf"from agent_steps\.{slug_of(path)} import|import agent_steps\.{slug_of(path)}\b|from agent_steps import .*\b{slug_of(path)}\b")
    assert not [cell["id"] for cell in cells_of(path, "code") if imported.search(source_of(cell))]


def test_a_changed_line_is_found_and_shown_with_the_lessons_name(tmp_path):
    path = next(path for path in NOTEBOOKS if slug_of(path) == "run_agent")
    changed = path.read_text(encoding="utf-8").replace("run.steps += 1", "run.steps += 2")
    copy = tmp_path / path.name
    copy.write_text(changed, encoding="utf-8")
    [found] = differences(copy, (MODULES / "run_agent.py").read_text(encoding="utf-8"))
    assert "09_run_agent.ipynb: run_agent" in found
    assert "-        run.steps += 1" in found and "+        run.steps += 2" in found


@every_notebook
def test_the_setup_cell_is_the_one_made_for_the_lesson(path):
    cells = [source_of(cell) for cell in cells_of(path, "code") if source_of(cell).startswith(MARK)]
    assert cells == [setup_source(slug_of(path))]
    assert source_of(cells_of(path, "code")[0]) == cells[0]


@every_notebook
def test_cells_are_small_and_as_many_as_a_sitting_takes(path):
    code = [len(code_lines(cell)) for cell in cells_of(path, "code")]
    words = [len(source_of(cell).split()) for cell in cells_of(path, "markdown")]
    assert 15 <= len(code) + len(words) <= 70
    assert max(code) <= 40 and sorted(code)[int(0.9 * len(code))] <= 18 and sorted(code)[len(code) // 2] <= 6
    assert max(words) <= 120 and 10 <= sorted(words)[len(words) // 2] <= 40


@every_notebook
def test_there_is_one_title_and_the_headings_go_down_one_level_at_a_time(path):
    text = "\n".join(source_of(cell) for cell in cells_of(path, "markdown"))
    levels = [len(mark) for mark in re.findall(r"^(#+) ", re.sub(r"```.*?```", "", text, flags=re.S), re.M)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))


@every_notebook
def test_a_lesson_says_its_minutes_and_ends_with_what_is_new_and_your_turn(path):
    prose = [source_of(cell) for cell in cells_of(path, "markdown")]
    assert re.search(r"About \d+ minutes", prose[0])
    headings = re.findall(r"^## (.*)$", "\n".join(prose), re.M)
    assert headings[-2:] == ["What is new", "Your turn"]
    code = "\n".join(source_of(cell) for cell in cells_of(path, "code"))
    assert f'new_names("{slug_of(path)}")' in code and f'show_module("{slug_of(path)}")' in code and "loop_diagram(" in code


@every_notebook
def test_every_exercise_is_checked_and_has_its_solution_folded_under_it(path):
    prose = "\n".join(source_of(cell) for cell in cells_of(path, "markdown"))
    exercises = re.findall(r"\*\*Exercise (\d)\.\*\*", prose)
    checks = re.findall(rf'check\("{slug_of(path)}", (\d)', "\n".join(source_of(cell) for cell in cells_of(path, "code")))
    assert exercises == checks and 2 <= len(exercises) <= 4
    assert len(re.findall(r"<details><summary>A solution</summary>\n\n```python\n.*?\n```\n\n</details>", prose, re.S)) == len(exercises)


METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def left_by_saving(book):
    """What a program such as JupyterLab adds to a notebook that was run and saved in it, and another machine would not."""
    found = {f"metadata.{name}" for name in METADATA | book["metadata"] if METADATA.get(name) != book["metadata"].get(name)}
    for cell in book["cells"]:
        found |= {f"a cell's metadata.{name}" for name in cell["metadata"] if name != "tags"}
        found |= {"answers that somebody typed" for output in cell.get("outputs", []) if output.get("name") == "stdin"}
    counts = [cell["execution_count"] for cell in book["cells"] if cell["cell_type"] == "code"]
    if counts != list(range(1, len(counts) + 1)) and None not in counts:
        found.add("cells that were run out of order")
    return sorted(found)


@every_notebook
def test_a_notebook_holds_nothing_of_the_program_and_the_machine_that_stored_it(path):
    found = left_by_saving(read_book(path))
    assert not found, (f"{path.name} was run and saved by a program such as JupyterLab, which left {', '.join(found)}. "
                       f"Store it anew: python -m agent_steps.classroom.refreshing notebooks/{path.name}")
    assert all(cell.get("id") for cell in read_book(path)["cells"])


def test_a_notebook_that_was_saved_after_a_run_is_refused_in_one_sentence_with_the_command_that_mends_it(tmp_path):
    book = read_book(NOTEBOOKS[0])
    book["metadata"] |= {"widgets": {}, "language_info": {"name": "python", "version": "3.11.7"}}
    first, second, *_ = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    first["metadata"]["scrolled"], first["execution_count"] = True, 77
    second["outputs"].append({"output_type": "stream", "name": "stdin", "text": ["Run this tool? [y/n]: y\n"]})
    saved = tmp_path / NOTEBOOKS[0].name
    saved.write_text(json.dumps(book), encoding="utf-8")
    with pytest.raises(AssertionError) as refused:
        test_a_notebook_holds_nothing_of_the_program_and_the_machine_that_stored_it(saved)
    assert str(refused.value).startswith(
        "01_plain_chat.ipynb was run and saved by a program such as JupyterLab, which left a cell's metadata.scrolled, answers that somebody typed, "
        "cells that were run out of order, metadata.language_info, metadata.widgets. "
        "Store it anew: python -m agent_steps.classroom.refreshing notebooks/01_plain_chat.ipynb")


@every_notebook
def test_every_cell_was_run(path):
    for cell in cells_of(path, "code"):
        assert cell["execution_count"] is not None, f"{cell['id']} was not run"
        assert not [output for output in cell["outputs"] if output["output_type"] == "error"], f"{cell['id']} stores an error"


MAY_DIFFER = {"behind_a_wall": ["protection"]}   # what the one cell shows that says what holds on the machine it runs on


def not_compared(path):
    """The cells whose outputs are kept out of the comparison, by a marker or a tag."""
    return [cell for cell in cells_of(path, "code") if "NBVAL" in source_of(cell) or "nbval" in "".join(cell["metadata"].get("tags", []))]


@every_notebook
def test_every_output_is_compared_except_one_that_says_why_it_cannot_be(path):
    cells = not_compared(path)
    assert [source_of(cell).splitlines()[-1] for cell in cells] == MAY_DIFFER.get(slug_of(path), [])
    for cell in cells:
        marker, reason, *code = source_of(cell).splitlines()
        assert marker == "# NBVAL_IGNORE_OUTPUT" and reason.startswith("# Not compared") and "NBVAL" not in "".join(code)
        assert not cell["metadata"].get("tags")


@every_notebook
def test_a_cell_that_ends_in_an_expression_stores_what_it_shows(path):
    for cell in cells_of(path, "code"):
        last = ast.parse(source_of(cell)).body[-1]
        if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):
            assert cell["outputs"], f"{cell['id']} shows nothing"


@every_notebook
@pytest.mark.parametrize("kind", VOLATILE)
def test_no_output_holds_what_another_machine_would_not_print(path, kind):
    assert not [cell["id"] for cell in cells_of(path, "code") if re.search(VOLATILE[kind], shown(cell))]


@every_notebook
def test_no_output_is_too_long_to_read(path):
    long = {cell["id"]: len(shown(cell)) for cell in cells_of(path, "code") if len(shown(cell)) > 20_000}
    folded = {cell["id"] for cell in cells_of(path, "code") if source_of(cell).startswith("show_module(")}
    assert not {name: size for name, size in long.items() if name not in folded or size > 26_000}


@every_notebook
def test_pictures_are_described_in_words(path):
    for cell in cells_of(path, "markdown"):
        assert "```mermaid" not in source_of(cell)
        assert all(len(words.split()) >= 5 for words in re.findall(r"!\[(.*?)\]\(", source_of(cell)))
    for cell in cells_of(path, "code"):
        for call in re.findall(r"\bImage\(.*\)", source_of(cell)):
            assert '"alt": ' in call   # not alt=, which Colab's IPython does not know
        for output in cell["outputs"]:
            data = output.get("data", {})
            svg, html = ("".join(data.get(kind, "")) for kind in ("image/svg+xml", "text/html"))
            assert not svg or ("<title>" in svg and "<desc>" in svg and "<img" in html), "JupyterLab gives no words to an SVG alone"
            images = re.findall(r"<img\b[^>]*>", html)
            assert all(len(re.search(r'alt="([^"]*)"', image)[1].split()) >= 5 for image in images)


@every_notebook
def test_a_notebook_file_is_written_as_the_refresh_command_writes_it(path):
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"

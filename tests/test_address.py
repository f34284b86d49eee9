"""The repository's address, and the setup cells that are made from it."""
import ast
import json
import sys

import pytest

from agent_steps.classroom import address
from agent_steps.classroom.address import REPOSITORY, rewrite_setup_cells, setup_source


def book(*sources):
    cells = [{"cell_type": "code", "id": f"c{number}", "metadata": {}, "execution_count": None, "outputs": [], "source": source.splitlines(keepends=True)}
             for number, source in enumerate(sources)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def sources(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_a_setup_cell_is_python_and_names_the_repository_and_the_lesson():
    source = setup_source("plain_chat")
    ast.parse(source)
    assert f'"{REPOSITORY}"' in source and source.endswith('start_lesson("plain_chat")')


def test_a_setup_cell_outside_colab_only_makes_the_folder(monkeypatch):
    import subprocess

    from agent_steps import classroom

    started = []
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: pytest.fail("it ran a command"))
    monkeypatch.setattr(classroom, "start_lesson", started.append)
    exec(setup_source("plain_chat"), {})
    assert started == ["plain_chat"]


def test_a_setup_cell_in_colab_fetches_the_course_and_installs_what_is_missing(monkeypatch):
    import subprocess
    import types

    from agent_steps import classroom
    from agent_steps.classroom import colab

    done = []
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(subprocess, "run", lambda command, **options: done.append(command[:2]))
    monkeypatch.setattr(colab, "install_missing", lambda: done.append("installed"))
    monkeypatch.setattr(classroom, "start_lesson", done.append)
    exec(setup_source("plain_chat"), {})
    assert done == [["git", "clone"], "installed", "plain_chat"]
    assert sys.path[0] == "/content/course"


def test_an_old_setup_cell_is_written_anew_and_nothing_else_is(tmp_path):
    path = tmp_path / "03_write_the_tool.ipynb"
    old = setup_source("write_the_tool").replace(REPOSITORY, "https://example.org/old")
    path.write_text(book("# Ä title", old, "print('ö')"), encoding="utf-8", newline="\n")
    assert rewrite_setup_cells(tmp_path) == ["03_write_the_tool.ipynb"]
    assert sources(path) == ["# Ä title", setup_source("write_the_tool"), "print('ö')"]


def test_a_setup_cell_that_is_up_to_date_leaves_every_byte_as_it_was(tmp_path):
    path = tmp_path / "03_write_the_tool.ipynb"
    path.write_text(book("# Ä title", setup_source("write_the_tool")), encoding="utf-8", newline="\n")
    before = path.read_bytes()
    assert rewrite_setup_cells(tmp_path) == []
    assert path.read_bytes() == before


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "notes.ipynb").write_text("no JSON", encoding="utf-8")
    assert rewrite_setup_cells(tmp_path) == []


def test_after_a_fork_one_change_is_enough(tmp_path, monkeypatch):
    path = tmp_path / "01_plain_chat.ipynb"
    path.write_text(book(setup_source("plain_chat")), encoding="utf-8", newline="\n")
    monkeypatch.setattr(address, "REPOSITORY", "https://example.org/fork")
    assert rewrite_setup_cells(tmp_path) == ["01_plain_chat.ipynb"]
    assert "https://example.org/fork" in sources(path)[0] and REPOSITORY not in sources(path)[0]


def test_the_setup_cells_of_the_course_are_up_to_date(tmp_path):
    import shutil

    shutil.copytree(address.NOTEBOOKS, tmp_path / "notebooks")
    assert rewrite_setup_cells(tmp_path / "notebooks") == []

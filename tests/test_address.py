"""The repository's address, and all that is made from it: setup cells, badges and links to Colab."""
import ast
import base64
import json
import os
import re
import shutil
import sys
import types
from xml.etree import ElementTree

import pytest
from books import ROOT
from simulated_colab import commit, run
from test_diagram import contrast

from agent_steps import CourseError, classroom
from agent_steps.classroom import address, badge
from agent_steps.classroom.address import REPOSITORY, colab_address, setup_source
from agent_steps.classroom.badge import with_badge
from agent_steps.classroom.making import make_all, rewrite_notebooks

FIRST = "# 1. Ä title\n\nYou will write something.\n\nAbout 5 minutes."
needs_a_shell = pytest.mark.skipif(os.name == "nt", reason="the setup cell fetches in Colab only, which is Linux")


def book(*sources):
    """A notebook: its first cell is text, the others are code."""
    cells = [{"cell_type": "code", "id": f"c{number}", "metadata": {}, "execution_count": None, "outputs": [], "source": source.splitlines(keepends=True)}
             for number, source in enumerate(sources)]
    cells[0] = {"cell_type": "markdown", "id": "c0", "metadata": {}, "source": sources[0].splitlines(keepends=True)}
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def sources(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


# ---- the setup cell ----

def test_a_setup_cell_is_python_and_names_the_repository_and_the_lesson():
    source = setup_source("plain_chat")
    ast.parse(source)
    assert REPOSITORY in source and source.endswith('start_lesson("plain_chat")')


def test_a_setup_cell_outside_colab_only_makes_the_folder(monkeypatch):
    import subprocess

    started = []
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    monkeypatch.setattr(subprocess, "getstatusoutput", lambda command: pytest.fail("it ran a command"))
    monkeypatch.setattr(classroom, "start_lesson", started.append)
    exec(setup_source("plain_chat"), {})
    assert started == ["plain_chat"]


@pytest.fixture
def first_cell(monkeypatch, tmp_path):
    """Runs a setup cell as in Colab, with tmp_path/repository as the course's source; returns what was done besides fetching."""
    (tmp_path / "repository" / "agent_steps").mkdir(parents=True)
    (tmp_path / "repository" / "agent_steps" / "news.txt").write_text("old", encoding="utf-8")
    commit(tmp_path / "repository")
    monkeypatch.setattr(address, "REPOSITORY", f"file://{tmp_path}/repository")
    monkeypatch.setattr(address, "COLAB_FOLDER", f"{tmp_path}/course")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    done = []
    monkeypatch.setattr(classroom, "start_lesson", done.append)

    def run_cell():
        done.clear()
        exec(setup_source("plain_chat"), {})
        return list(done)

    return run_cell


@needs_a_shell
def test_a_setup_cell_in_colab_fetches_the_course(first_cell, tmp_path):
    assert first_cell() == ["plain_chat"]
    assert sys.path[0] == f"{tmp_path}/course" and (tmp_path / "course" / "agent_steps" / "news.txt").exists()


@needs_a_shell
def test_a_setup_cell_that_is_run_again_fetches_nothing(first_cell, tmp_path):
    first_cell()
    shutil.rmtree(tmp_path / "repository")
    assert first_cell() == ["plain_chat"]
    assert sys.path.count(f"{tmp_path}/course") == 1


@needs_a_shell
def test_an_older_course_is_brought_up_to_date_in_the_next_session(first_cell, tmp_path):
    first_cell()
    (tmp_path / "repository" / "agent_steps" / "news.txt").write_text("new", encoding="utf-8")
    commit(tmp_path / "repository")
    sys.path.remove(f"{tmp_path}/course")
    first_cell()
    assert (tmp_path / "course" / "agent_steps" / "news.txt").read_text(encoding="utf-8") == "new"


@needs_a_shell
def test_a_course_that_is_there_is_used_where_there_is_no_network(first_cell, tmp_path):
    first_cell()
    shutil.rmtree(tmp_path / "repository")
    sys.path.remove(f"{tmp_path}/course")
    assert first_cell() == ["plain_chat"]


@needs_a_shell
def test_a_fetch_that_was_cut_off_is_completed(first_cell, tmp_path):
    run("git", "init", "-q", tmp_path / "course")
    run("git", "-C", tmp_path / "course", "remote", "add", "origin", address.REPOSITORY)
    assert first_cell() == ["plain_chat"]
    assert (tmp_path / "course" / "agent_steps" / "news.txt").exists()


@needs_a_shell
def test_where_nothing_can_be_fetched_a_sentence_says_so_and_the_cell_can_be_run_again(first_cell, tmp_path):
    (tmp_path / "repository").rename(tmp_path / "away")
    with pytest.raises(SystemExit, match="could not be fetched.*run this cell again.*repository"):
        first_cell()
    (tmp_path / "away").rename(tmp_path / "repository")
    assert first_cell() == ["plain_chat"]


# ---- the address in Colab ----

@pytest.mark.parametrize("end", ["", "/", ".git", ".git/"])
def test_a_notebook_on_github_has_an_address_in_colab(monkeypatch, end):
    monkeypatch.setattr(address, "REPOSITORY", f"https://github.com/somebody/my.course{end}")
    assert colab_address("01_a.ipynb") == "https://colab.research.google.com/github/somebody/my.course/blob/main/notebooks/01_a.ipynb"


@pytest.mark.parametrize("elsewhere", ["https://example.org/fork", "https://git.example.org:8443/~me/a/course.git"])
def test_a_notebook_elsewhere_has_none_and_so_no_badge(monkeypatch, elsewhere):
    badged = with_badge(FIRST, "01_a.ipynb")
    monkeypatch.setattr(address, "REPOSITORY", elsewhere)
    assert colab_address("01_a.ipynb") is None
    assert with_badge(badged, "01_a.ipynb") == FIRST


@pytest.mark.parametrize("wrong", ["", "somebody/course", "git@github.com:somebody/course.git", "http://github.com/somebody/course",
                                   "https://github.com/somebody", "https://github.com/somebody/course/tree/main", "https://example.org/a b"])
def test_an_address_that_nobody_can_fetch_from_is_refused_and_nothing_is_written(monkeypatch, tmp_path, wrong):
    path = tmp_path / "01_plain_chat.ipynb"
    path.write_text(book(FIRST, setup_source("plain_chat")), encoding="utf-8")
    before = path.read_bytes()
    monkeypatch.setattr(address, "REPOSITORY", wrong)
    with pytest.raises(CourseError, match="address.py is .* https://github.com/OWNER/NAME"):
        rewrite_notebooks(tmp_path)
    assert path.read_bytes() == before


# ---- the badge ----

def picture_in(cell):
    return base64.b64decode(re.search(r"^\[badge\]: data:image/svg\+xml;base64,(\S+)$", cell, re.M)[1]).decode()


def test_the_badge_stands_under_the_title_and_its_picture_at_the_end_of_the_cell():
    title, shown, sentence, minutes, picture = with_badge(FIRST, "01_a.ipynb").split("\n\n")
    assert [title, sentence, minutes] == FIRST.split("\n\n")
    assert shown == f"[![{badge.WORDS}][badge]]({colab_address('01_a.ipynb')})" and picture.startswith("[badge]: data:")


def test_a_second_badge_takes_the_place_of_the_first(monkeypatch):
    first = with_badge(FIRST, "01_a.ipynb")
    assert with_badge(first, "01_a.ipynb") == first
    monkeypatch.setattr(address, "REPOSITORY", "https://github.com/fork/course")
    assert with_badge(first, "01_a.ipynb") == with_badge(FIRST, "01_a.ipynb") != first


def test_the_picture_is_small_loads_nothing_and_says_its_words():
    picture = picture_in(with_badge(FIRST, "01_a.ipynb"))
    words = [element.text for element in ElementTree.fromstring(picture).iter() if element.text]
    assert words == ["Open in Colab", "Open in", "Colab"]
    assert len(picture) < 700 and not re.search(r"href|url\(", picture)


@pytest.mark.parametrize("ground", [badge.LEFT, badge.RIGHT])
def test_the_words_of_the_picture_can_be_read(ground):
    assert contrast(badge.INK, ground) >= 4.5


# ---- making everything anew ----

def test_what_is_old_or_missing_is_written_and_nothing_else_is(tmp_path):
    path = tmp_path / "03_write_the_tool.ipynb"
    old = setup_source("write_the_tool").replace(REPOSITORY, "https://example.org/old")
    path.write_text(book(FIRST, old, "print('ö')"), encoding="utf-8", newline="\n")
    assert rewrite_notebooks(tmp_path) == ["03_write_the_tool.ipynb"]
    assert sources(path) == [with_badge(FIRST, path.name), setup_source("write_the_tool"), "print('ö')"]


def test_a_notebook_that_is_up_to_date_keeps_every_byte(tmp_path):
    path = tmp_path / "03_write_the_tool.ipynb"
    path.write_text(book(with_badge(FIRST, path.name), setup_source("write_the_tool")), encoding="utf-8", newline="\n")
    before = path.read_bytes()
    assert rewrite_notebooks(tmp_path) == []
    assert path.read_bytes() == before


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "notes.ipynb").write_text("no JSON", encoding="utf-8")
    assert rewrite_notebooks(tmp_path) == []


@pytest.fixture
def course(tmp_path):
    """A copy of all that the command writes."""
    for name in ("notebooks", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts}


def test_the_course_is_up_to_date(course):
    before = contents(course)
    make_all(course)
    assert [str(path) for path, content in contents(course).items() if content != before[path]] == []


def test_after_a_fork_one_change_is_enough_and_can_be_taken_back(course, monkeypatch):
    before = contents(course)
    monkeypatch.setattr(address, "REPOSITORY", "https://github.com/fork/course")
    make_all(course)
    after = contents(course)
    changed = [path for path in after if after[path] != before[path]]
    assert {path.name for path in changed} == {"README.md", *(path.name for path in course.glob("notebooks/*.ipynb"))}
    assert not [path for path in changed if REPOSITORY.removeprefix("https://github.com/").encode() in after[path]]
    monkeypatch.setattr(address, "REPOSITORY", REPOSITORY)
    make_all(course)
    assert contents(course) == before


def test_a_fork_outside_github_has_no_badges_and_no_links_and_can_come_back(course, monkeypatch):
    before = contents(course)
    monkeypatch.setattr(address, "REPOSITORY", "https://example.org/fork")
    make_all(course)
    assert not [path for path, content in contents(course).items() if b"colab.research.google.com" in content]
    monkeypatch.setattr(address, "REPOSITORY", REPOSITORY)
    make_all(course)
    assert contents(course) == before

"""The working folder of a lesson."""
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

from agent_steps import CourseError
from agent_steps.classroom import colab, start_lesson, starting


@pytest.fixture(autouse=True)
def back_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # and back, after the test
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def data_files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file())


def test_a_lesson_works_in_a_fresh_folder_with_a_copy_of_the_data(tmp_path):
    start_lesson("a_lesson")
    assert Path.cwd().parent == tmp_path.resolve() and Path.cwd().name.startswith("a_lesson_")
    assert os.listdir() == ["data"]
    assert data_files("data") == sorted(starting.FILES)


@pytest.mark.parametrize("slug", sorted(starting.WITH_LIBRARY))
def test_the_lessons_that_read_the_library_get_a_copy_of_it(slug):
    start_lesson(slug)
    assert data_files("data") == data_files(starting.DATA)
    assert {name for name in data_files("data") if name.startswith("library/")} == set(starting.PAGES)


def test_every_start_makes_a_new_folder():
    start_lesson("a_lesson")
    Path("data/penguins.csv").unlink()
    first = Path.cwd()
    start_lesson("a_lesson")
    assert Path.cwd() != first and Path("data/penguins.csv").exists()


def test_changing_the_copy_leaves_the_repository_alone():
    before = (starting.DATA / "penguins.csv").read_bytes()
    start_lesson("a_lesson")
    Path("data/penguins.csv").write_text("gone", encoding="utf-8")
    assert (starting.DATA / "penguins.csv").read_bytes() == before


def test_what_is_printed_names_no_folder(tmp_path, capsys):
    start_lesson("a_lesson")
    printed = capsys.readouterr().out
    assert printed.startswith("Ready:") and printed.count("\n") == 1
    assert tmp_path.name not in printed and "a_lesson" not in printed


@pytest.mark.parametrize("name", starting.FILES + starting.PAGES[:2])
def test_a_missing_data_file_is_said_with_a_way_to_get_it_back(name, tmp_path, monkeypatch):
    data = tmp_path / "elsewhere"
    shutil.copytree(starting.DATA, data)
    (data / name).unlink()
    monkeypatch.setattr(starting, "DATA", data)
    with pytest.raises(CourseError, match=f"lacks {name}.*git checkout"):
        start_lesson("gather_sources")


def test_a_lesson_without_the_library_starts_when_the_library_is_missing(tmp_path, monkeypatch):
    shutil.copytree(starting.DATA, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("library"))
    monkeypatch.setattr(starting, "DATA", tmp_path / "elsewhere")
    start_lesson("a_lesson")
    assert data_files("data") == sorted(starting.FILES)


def test_no_data_folder_at_all_is_said_too(tmp_path, monkeypatch):
    monkeypatch.setattr(starting, "DATA", tmp_path / "nowhere")
    with pytest.raises(CourseError, match="penguins.csv"):
        start_lesson("a_lesson")


def test_a_place_that_can_not_be_written_to_is_said_with_a_way_out(tmp_path, monkeypatch):
    (tmp_path / "a_file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a_file"))
    before = os.getcwd()
    with pytest.raises(CourseError, match="could be made.*TMPDIR"):
        start_lesson("a_lesson")
    assert os.getcwd() == before


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), shutil.Error([("a", "b", "No space left on device")])])
def test_a_full_disk_is_said_in_words(error, monkeypatch):
    def fails(*paths, ignore):
        raise error

    monkeypatch.setattr(shutil, "copytree", fails)
    with pytest.raises(CourseError, match="No space left on device"):
        start_lesson("a_lesson")


def test_the_list_of_files_is_what_lies_in_the_folder():
    assert sorted(starting.FILES + starting.PAGES) == data_files(starting.DATA)


@pytest.mark.parametrize("modules, installs", [((), []), (("google.colab",), ["installed"])])
def test_what_is_missing_is_installed_in_colab_and_nowhere_else(monkeypatch, tmp_path, modules, installs):
    done = []
    monkeypatch.setattr(colab, "install_missing", lambda: done.append("installed"))
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    for name in modules:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.chdir(tmp_path)
    start_lesson("plain_chat")
    assert done == installs

"""Lesson 3: the function that lists files."""
import os

import pytest

from agent_steps.write_the_tool import MOST_FILES, list_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("b.txt", "a.csv", "sub/c.md", "sub/deep/d.py", ".hidden", ".git/config", "sub/.keep"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_listed_one_a_line_with_those_in_sub_folders(folder):
    assert list_files(".").splitlines() == ["a.csv", "b.txt", "sub/c.md", "sub/deep/d.py"]


def test_paths_are_relative_to_the_working_folder_so_that_the_next_call_can_use_them(folder):
    assert list_files("sub").splitlines() == ["sub/c.md", "sub/deep/d.py"]


@pytest.mark.parametrize("path", ["sub/", "./sub", "sub/../sub"])
def test_a_folder_may_be_written_in_several_ways(folder, path):
    assert [os.path.normpath(name) for name in list_files(path).splitlines()] == [os.path.normpath("sub/c.md"), os.path.normpath("sub/deep/d.py")]


def test_hidden_files_and_folders_are_left_out(folder):
    assert "." not in {name.split("/")[-1][0] for name in list_files(".").splitlines()}


def test_a_folder_without_files_says_so(folder):
    (folder / "empty" / "inner").mkdir(parents=True)
    assert list_files("empty") == "(there are no files in 'empty'; hidden ones are not listed)"


def test_a_missing_folder_is_an_answer_and_no_exception(folder):
    assert list_files("nowhere") == "Error: there is no folder 'nowhere'."


def test_a_file_is_no_folder(folder):
    assert list_files("a.csv") == "Error: 'a.csv' is a file, not a folder."


def test_of_very_many_files_the_first_are_shown_and_the_cut_is_said(folder):
    (folder / "many").mkdir()
    for number in range(MOST_FILES + 1):
        (folder / "many" / f"{number:04}.txt").touch()
    lines = list_files("many").splitlines()
    assert len(lines) == MOST_FILES + 1
    assert lines[0] == "many/0000.txt" and lines[-1].startswith(f"(more than {MOST_FILES} files")


def test_exactly_as_many_files_as_are_shown_need_no_notice(folder):
    (folder / "many").mkdir()
    for number in range(MOST_FILES):
        (folder / "many" / f"{number:04}.txt").touch()
    assert len(list_files("many").splitlines()) == MOST_FILES


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_to_the_folder_above_is_named_but_not_followed(folder):
    (folder / "sub" / "up").symlink_to(folder, target_is_directory=True)
    assert list_files("sub").splitlines() == ["sub/c.md", "sub/deep/d.py", "sub/up"]


def test_names_in_every_script_are_kept(folder):
    (folder / "Übung 1 你好.txt").touch()
    assert "Übung 1 你好.txt" in list_files(".").splitlines()


def test_a_folder_that_may_not_be_read_is_not_called_empty(tmp_path, monkeypatch):
    def scandir(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", scandir)
    assert list_files(str(tmp_path)) == f"Error: {str(tmp_path)!r} cannot be read: Permission denied."

"""Lesson 11: the real task, and the model's claim beside the facts."""
import os
import shutil
from pathlib import Path

import pytest

from agent_steps.find_and_plot import TASK, find_and_plot, pictures
from agent_steps.providers import connect
from scripted import call_text, done

DATA = Path(__file__).parents[1] / "data"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
SAVE = call_text("run_python_code", code=f"open('plot.png', 'wb').write({PNG!r})")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def yes(call):
    return "y"


def work(*replies, approve=yes, **options):
    return find_and_plot(connect("practice", script=list(replies)), approve=approve, quiet=True, **options)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_the_practice_model_finds_a_csv_file_and_makes_a_picture_of_it(wire, folder):
    run, paths = find_and_plot(connect("practice", wire=wire), approve=yes, quiet=True)
    assert run.completed and len(paths) == 1
    assert (folder / paths[0]).read_bytes().startswith(PNG[:8])
    assert Path(paths[0]).name in run.summary


def test_a_picture_that_was_made_is_found():
    run, paths = work(SAVE, done("Saved plot.png."))
    assert (run.completed, paths) == (True, ["plot.png"])


def test_a_claim_without_a_picture_is_a_claim():
    run, paths = work(done("I saved plot.png."))
    assert (run.completed, run.summary, paths) == (True, "I saved plot.png.", [])


def test_a_picture_whose_making_was_refused_is_not_there():
    run, paths = work(SAVE, done("Saved plot.png."), approve=lambda call: "y" if call.name == "task_complete" else "n")
    assert run.completed and paths == []


def test_a_file_that_is_only_called_png_does_not_count():
    run, paths = work(call_text("write_file", path="plot.png", content="a picture"), done())
    assert Path("plot.png").exists() and paths == []


def test_a_picture_that_was_there_before_does_not_count(folder):
    (folder / "old.png").write_bytes(PNG)
    assert work(done())[1] == []


def test_a_picture_that_was_made_anew_counts(folder):
    (folder / "plot.png").write_bytes(PNG)
    os.utime(folder / "plot.png", (1, 1))
    assert work(SAVE, done())[1] == ["plot.png"]


def test_a_picture_counts_though_the_run_was_not_completed():
    run, paths = work(SAVE, max_steps=1)
    assert (run.completed, paths) == (False, ["plot.png"])


def test_the_rules_stand_in_the_system_prompt(monkeypatch):
    model, seen = connect("practice", script=[done()]), []
    real = model.reply
    monkeypatch.setattr(model, "reply", lambda system, messages: seen.append((system, messages[0]["content"])) or real(system, messages))
    find_and_plot(model, rules="Use blue.", approve=yes, quiet=True)
    assert seen[0][0].endswith("Use blue.\n") and seen[0][1] == TASK
    assert all(name in seen[0][0] for name in ("read_file", "write_file", "edit_file", "run_python_script", "run_python_code"))


def test_every_run_begins_with_a_fresh_chat():
    model = connect("practice", script=[done()])
    assert [find_and_plot(model, approve=yes, quiet=True)[0].completed for _ in range(2)] == [True, True]


# ---- which files are pictures ----

@pytest.mark.parametrize("name", ["a.png", "sub/deep/b.png", "C.PNG"])
def test_a_file_with_the_bytes_of_a_png_is_a_picture(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(PNG)
    assert list(pictures()) == [name]


@pytest.mark.parametrize(("name", "content"), [
    ("a.png", b""), ("a.png", b"<html>"), ("a.png", b"\x89PNG"), ("a.png", b"\xff\xd8\xff a JPEG"), ("a.txt", PNG), ("png", PNG),
])
def test_other_files_are_no_pictures(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert pictures() == {}


def test_a_folder_that_is_called_png_is_no_picture(tmp_path):
    (tmp_path / "album.png").mkdir()
    assert pictures() == {}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_that_leads_nowhere_is_no_picture(tmp_path):
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere")
    assert pictures() == {}

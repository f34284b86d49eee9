"""The progress bar of an experiment in JupyterLab: it moves, it says how long, it leaves nothing behind, and an interrupt loses no run."""
import json
import re

import pytest
from books import read_book
from browser import ALL_HAVE_RUN, JupyterLab, OpenNotebook
from test_browser import chromium, nothing_goes_wrong_in_the_browser   # noqa: F401 (fixtures, and without a browser these tests are skipped)

EXPERIMENT = """import time
from agent_steps.run_as_experiment import Condition, run_experiment

def slow_check(folder):
    time.sleep(0.1)
    return False

condition = Condition("slow", options={"script": ["I will not do it."]}, max_steps=1)
table = run_experiment([condition], "Do it.", check=slow_check, runs=30, at_once=1)"""
SIZE = 'print(len(table), "rows, all with an outcome:", table["success"].notna().all())'
PROGRESS = re.compile(r"(\d+)/30\s\[\d\d:\d\d<\d\d:\d\d,.*run")


class LabForOneNotebook(JupyterLab):
    """JupyterLab that saves what widgets show, as Colab does, with a notebook of a few cells in place of a lesson."""

    def __init__(self, folder):
        settings = folder / "settings" / "@jupyter-widgets" / "jupyterlab-manager" / "plugin.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text('{"saveState": true}', encoding="utf-8")
        super().__init__(folder)

    def copy_of(self, sources):
        self.opened += 1
        path = self.work / str(self.opened) / "experiment.ipynb"
        path.parent.mkdir()
        cells = [{"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
                 for number, source in enumerate(sources)]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}), encoding="utf-8")
        return path


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):   # noqa: F811
    started = LabForOneNotebook(tmp_path_factory.mktemp("jupyterlab"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def notebook(chromium, lab):   # noqa: F811
    opened = OpenNotebook(chromium, lab, [EXPERIMENT, SIZE])
    yield opened
    opened.close()


@pytest.fixture
def started(notebook):
    """The notebook when its experiment has begun, and some of its runs are done."""
    notebook.choose("Run", "Run All Cells")
    notebook.outputs("cell-0").get_by_text(PROGRESS).first.wait_for()
    return notebook


def progress(notebook):
    """What the bar shows: how many runs are done, and how long it is drawn."""
    shown = notebook.outputs("cell-0").first
    return {"runs": int(PROGRESS.search(shown.inner_text())[1]), "width": shown.locator(".progress-bar").bounding_box()["width"]}


def saved_texts(notebook):
    """The texts that the saved notebook holds under the experiment's cell, once it is sure that no widget is in the file."""
    saved = read_book(notebook.save())
    assert saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"] == {}
    assert "widget-view" not in json.dumps(saved["cells"])
    return ["".join(output["text"] if "text" in output else output["data"]["text/plain"]) for output in saved["cells"][0]["outputs"]]


def test_the_bar_moves_and_says_how_long_it_takes_and_nothing_of_it_stays(started):
    before = progress(started)
    started.page.wait_for_timeout(700)
    after = progress(started)
    assert 0 < before["runs"] < after["runs"] < 30 and before["width"] < after["width"]
    started.screenshot("progress_during")
    started.wait_for(ALL_HAVE_RUN)
    started.screenshot("progress_after")
    assert started.shown("cell-0") == ""
    assert saved_texts(started) == [""]


def test_an_interrupted_experiment_keeps_the_runs_that_are_done(started):
    started.interrupt()
    started.wait_for(ALL_HAVE_RUN)
    started.screenshot("progress_interrupted")
    said = re.fullmatch(r"Interrupted:(\d+)of30runsareinthetable\.", started.shown("cell-0"))
    assert said and 0 < int(said[1]) < 30
    assert started.shown("cell-1") == f"{said[1]}rows,allwithanoutcome:True"
    assert saved_texts(started) == ["", f"Interrupted: {said[1]} of 30 runs are in the table.\n"]

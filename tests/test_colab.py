"""In Colab: what is installed, what is left alone, and what a person is told."""
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from agent_steps import CourseError
from agent_steps.classroom import colab

PROJECT = tomllib.loads(colab.PYPROJECT.read_text(encoding="utf-8"))["project"]
WANTED = [Requirement(text) for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["colab"]]
JUPYTER = ("jupyter", "ipykernel", "ipython", "notebook", "nbclient", "nbformat", "nbval", "nbconvert", "tornado", "pyzmq", "traitlets")


class Machine:
    """What seems to be installed and loaded, and the pip that is asked to change it."""

    def __init__(self):
        self.versions = {}       # of each package
        self.modules = {}        # of each module: the packages that it belongs to
        self.will_install = {}   # what the next pip does
        self.answer = SimpleNamespace(returncode=0, stderr="")
        self.commands, self.constraints = [], []

    def version(self, name):
        if name not in self.versions:
            raise metadata.PackageNotFoundError(name)
        return self.versions[name]

    def distributions(self):
        return [SimpleNamespace(name=name, version=version) for name, version in self.versions.items()]

    def run(self, command, **options):
        self.commands.append(command)
        self.constraints.append(Path(command[command.index("-c") + 1]).read_text(encoding="utf-8").split())
        self.versions |= self.will_install
        return self.answer


@pytest.fixture
def machine(monkeypatch):
    made = Machine()
    monkeypatch.setattr(metadata, "version", made.version)
    monkeypatch.setattr(metadata, "distributions", made.distributions)
    monkeypatch.setattr(metadata, "packages_distributions", lambda: made.modules)
    monkeypatch.setattr(subprocess, "run", made.run)
    monkeypatch.setattr(colab, "_outdated", set())
    return made


def fitting(requirement):
    return next(clause.version for clause in requirement.specifier if clause.operator == ">=")


def test_where_all_is_there_nothing_is_installed(machine):
    machine.versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    assert colab.install_missing() == [] and machine.commands == []


def test_where_nothing_is_there_all_is_installed_with_this_python_in_one_go(machine):
    missing = colab.install_missing()
    assert [Requirement(text).name for text in missing] == [requirement.name for requirement in WANTED]
    [command] = machine.commands
    assert command[:4] == [sys.executable, "-m", "pip", "install"] and command[-len(missing):] == missing


def test_what_is_there_in_a_good_version_is_left_alone(machine):
    machine.versions.update({requirement.name: fitting(requirement) for requirement in WANTED[1:]})
    assert [Requirement(text).name for text in colab.install_missing()] == [WANTED[0].name]


@pytest.mark.parametrize("version", ["0.0.1", "9999"])
def test_a_version_out_of_range_is_replaced(machine, version):
    machine.versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    bounded = next(requirement for requirement in WANTED if any(clause.operator == "<" for clause in requirement.specifier))
    machine.versions[bounded.name] = version
    missing = colab.install_missing()
    assert [Requirement(text).name for text in missing] == [bounded.name]
    assert Requirement(missing[0]).specifier == bounded.specifier


def test_a_version_before_its_release_is_good_enough(machine):
    machine.versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    bounded = next(requirement for requirement in WANTED if any(clause.operator == "<" for clause in requirement.specifier))
    machine.versions[bounded.name] = fitting(bounded).split(".")[0] + ".9999rc1"
    assert colab.install_missing() == []


def test_a_failing_installation_is_said_in_a_sentence_and_tried_again_the_next_time(machine):
    machine.answer = SimpleNamespace(returncode=1, stderr="WARNING: Retrying\nERROR: No matching distribution found for openai\n")
    for _ in range(2):
        with pytest.raises(CourseError, match="^Not all packages could be installed.*run this cell again. pip says: ERROR: No matching.* for openai$"):
            colab.install_missing()
    assert len(machine.commands) == 2


def test_a_pip_that_fails_without_a_word_is_no_riddle(machine):
    machine.answer = SimpleNamespace(returncode=1, stderr=" \n")
    with pytest.raises(CourseError, match="gave no reason"):
        colab.install_missing()


# ---- what this session has loaded already ----

@pytest.fixture
def replacing(machine, monkeypatch):
    """A session that has loaded an old openai, and a pip that brings a new one, and a new package besides."""
    machine.versions |= {requirement.name: fitting(requirement) for requirement in WANTED if requirement.name != "anthropic"} | {"openai": "2.54.0"}
    machine.will_install = {"openai": "3.57.0", "anthropic": "2.14.0"}
    machine.modules = {"openai": ["openai"], "anthropic": ["anthropic"], "json5": ["json5"]}
    monkeypatch.setitem(sys.modules, "openai", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "anthropic", SimpleNamespace())
    return machine


def test_a_package_that_was_replaced_under_the_session_asks_for_a_restart_until_it_comes(replacing):
    for _ in range(2):
        with pytest.raises(CourseError, match="Runtime > Restart session.*run this cell again.*an older openai\\.$"):
            colab.install_missing()
    assert len(replacing.commands) == 1


def test_a_package_that_the_session_has_not_loaded_may_be_replaced(replacing, monkeypatch):
    monkeypatch.delitem(sys.modules, "openai")
    assert [Requirement(text).name for text in colab.install_missing()] == ["anthropic", "openai"]


def test_what_pip_replaced_besides_asks_for_a_restart_too(replacing, monkeypatch):
    replacing.versions["json5"] = "0.9"
    replacing.will_install["json5"] = "0.10"
    monkeypatch.setitem(sys.modules, "json5", SimpleNamespace())
    with pytest.raises(CourseError, match="an older json5 and openai"):
        colab.install_missing()


def test_where_a_package_is_there_twice_the_first_counts(replacing, monkeypatch):
    below = [SimpleNamespace(name="openai", version="2.54.0")]
    monkeypatch.setattr(metadata, "distributions", lambda: replacing.distributions() + below)
    with pytest.raises(CourseError, match="openai"):
        colab.install_missing()


# ---- Jupyter's own packages ----

def test_no_package_of_jupyter_that_colab_has_may_be_changed(machine):
    machine.versions |= {"ipykernel": "6.17.1", "ipywidgets": "7.7.1"}
    colab.install_missing()
    assert machine.constraints == [["ipykernel==6.17.1", "ipywidgets==7.7.1"]]


def test_no_package_of_jupyters_runtime_is_ever_asked_for():
    names = [requirement.name.lower() for requirement in WANTED]
    assert not [name for name in names if name.startswith(JUPYTER) and name != "jupyter-ui-poll"]

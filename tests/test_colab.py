"""In Colab: what is installed, and what is left alone."""
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from agent_steps.classroom import colab

WANTED = [Requirement(text) for text in tomllib.loads(colab.PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]]
JUPYTER = ("jupyter", "ipykernel", "ipython", "ipywidgets", "notebook", "nbclient", "nbformat", "nbval", "nbconvert", "tornado", "pyzmq", "traitlets")


@pytest.fixture
def installed(monkeypatch):
    """What seems to be installed (a dict to change), and the commands that were run."""
    versions, commands = {}, []

    def version(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(subprocess, "run", lambda command, **options: commands.append((command, options)))
    return versions, commands


def fitting(requirement):
    return next(clause.version for clause in requirement.specifier if clause.operator == ">=")


def test_where_all_is_there_nothing_is_installed(installed):
    versions, commands = installed
    versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    assert colab.install_missing() == [] and commands == []


def test_where_nothing_is_there_all_is_installed_with_this_python_in_one_go(installed):
    _, commands = installed
    missing = colab.install_missing()
    assert [Requirement(text).name for text in missing] == [requirement.name for requirement in WANTED]
    assert [command for command, _ in commands] == [[sys.executable, "-m", "pip", "install", "-q", *missing]]


def test_what_is_there_in_a_good_version_is_left_alone(installed):
    versions, commands = installed
    versions.update({requirement.name: fitting(requirement) for requirement in WANTED[1:]})
    assert [Requirement(text).name for text in colab.install_missing()] == [WANTED[0].name]


@pytest.mark.parametrize("version", ["0.0.1", "9999"])
def test_a_version_out_of_range_is_replaced(installed, version):
    versions, _ = installed
    versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    bounded = next(requirement for requirement in WANTED if any(clause.operator == "<" for clause in requirement.specifier))
    versions[bounded.name] = version
    missing = colab.install_missing()
    assert [Requirement(text).name for text in missing] == [bounded.name]
    assert Requirement(missing[0]).specifier == bounded.specifier


def test_a_version_before_its_release_is_good_enough(installed):
    versions, _ = installed
    versions.update({requirement.name: fitting(requirement) for requirement in WANTED})
    bounded = next(requirement for requirement in WANTED if any(clause.operator == "<" for clause in requirement.specifier))
    versions[bounded.name] = fitting(bounded).split(".")[0] + ".9999rc1"
    assert colab.install_missing() == []


def test_a_failing_installation_is_not_passed_over(installed):
    _, commands = installed
    colab.install_missing()
    assert commands[0][1]["check"] is True


def test_no_package_of_jupyter_is_ever_asked_for():
    names = [requirement.name.lower() for requirement in WANTED]
    assert not [name for name in names if name.startswith(JUPYTER)]

"""The README does what it says."""
import re

import pytest
from books import NOTEBOOKS, ROOT, cells_of, slug_of, source_of

from agent_steps.classroom.address import colab_address
from agent_steps.classroom.course import LESSONS
from agent_steps.classroom.minutes import lesson_minutes
from agent_steps.providers.catalogue import PROVIDERS

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = ("pip install -r requirements.txt && jupyter lab notebooks", "pip install -r requirements.txt && pytest")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_screen_gives_the_two_commands(command):
    assert command in README[:README.index("## The lessons")].splitlines()


def test_ci_runs_the_readmes_test_command_and_installs_nothing_else_that_it_needs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.splitlines()[-1] == COMMANDS[1] and script.count("pytest") == 1
    extra = {"-r requirements-browser.txt", "-r requirements-scale.txt", "-r requirements-web.txt"}
    assert set(re.findall(r"pip install (.*?)(?: &&|$)", script, re.M)) == extra | {"-r requirements.txt"}


def test_the_workflow_runs_it_on_three_systems_with_the_oldest_and_newest_python():
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert COMMANDS[1] in workflow
    assert all(word in workflow for word in ("ubuntu", "macos", "windows", '"3.11"', '"3.13"'))


def test_the_first_screen_shows_the_loop_and_describes_it_in_words():
    words, path = re.search(r"!\[(.+?)\]\((.+?)\)", README).groups()
    assert (ROOT / path).is_file() and len(words.split()) > 10


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_table_gives_each_notebooks_title_and_minutes(path):
    prose = source_of(cells_of(path, "markdown")[0])
    title = re.match(r"# \d+\. (.*)", prose)[1]
    minutes = re.search(r"About (\d+) minutes", prose)[1]
    assert int(minutes) == lesson_minutes(path), "run: python -m agent_steps.classroom.making"
    number = LESSONS.index(slug_of(path)) + 1
    row = next(line for line in README.splitlines() if line.startswith(f"| {number} |"))
    assert f"[{title}](notebooks/{path.name})" in row and row.endswith(f" {minutes} |")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_table_opens_each_notebook_in_colab(path):
    number = LESSONS.index(slug_of(path)) + 1
    row = next(line for line in README.splitlines() if line.startswith(f"| {number} |"))
    assert f"| [open {number}]({colab_address(path.name)}) |" in row


def test_every_link_inside_the_repository_leads_somewhere():
    links = re.findall(r"\]\((?!http)(.+?)\)", README)
    assert links and not [link for link in links if not (ROOT / link).exists()]


def test_every_provider_stands_in_the_table_with_its_variable():
    for row in PROVIDERS.values():
        assert f"| `{row.name}` | {f'`{row.key_variable}`' if row.key_variable else 'none'} |" in README, row.name

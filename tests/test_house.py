"""The house rules: what keeps the course easy to live in."""
import ast
import json
import re
import subprocess
import tomllib

import pytest
from books import MODULES, NOTEBOOKS, ROOT, slug_of

from agent_steps.classroom.address import REPOSITORY, colab_address, setup_source
from agent_steps.classroom.course import LESSONS
from agent_steps.providers.catalogue import PROVIDERS

SUPPORTING = {"providers", "practice", "classroom", "wall"}
LONGER = {"full_tools": 320, "make_it_safer": 200, "call_with_tools": 253, "research_state": 325, "gather_sources": 335, "write_the_report": 480}
SOURCES = sorted(MODULES.rglob("*.py"))


def project_files():
    """The files that belong to the project: those that git tracks or would track."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def project_texts():
    return {path: path.read_text(encoding="utf-8") for path in project_files() if path.suffix != ".png"}


def imports_of(path):
    """The parts of agent_steps that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.add(path.relative_to(MODULES).parts[0])
        elif isinstance(node, ast.ImportFrom) and node.module == "agent_steps":
            found |= {alias.name for alias in node.names if alias.name != "CourseError"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agent_steps."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("agent_steps.")}
    return found


@pytest.mark.parametrize("number, slug", list(enumerate(LESSONS)))
def test_a_lesson_imports_only_earlier_lessons_and_the_supporting_packages(number, slug):
    assert imports_of(MODULES / f"{slug}.py") <= SUPPORTING | set(LESSONS[:number])


@pytest.mark.parametrize("package", sorted(SUPPORTING))
def test_a_supporting_package_imports_no_lesson(package):
    for path in (MODULES / package).rglob("*.py"):
        assert imports_of(path) <= SUPPORTING, path


def test_every_lesson_has_a_module_and_a_test_of_the_same_name():
    assert {path.stem for path in MODULES.glob("*.py")} - {"__init__", "__main__"} == set(LESSONS)
    assert not [slug for slug in LESSONS if not (ROOT / "tests" / f"test_{slug}.py").exists()]


def test_a_notebooks_number_is_its_place_in_the_course():
    assert {path.stem: f"{LESSONS.index(slug_of(path)) + 1:02d}_{slug_of(path)}" for path in NOTEBOOKS} == {p.stem: p.stem for p in NOTEBOOKS}


@pytest.mark.parametrize("slug", LESSONS)
def test_a_lesson_module_fits_on_a_screen_or_two(slug):
    assert len((MODULES / f"{slug}.py").read_text(encoding="utf-8").splitlines()) <= LONGER.get(slug, 160)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(MODULES).as_posix())
def test_functions_are_short_and_public_ones_are_described(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno - node.lineno < 40, f"{node.name} is over 40 lines long"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_most_functions_are_under_twenty_lines():
    nodes = [node for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]
    short = [node for node in nodes if node.end_lineno - node.lineno < 20]
    assert len(short) > 0.9 * len(nodes)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(MODULES).as_posix())
def test_text_files_are_opened_with_an_encoding(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        names = {keyword.arg for keyword in node.keywords}
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        is_method = isinstance(node.func, ast.Attribute)
        if (is_method and name in ("read_text", "write_text")) or (name == "open" and not any("b" in mode and len(mode) <= 3 for mode in modes)):
            assert "encoding" in names or isinstance(getattr(node.func, "value", None), ast.Name) and node.func.value.id == "os", ast.unparse(node)


def test_model_names_stand_in_the_catalogue_only():
    names = {row.model for row in PROVIDERS.values() if row.model and row.name != "practice"}
    found = {path.name: name for path, text in project_texts().items() for name in names if name in text}
    assert set(found) <= {"catalogue.py"}, found


def test_the_repositorys_address_stands_in_one_place_and_elsewhere_only_as_the_command_makes_it():
    place = REPOSITORY.removeprefix("https://github.com/")
    for path, text in project_texts().items():
        for book in NOTEBOOKS:
            text = text.replace(colab_address(book.name), "")
        if path in NOTEBOOKS:
            text = text.replace(json.dumps(setup_line(path), ensure_ascii=False), "")
        assert (place in text) == (path.name == "address.py"), path


def setup_line(path):
    """The line of a notebook's setup cell that names the repository."""
    return next(line for line in setup_source(slug_of(path)).splitlines(keepends=True) if REPOSITORY in line)


def test_no_file_holds_a_path_of_somebodys_machine():
    pattern = re.compile(r"(?<![\w.:/-])/(?:home|root|Users)/(?!you\b)\w+")
    found = {path.name: hit.group() for path, text in project_texts().items() if path.suffix != ".svg" and (hit := pattern.search(text))}
    assert not {name: hit for name, hit in found.items() if not name.startswith("test_")}


def test_every_text_file_is_utf8_with_plain_line_ends():
    assert not [path.name for path in project_texts() if b"\r\n" in path.read_bytes()]


def test_every_dependency_has_a_range():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    listed = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if line and line[0] not in "#-"]
    assert not [text for text in dependencies + listed if ">=" not in text]


def test_no_file_is_larger_than_half_a_megabyte():
    assert not [path.name for path in project_files() if path.stat().st_size > 500_000]

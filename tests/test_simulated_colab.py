"""The lessons in a simulated Colab. Needs Python 3.13 and a package index, so it runs only where such an environment is named."""
import os

import pytest
from books import NOTEBOOKS, cells_of, slug_of, source_of
from kernel_client import Notebook
from simulated_colab import Runtime, copy_course, shown
from test_colab import WANTED
from test_panel_in_kernel import PREPARE, RUN, approve, refuse, with_panel

from agent_steps.classroom.address import setup_source

PYTHON = os.environ.get("AGENT_STEPS_COLAB")
pytestmark = pytest.mark.skipif(not PYTHON, reason="no Colab: make one with .ci/colab_environment and name its Python in AGENT_STEPS_COLAB")

READY = "Ready: a fresh working folder with a copy of data/.\n"
FIRST_CELL = setup_source("plain_chat")
PINNED = ("ipykernel", "ipython", "ipywidgets", "jupyter_client", "notebook", "pyzmq", "tornado", "numpy", "pandas", "matplotlib", "pydantic")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    copy_course(folder)
    return folder


@pytest.fixture(scope="module")
def runtime(tmp_path_factory, repository):
    """One machine for most tests, as for a learner who opens one lesson after the other."""
    machine = Runtime(PYTHON, tmp_path_factory.mktemp("runtime"), repository)
    yield machine
    machine.close()


@pytest.fixture
def new_runtime(tmp_path, repository):
    machine = Runtime(PYTHON, tmp_path / "runtime", repository)
    yield machine
    machine.close()


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if slug_of(path) in ("plain_chat", "run_agent", "find_and_plot")],
                         ids=lambda path: path.stem)
def test_a_lesson_shows_what_is_stored(runtime, path):
    session = runtime.session()
    for cell in cells_of(path, "code"):
        now = session.run(source_of(cell))
        if "NBVAL_IGNORE_OUTPUT" not in source_of(cell):
            assert now == shown(cell["outputs"]), cell["id"]


def test_the_first_cell_brings_what_colab_lacks_and_leaves_the_rest_as_it_was(runtime):
    before = {package: runtime.version(package) for package in PINNED}
    assert runtime.session().run(FIRST_CELL) == READY
    assert all(wanted.specifier.contains(runtime.version(wanted.name)) for wanted in WANTED)
    assert {package: runtime.version(package) for package in PINNED} == before


def test_the_first_cell_can_be_run_again_and_in_a_second_lesson_beside_the_first(runtime):
    one, other = runtime.session(), runtime.session()
    assert [one.run(FIRST_CELL), one.run(FIRST_CELL), other.run(setup_source("run_agent")), one.run(FIRST_CELL)] == [READY] * 4


def test_whatever_goes_wrong_is_said_in_a_sentence_and_mended_by_running_the_cell_again(new_runtime):
    right = new_runtime.environment["GIT_CONFIG_KEY_0"]
    session = new_runtime.session(GIT_CONFIG_KEY_0="url.file:///nowhere.insteadOf", PIP_CONSTRAINT="/nowhere")
    assert "The course could not be fetched." in session.run(FIRST_CELL)

    session.run(f"import os\nos.environ['GIT_CONFIG_KEY_0'] = {right!r}")
    assert session.run(FIRST_CELL).startswith("CourseError: Not all packages could be installed.")

    session.run("del os.environ['PIP_CONSTRAINT']\nimport openai")
    for _ in range(2):
        told = session.run(FIRST_CELL)
        assert told.startswith("CourseError: Choose Runtime > Restart session") and "openai" in told and "\n" not in told

    session = new_runtime.session()
    assert session.run(FIRST_CELL) == READY
    assert session.run("import openai\nprint(openai.__version__)").strip() == new_runtime.version("openai")


def test_a_key_comes_from_colabs_secrets_and_what_is_wrong_with_it_is_said(runtime):
    session = runtime.session()
    session.run(FIRST_CELL)
    session.run("from google.colab import userdata\nfrom agent_steps.providers import connect\n"
                "userdata.secrets.update(OPENAI_API_KEY='sk-from-colab', ANTHROPIC_API_KEY=None, groq_api_key='sk-other-name', XAI_API_KEY='')")
    assert "by openai" in session.run("connect('openai')")
    assert "may not read it" in session.run("connect('anthropic')")
    for provider, name in (("groq", "GROQ_API_KEY"), ("xai", "XAI_API_KEY")):
        told = session.run(f"connect({provider!r})")
        assert told.startswith(f"ModelError: No key for {provider}: in Colab's secrets") and name in told and "\n" not in told


def test_the_buttons_of_the_panel_work_with_colabs_old_kernel(runtime, tmp_path):
    runtime.session().run(FIRST_CELL)
    notebook = Notebook(tmp_path, runtime.python, runtime.environment)
    notebook.run(PREPARE)
    widgets = with_panel(notebook, refuse, approve)
    assert widgets.error() == "" and "refused: look in data only" in widgets.shown()
    assert notebook.run("import ipykernel\nprint(ipykernel.version_info[0], run.completed, run.tool_calls)")[0] == "6 True 1\n"
    widgets = with_panel(notebook, lambda widgets: notebook.interrupt(), code=RUN)
    assert widgets.error().startswith("CourseError: Interrupted")
    assert notebook.run("print('goes on')")[0] == "goes on\n"
    notebook.close()

"""What a learner sees and clicks in JupyterLab: lessons 1, 9 and 11, an exercise, and the form of a model's questions, in a real Chromium."""
import inspect
import os
import subprocess
import sys

import nbformat
import pytest
import test_notebooks
from books import NOTEBOOKS, ROOT, read_book, source_of
from browser import HOW_TO_GET, JupyterLab, OpenNotebook, rehearsed_answers, start_chromium

pytest.importorskip("jupyterlab", reason=HOW_TO_GET)
pytest.importorskip("playwright", reason=HOW_TO_GET)

ONE_NOTEBOOK_RULES = [rule for name, rule in vars(test_notebooks).items()
                      if name.startswith("test_") and list(inspect.signature(rule).parameters) == ["path"]]


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = start_chromium(playwright)
        if browser is None:
            pytest.skip(HOW_TO_GET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    started = JupyterLab(tmp_path_factory.mktemp("jupyterlab"))
    yield started
    started.close()


@pytest.fixture(autouse=True)
def nothing_goes_wrong_in_the_browser(lab):
    """No error in the browser's console or in the page's code, and no request to another machine."""
    yield
    trouble = lab.trouble.copy()
    lab.trouble.clear()
    assert trouble == []


def opened(chromium, lab, lesson, answers=None):
    """Open a lesson, run all its cells if there are answers to its questions, and close it in the end."""
    notebook = OpenNotebook(chromium, lab, lesson)
    if answers is not None:
        notebook.run_all(answers)
    yield notebook
    notebook.close()


@pytest.fixture(scope="module")
def lesson_1(chromium, lab):
    yield from opened(chromium, lab, 1, answers=[])


@pytest.fixture(scope="module")
def lesson_9(chromium, lab):
    yield from opened(chromium, lab, 9, answers=rehearsed_answers(NOTEBOOKS[8]))


@pytest.fixture(scope="module")
def lesson_11(chromium, lab):
    yield from opened(chromium, lab, 11, answers=["y"] * 7)


@pytest.fixture(scope="module")
def untouched_lesson_1(chromium, lab):
    yield from opened(chromium, lab, 1)


@pytest.fixture(scope="module")
def untouched_lesson_9(chromium, lab):
    yield from opened(chromium, lab, 9)


@pytest.fixture(scope="module")
def untouched_lesson_11(chromium, lab):
    yield from opened(chromium, lab, 11)


@pytest.fixture(params=["lesson_1", "lesson_9", "lesson_11"])
def any_lesson(request):
    return request.getfixturevalue(request.param)


# ---- every lesson ----

def test_run_all_runs_every_cell_once_and_in_order(any_lesson):
    assert any_lesson.numbers() == [str(number) for number, _ in enumerate(any_lesson.code_cells, start=1)]
    assert any_lesson.page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']").count() == 0


def test_a_learner_sees_what_the_repository_stores(any_lesson):
    for cell in any_lesson.code_cells:
        assert any_lesson.shown(cell["id"]) == any_lesson.stored(cell), cell["id"]


def diagram_of(notebook):
    return next(cell["id"] for cell in notebook.code_cells if "loop_diagram(" in source_of(cell))


@pytest.mark.parametrize("width", [1280, 700])
def test_the_diagram_has_its_words_and_fits_into_the_window(any_lesson, width):
    any_lesson.page.set_viewport_size({"width": width, "height": 900})
    seen = any_lesson.picture(diagram_of(any_lesson))
    any_lesson.screenshot(f"{any_lesson.path.name[:2]}_diagram_{width}")
    any_lesson.page.set_viewport_size({"width": 1280, "height": 900})
    assert len(seen["words"].split()) > 30
    assert 200 < seen["width"] <= seen["room"] == seen["needed"] and seen["height"] > 100


HOW_TEXT_STANDS = """async output => {
    output.scrollIntoView({block: 'center'});
    await new Promise(done => setTimeout(done, 300));   // JupyterLab draws a cell once it is in the window
    const texts = document.createTreeWalker(output, NodeFilter.SHOW_TEXT), boxes = [], range = document.createRange();
    while (texts.nextNode()) {
        range.selectNodeContents(texts.currentNode);
        for (const box of range.getClientRects()) boxes.push([texts.currentNode.data, box]);
    }
    const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return {seen: boxes.length, room: output.clientWidth, needed: output.scrollWidth,
            covered: boxes.filter(([, a]) => boxes.some(([, b]) => a !== b && cross(a, b))).map(([text]) => text)};
}"""


@pytest.mark.parametrize("width", [1280, 500])
def test_no_new_word_stands_on_top_of_what_it_means(any_lesson, width):
    any_lesson.page.set_viewport_size({"width": width, "height": 900})
    [words] = [cell["id"] for cell in any_lesson.code_cells if source_of(cell).startswith("new_words(")]
    found = any_lesson.outputs(words).first.evaluate(HOW_TEXT_STANDS)
    any_lesson.screenshot(f"{any_lesson.path.name[:2]}_words_{width}")
    any_lesson.page.set_viewport_size({"width": 1280, "height": 900})
    assert found["seen"] > 1 and found["covered"] == [] and found["room"] == found["needed"]


def test_the_diagram_is_there_before_anything_was_run(untouched_lesson_1):
    seen = untouched_lesson_1.picture(diagram_of(untouched_lesson_1))
    assert seen["width"] > 200 and len(seen["words"].split()) > 30


# ---- what JupyterLab saves ----

def complaints(path):
    """What the rules for a notebook say against one."""
    found = []
    for rule in ONE_NOTEBOOK_RULES:
        try:
            rule(path)
        except AssertionError as error:
            found.append(str(error))
    return found


def test_a_saved_notebook_breaks_one_rule_which_says_why_and_how_to_mend_it(any_lesson):
    saved = any_lesson.save()
    assert "widgets" not in read_book(saved)["metadata"]
    [complaint] = complaints(saved)
    assert "was run and saved by a program such as JupyterLab, which left" in complaint and "metadata.language_info" in complaint
    assert f"python -m agent_steps.classroom.refreshing notebooks/{saved.name}" in complaint
    typed = [cell for cell in read_book(saved)["cells"] if "rehearse(" in source_of(cell) and "in_panel(" not in source_of(cell)]
    assert ("answers that somebody typed" in complaint) == bool(typed)   # a click leaves no trace


def run_python(*arguments, folder):
    """Run Python as the tests do; return what it printed."""
    paths = os.pathsep.join([os.environ["PYTHONPATH"], str(ROOT)])
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=os.environ | {"PYTHONPATH": paths},
                          capture_output=True, text=True, encoding="utf-8").stdout


def test_the_outputs_of_a_saved_notebook_pass_nbval(lesson_1):
    saved = lesson_1.save()
    printed = run_python("-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:xdist", "-p", "no:cacheprovider",
                         f"--rootdir={saved.parent}", saved, folder=saved.parent)
    assert f"= {len(lesson_1.code_cells)} passed" in printed, printed


def test_the_command_that_the_rule_names_makes_the_repositorys_notebook_of_a_saved_one(lesson_9, tmp_path):
    saved = tmp_path / lesson_9.path.name
    saved.write_bytes(lesson_9.save().read_bytes())
    run_python("-m", "agent_steps.classroom.refreshing", saved, folder=tmp_path)
    assert saved.read_text(encoding="utf-8") == NOTEBOOKS[8].read_text(encoding="utf-8")


# ---- single things ----

def test_a_turn_of_a_run_unfolds_on_a_click_and_folds_on_another(lesson_9):
    turn = lesson_9.outputs("run-agent-32").locator("details").first
    inside = turn.locator("pre").first
    assert not inside.is_visible()
    turn.locator("summary").first.click()
    assert inside.is_visible() and "How many CSV files are in this folder?" in turn.text_content()
    inside.scroll_into_view_if_needed()
    lesson_9.screenshot("09_turn_unfolded")
    turn.locator("summary").first.click()
    assert not inside.is_visible()


def test_the_plot_is_shown_inside_the_window_and_saved_with_its_words(lesson_11):
    seen = lesson_11.picture("find-and-plot-20")
    lesson_11.screenshot("11_plot")
    assert 200 < seen["width"] <= seen["room"] == seen["needed"]
    saved = next(cell for cell in read_book(lesson_11.save())["cells"] if cell["id"] == "find-and-plot-20")
    # JupyterLab 4.6 keeps these words; it does not yet give them to the picture on the screen.
    assert "scatter plot" in saved["outputs"][0]["metadata"]["image/png"]["alt"]


def test_restart_and_run_all_begins_again_at_one(lesson_1):
    lesson_1.restart_and_run_all()
    assert lesson_1.numbers() == [str(number) for number, _ in enumerate(lesson_1.code_cells, start=1)]


def test_a_question_can_be_interrupted_and_the_next_cell_runs(untouched_lesson_9):
    untouched_lesson_9.choose("Run", "Run All Cells")
    untouched_lesson_9.wait_for_question()
    untouched_lesson_9.screenshot("09_question")
    untouched_lesson_9.interrupt()
    asked = untouched_lesson_9.outputs("run-agent-07")
    asked.get_by_text("KeyboardInterrupt").first.wait_for()
    untouched_lesson_9.run("run-agent-09")
    assert "ToolCallError" in untouched_lesson_9.shown("run-agent-09")


def test_a_panel_can_be_interrupted_and_used_again_and_a_double_click_approves_one_call_only(untouched_lesson_11):
    panel, lesson = "find-and-plot-17", untouched_lesson_11
    lesson.choose("Run", "Run All Cells")
    lesson.wait_for_question()
    lesson.page.get_by_role("button", name="Approve").scroll_into_view_if_needed()
    lesson.screenshot("11_panel")
    lesson.interrupt()
    lesson.outputs(panel).get_by_text("CourseError: Interrupted: no further call is run.").wait_for()
    assert "Itwasinterrupted." in lesson.shown(panel)
    lesson.wait_for("() => ![...document.querySelectorAll('.jp-InputPrompt')].some(prompt => prompt.textContent.includes('*'))")
    assert lesson.numbers()[-1] == " "   # the cells after it were not run: they have left the queue, and have no number

    lesson.start(panel)
    lesson.wait_for_question()
    lesson.page.wait_for_timeout(1000)   # a click on a question that is younger than half a second does not count
    lesson.page.get_by_role("button", name="Approve").dblclick()
    lesson.outputs(panel).get_by_text("Step 2 | tool calls so far: 1 | Run this tool?").wait_for()
    lesson.press("q")
    lesson.outputs(panel).get_by_text("The run took 2 steps and 1 tool call. You ended it.").wait_for()


def test_an_exercise_says_what_is_wrong_and_then_that_it_is_solved(untouched_lesson_1):
    exercise = "plain-chat-54"
    untouched_lesson_1.rewrite_line(exercise, "...", 'return messages[-1]["content"]')
    untouched_lesson_1.outputs(exercise).get_by_text("not yet. That is the last message, but the model wrote it.").wait_for()
    untouched_lesson_1.screenshot("01_exercise_not_yet")
    untouched_lesson_1.rewrite_line(exercise, "return", 'return ([None] + [m["content"] for m in messages if m["role"] == "user"])[-1]')
    untouched_lesson_1.outputs(exercise).get_by_text("Exercise 1: solved.").wait_for()
    untouched_lesson_1.screenshot("01_exercise_solved")


# ---- the form with a model's questions ----

PREPARE = """
from pathlib import Path
from agent_steps.ask_user import tools_interactive
from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom import in_panel
from agent_steps.full_tools import read_file
from agent_steps.providers import connect
from agent_steps.write_the_tool import list_files
"""
ASK_ONE = PREPARE + """
for name in ("penguins.csv", "weather.csv", "words.csv"):
    Path(name).write_text("x,y", encoding="utf-8")
tools = [list_files, read_file, *tools_interactive()]
result = await in_panel(call_with_tools, connect("practice"), "Read one of the CSV files. Ask me which.", tools)
[row] = [row for row in result.rows if row["name"] == "ask_user"]
print("Answer:", row["result"].partition('"answers": ')[2])"""
ASK_SEVERAL = PREPARE + """
columns = [{"label": label, "description": f"The {label}, for $1 or $2."} for label in ("name", "mass", "year")]
questions = [{"question": "Which columns?", "header": "Columns", "multiSelect": True, "options": columns},
             {"question": "Why?", "header": "Why", "options": columns}]
def ask(model, approve):
    return tools_interactive()[0](questions)
asked = await in_panel(ask, connect("practice"))
print("Answer:", asked["answers"])"""


@pytest.fixture
def asking(chromium, lab, tmp_path_factory):
    """A notebook with one cell in which the practice model asks, and one in which several answers can be given."""
    path = tmp_path_factory.mktemp("asking") / "asking.ipynb"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code, id=id) for id, code in (("one", ASK_ONE), ("several", ASK_SEVERAL))])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, path)
    yield from opened(chromium, lab, path)


def form_is_there(notebook):
    notebook.page.get_by_role("button", name="Send").wait_for()
    notebook.page.wait_for_timeout(700)   # a click on a form that is younger than half a second does not count


def room_of_form(notebook):
    """The widths of the form: that there is, and that is needed."""
    return notebook.page.locator(".agent-steps-form").evaluate("form => [form.clientWidth, form.scrollWidth]")


def test_the_form_takes_a_choice_a_change_of_mind_and_own_words(asking):
    asking.start("one")
    for _ in range(2):   # the listing, and the question itself
        asking.wait_for_question()
        asking.press("y")
    form_is_there(asking)
    assert "Youareasked." in asking.shown("one") and not asking.page.get_by_role("button", name="Approve").is_visible()
    radio_buttons = asking.page.get_by_role("radio")
    assert radio_buttons.count() == 4 and not any(each.is_checked() for each in radio_buttons.all())
    for file in ("penguins.csv", "weather.csv"):
        asking.change("radio", file)
    assert [each.is_checked() for each in radio_buttons.all()] == [False, True, False, False]
    for width in (1200, 700):
        asking.page.set_viewport_size({"width": width, "height": 900})
        asking.page.get_by_role("button", name="Send").scroll_into_view_if_needed()
        asking.screenshot(f"form_{width}")
        room, needed = room_of_form(asking)
        assert needed <= room
    asking.page.set_viewport_size({"width": 1280, "height": 900})
    asking.send_form("File, in your own words", "the one called words.csv")
    asking.wait_for_question()   # the file is to be read
    asking.press("y")
    asking.outputs("one").get_by_text("Answer:").wait_for()
    assert '"selected":[],"other_text":"theonecalledwords.csv"' in asking.shown("one")
    assert "themodelasked:" in asking.shown("one") and "->theonecalledwords.csv" in asking.shown("one")


def test_the_form_takes_several_choices_and_a_question_can_be_left_open(asking):
    asking.start("several")
    form_is_there(asking)
    for label in ("name", "mass", "year", "name"):   # the first is unchecked again
        asking.change("checkbox", f"{label}: ")
    assert [each.is_checked() for each in asking.page.get_by_role("checkbox").all()] == [False, True, True]
    assert "mass:Themass,for$1or$2." in asking.shown("several")   # and no formula
    asking.screenshot("form_several")
    asking.page.get_by_role("button", name="Send").dblclick()
    asking.outputs("several").get_by_text("Answer:").wait_for()
    assert "'selected':['mass','year'],'other_text':None},'Why?':{'selected':[],'other_text':None}" in asking.shown("several")
    assert "Why?->leftopen" in asking.shown("several")
    saved = asking.save()
    assert "widgets" not in read_book(saved)["metadata"] and "widget-view" not in saved.read_text(encoding="utf-8")

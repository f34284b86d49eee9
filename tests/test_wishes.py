"""What a task or a rule asks of a plot is done, or it is said that it cannot be done. Nothing is swapped without a word."""
import pytest
from test_practice import work

from agent_steps.find_and_plot import TASK
from agent_steps.practice.situation import asks_for, lines, without_json
from agent_steps.practice.tables import Table, read_table
from agent_steps.practice.wishes import axes, free_name, picture_name
from agent_steps.tool_definitions import TOOL_DEFINITIONS, build_system_prompt

VERIFY = [
    "Check your picture before you say that you are done.", "Before finishing, check that the picture exists.",
    "Call list_files after running the script and before task_complete.", "Make sure the picture is there before finishing.",
    "Ensure that the PNG was saved.", "Double-check the plot.", "Always verify your result.", "Confirm that the file exists, then stop.",
    "When the script has run, look whether the picture is on the disk.", "Never say that you are done before you have checked the file.",
    "Do not finish without verifying the image.", "Validate the plot.", "Before you call task_complete, list_files.",
    "Check that it worked.", "At the end, make sure everything is saved.", "Look again if the picture is there.", "Look at the picture before you finish.",
    "Before you finish, list the files again.", "Inspect the folder for the PNG before finishing.", "Do not stop until the PNG is there.",
    "Make certain the plot was saved.", "VERIFY THE PNG!",
]
NO_VERIFY = [
    "Do not verify anything.", "You need not make sure that the file is there.", "Never check the picture.", "Be quick.",
    "You don't have to check the file.", "Check your spelling.", "Save the picture as a PNG file.", "",
]


@pytest.mark.parametrize("rules", VERIFY)
def test_a_sensible_wording_of_a_check_is_understood(rules):
    assert any(asks_for(sentence, lines()["habits"]["verify"]) for sentence in rules.replace("!", ".").split("."))


@pytest.mark.parametrize("rules", NO_VERIFY)
def test_no_check_is_made_where_none_is_asked_for(rules):
    assert not any(asks_for(sentence, lines()["habits"]["verify"]) for sentence in rules.split("."))


def test_the_description_of_the_tools_is_no_rule():
    prose = without_json(build_system_prompt(TOOL_DEFINITIONS))
    assert "list_files" not in prose and "explain your reasoning" in prose


@pytest.mark.parametrize(("task", "expected"), [
    ("Plot it.", ("a", "b")), ("Plot c.", ("c", "a")), ("Plot c and b.", ("c", "b")), ("Plot a against c.", ("c", "a")),
    ("Plot c versus b", ("b", "c")), ("a over b, please", ("b", "a")), ("b on the x axis and a on the y axis", ("b", "a")),
    ("a on the y axis, c on the x axis", ("c", "a")),
])
def test_the_columns_go_on_the_axes_that_the_task_says(task, expected):
    assert axes(task, Table(",", ["t", "a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"])) == expected


@pytest.mark.parametrize(("task", "name"), [
    ("Plot it.", "t_2.png"), ("Save it as out.png.", "out.png"), ("Save it as out/t.pdf", "out/t.pdf"), ("I want a JPG", "t.jpg"), ("as SVG", "t.svg"),
])
def test_the_picture_gets_the_name_that_the_task_says_and_else_a_free_one(task, name):
    assert picture_name(task, "t", {"t.csv", "t.png"}) == name


def test_a_free_name_is_counted_up():
    assert free_name("plot_t", ".py", {"plot_t.py", "plot_t_2.py"}) == "plot_t_3.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "heights.csv").write_text("city,weight,height\nAda,61,1.7\nBo,70,1.8\nCy,,1.6\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tides.csv").write_text("hour,tide,wind\n5,1.2,3\n9,1.4,4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summary(task, **options):
    return work(task, **options)[-1][0].arguments["summary"]


def test_the_summary_tells_how_many_rows_are_shown(folder):
    assert "Rows shown: 2 of 3; the others lack a number." in summary(TASK)


@pytest.mark.parametrize("task", ["Plot the tides.", "Plot sub/tides.csv", "Make a chart of tides.csv."])
def test_the_file_that_the_task_speaks_of_is_plotted(folder, task):
    assert "from sub/tides.csv" in summary(task)


@pytest.mark.parametrize(("task", "words"), [
    ("Plot nonexistent.csv", "There is no nonexistent.csv here. I see: heights.csv, sub/tides.csv."),
    ("Plot the column banana of heights.csv", "heights.csv has no column banana. Its columns are: city, weight, height."),
    ("Make a box plot of heights.csv", "beyond me (box plot)"), ("Draw a bar chart.", "beyond me (bar chart)"),
    ("Plot only the Gentoo species", "beyond me (only"), ("Plot height against city", "The column city of heights.csv holds no numbers."),
    ("Plot height by weight", "beyond me (by)"), ("Plot both files", "beyond me (both)"), ("Plot the mean of weight", "beyond me (the mean)"),
])
def test_what_it_cannot_do_it_says_and_draws_nothing(folder, task, words):
    assert words in summary(task)
    assert not list(folder.rglob("*.png"))


@pytest.mark.parametrize("rules", ["Never draw a histogram.", "Do not draw a line plot."])
def test_a_forbidden_kind_of_plot_is_not_drawn(folder, rules):
    script = next(call.arguments["content"] for call, _ in work(TASK, rules=rules) if call.name == "write_file")
    assert "plt.scatter(" in script


def test_the_persons_own_files_are_not_replaced(folder):
    for name in ("heights.png", "plot_heights.py"):
        (folder / name).write_text("mine", encoding="utf-8")
    work(TASK)
    assert (folder / "heights.png").read_text() == (folder / "plot_heights.py").read_text() == "mine"
    assert (folder / "heights_2.png").exists()


def test_a_picture_in_a_folder_that_is_not_there_yet(folder):
    assert "saved the picture as out/a.png" in summary("Plot heights.csv and save it as out/a.png")
    assert (folder / "out" / "a.png").exists()


def test_a_plot_without_a_single_point_is_no_success(folder):
    (folder / "heights.csv").write_text("a,b\n1,\n,2\n3,\n,4\n5,\n", encoding="utf-8")
    done = work(TASK)
    assert "no row of heights.csv has all the numbers" in done[-1][0].arguments["summary"]


def test_one_column_of_numbers_makes_a_histogram(folder):
    (folder / "heights.csv").write_text("month,sales\nJan,3\nFeb,5\nMar,4\n", encoding="utf-8")
    assert "a histogram of sales" in summary("Plot heights.csv")


def test_utf_16_is_mended_as_what_it_is(folder):
    (folder / "heights.csv").write_bytes("a,b\n1.5,2\n2.5,4\n".encode("utf-16"))
    assert "I plotted b against a" in summary("Plot heights.csv")


def test_a_list_that_was_cut_is_not_taken_for_the_whole(folder):
    for number in range(600):
        (folder / f"a{number:03}.txt").write_text("x", encoding="utf-8")
    (folder / "heights.csv").rename(folder / "zzz.csv")
    (folder / "sub" / "tides.csv").unlink()
    assert "I saw only a part of the list" in summary(TASK)


def test_a_file_that_cannot_be_read_is_not_called_a_table_without_numbers(folder):
    (folder / "heights.csv").write_bytes(b"\x00\x01\x02" * 50)
    assert "could not read heights.csv" in summary("Plot heights.csv")


def test_a_first_row_of_numbers_is_no_header():
    assert read_table("1,2\n3,4\n5,6\n") is None


@pytest.mark.parametrize(("reason", "words"), [("", "You refused list_files, so"), ("n: it is private", "(it is private)")])
def test_a_refusal_is_told_with_its_reason(reason, words):
    from agent_steps.plain_chat import Chat
    from agent_steps.providers import connect
    from agent_steps.run_agent import run_agent

    answers = iter([reason or "n", "y"])
    run = run_agent(Chat(connect(), build_system_prompt(TOOL_DEFINITIONS)), TASK, approve=lambda call: next(answers), quiet=True)
    assert words in run.summary and "I have to stop here." in run.turns[-1].reply


def test_a_reason_that_names_another_folder_is_followed(folder):
    from agent_steps.dispatch_table import call_tool
    from agent_steps.plain_chat import Chat
    from agent_steps.providers import connect
    from agent_steps.run_agent import run_agent

    answers = iter(["n: look in the sub folder only", "y", "y"])
    run = run_agent(Chat(connect(), build_system_prompt(TOOL_DEFINITIONS)), "How many CSV files are in this folder?",
                    approve=lambda call: next(answers), call_tool=call_tool, quiet=True)
    assert run.turns[1].call.arguments == {"path": "sub"} and run.summary == "There is 1 CSV file in the folder sub: sub/tides.csv."


def test_a_column_that_counts_the_rows_is_plotted_when_it_is_named(folder):
    (folder / "heights.csv").write_text("hour,tide,wind\n0,1.5,3\n1,1.2,4\n2,1.1,9\n", encoding="utf-8")
    assert "I plotted tide against hour" in summary("Plot tide over hour from ./heights.csv as a line plot")


@pytest.mark.parametrize("task", ["Remove the header of the file heights.csv", "How many rows does heights.csv have?", "Rename the file heights.csv"])
def test_a_wish_about_files_that_a_list_does_not_answer_is_not_answered_by_one(folder, task):
    assert "I cannot answer that" in summary(task)


@pytest.mark.parametrize("column", ["plot", "file", "name", "a", "it", "PNG"])
def test_a_column_that_is_called_like_a_word_of_the_task_is_not_taken_for_a_wish(folder, column):
    (folder / "heights.csv").write_text(f"{column},weight,height\nx,61,1.7\ny,70,1.8\nz,64,1.6\n", encoding="utf-8")
    assert "I plotted height against weight" in summary(TASK)


def test_such_a_column_can_be_named_as_a_column(folder):
    (folder / "heights.csv").write_text("weight,height,plot\n61,1.7,7\n70,1.8,9\n64,1.6,3\n", encoding="utf-8")
    assert "I plotted weight against plot" in summary("Draw the column plot of heights.csv")

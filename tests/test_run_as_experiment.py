"""Lesson 14: many runs, one table."""
import json
import os
import random
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pandas
import pytest
from loopback import Loopback, hang_up
from scripted import call_text, done

from agent_steps import run_as_experiment
from agent_steps.classroom.experiment.identity import fingerprint
from agent_steps.classroom.experiment.statistics import success_table
from agent_steps.classroom.experiment.table import COLUMNS
from agent_steps.parse_the_tool_call import ToolCall
from agent_steps.providers import ModelError
from agent_steps.providers.usage import Usage
from agent_steps.run_as_experiment import Condition, effort, fresh_agent, nobody, run_experiment, run_once, run_row, run_seed, settings
from agent_steps.wall.child import STOP_SIGNAL, WINDOWS

DATA = Path(__file__).parents[1] / "data"
TASK = "List the CSV files in this folder."
USUAL = Condition("usual")
FAULTY = Condition("faulty", options={"faults": {"malformed_call": 0.3}})
DOWN = Condition("down", options={"faults": "always overload", "max_retries": 0})
links = pytest.mark.skipif(WINDOWS, reason="links need rights on Windows")


def never(folder):
    return False


def wrote(folder):
    """Did the agent write a.txt?"""
    return (folder / "a.txt").exists()


def listing(folder):
    """Success if anything was written; and what there is."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {"success": any(name.endswith(".txt") and "/" not in name for name in names), "found": names}


def writer(name="writer", path="a.txt", content="1", **more):
    """A condition under which the model writes one file."""
    return Condition(name, options={"script": [call_text("write_file", path=path, content=content), done()]}, **more)


def experiment(conditions=USUAL, task=TASK, *, check=never, runs=3, **more):
    return run_experiment(conditions, task, check=check, runs=runs, **more)


def rows_of(table):
    """Which runs are in a table."""
    return list(zip(table["condition"], table["run"]))


def assert_same(first, second):
    """Two tables hold the same, but for the time that it took."""
    pandas.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))


def lines_of(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# ---- rows and columns ----

def test_there_is_one_row_a_run_sorted_by_condition_as_given_and_by_run():
    table = experiment([Condition("z"), Condition("a")], runs=12, at_once=5)
    assert rows_of(table) == [("z", number) for number in range(1, 13)] + [("a", number) for number in range(1, 13)]
    assert list(table.index) == list(range(24))


def test_the_columns_are_always_the_same_and_what_the_check_adds_comes_behind():
    table = experiment(writer(), check=lambda folder: {"success": wrote(folder), "lines": 3, "words": "é"})
    assert list(table.columns) == [*COLUMNS, "lines", "words"]
    assert table["lines"].tolist() == [3, 3, 3] and table["words"].tolist() == ["é"] * 3


def test_a_row_says_what_was_set_what_happened_what_it_took_and_what_the_disk_says():
    row = experiment(writer("w", prompt_name="mine", max_steps=7, deny=("edit_file", "read_file(path=b*)")), check=wrote, files=DATA, runs=1).iloc[0]
    said = {"condition": "w", "run": 1, "provider": "practice", "model": "practice", "prompt": "mine", "max_steps": 7, "steps": 2, "tool_calls": 2,
            "denied": "edit_file, read_file(path=b*)", "completed": True, "stop_reason": "completed", "refused": 0, "errors": 0, "no_call": 0,
            "calls": 2, "summary": "All is done.", "success": True, "reason": "", "began_with": fingerprint(DATA)}
    assert pandas.isna(row["seed"])   # nothing was drawn
    assert {name: row[name] for name in said} == said
    assert row["input_tokens"] > row["output_tokens"] > 0 and row["seconds"] > 0
    assert row[["temperature"]].isna().all()


def test_replies_without_a_call_and_failing_calls_are_counted():
    script = ["I think.", call_text("read_file", path="none.txt"), call_text("write_file", path="a.txt", content="1"), done()]
    row = experiment(Condition("slow", options={"script": script, "temperature": 0.5}), check=wrote, runs=1).iloc[0]
    assert (row["steps"], row["no_call"], row["errors"], row["calls"], row["temperature"]) == (4, 1, 1, 4, 0.5)


def test_the_types_hold_for_a_table_without_rows(capsys):
    table = experiment(max_calls=0)
    assert len(table) == 0 and table.dtypes.astype(str).to_dict() == COLUMNS
    assert "0 of 3 runs" in capsys.readouterr().out


def test_tokens_that_are_not_reported_are_missing_and_not_zero():
    table = experiment([USUAL, Condition("silent", options={"faults": "missing_usage"})])
    assert table.dtypes.astype(str).to_dict() == COLUMNS
    known = table.groupby("condition")[["input_tokens", "output_tokens"]].count()
    assert known.loc["silent"].tolist() == [0, 0] and known.loc["usual"].tolist() == [3, 3]


def test_a_row_of_an_error_leaves_unknown_what_is_unknown(monkeypatch):
    monkeypatch.setattr(run_as_experiment, "run_once", lambda *_: 1 / 0)
    table = experiment()
    assert table.dtypes.astype(str).to_dict() == COLUMNS
    assert table[["steps", "completed", "success", "calls"]].isna().all(axis=None)
    assert set(table["reason"]) == {"ZeroDivisionError: division by zero"} and set(table["stop_reason"]) == {"error"}


def test_one_rule_needs_no_tuple_and_the_table_names_it_whole():
    table = experiment(writer(deny="write_file"), check=wrote, runs=1)
    assert table["denied"].tolist() == ["write_file"] and table["refused"].tolist() == [1] and not table["success"].any()


def test_numbers_of_numpy_in_a_condition_are_numbers(tmp_path):
    condition = Condition("n", max_steps=numpy.int64(4), options={"temperature": numpy.float32(0.5)})
    table = experiment(condition, results=tmp_path / "r.jsonl")
    assert table["max_steps"].tolist() == [4, 4, 4] and table["temperature"].tolist() == [0.5] * 3


def test_a_run_takes_no_more_steps_than_its_condition_allows():
    table = experiment(Condition("short", max_steps=1), runs=2)
    assert table["steps"].tolist() == [1, 1] and set(table["stop_reason"]) == {"max_steps"}


def test_the_parts_of_a_row_can_be_had_one_by_one(tmp_path):
    run, model = run_once(USUAL, TASK, tmp_path, seed=1)
    assert run.completed and effort(run, model)["calls"] == model.usage.calls == 2
    assert settings(USUAL)["condition"] == "usual"
    row = run_row(USUAL, TASK, 1, 0, never, None)
    assert row["success"] is False and row["began_with"] == fingerprint(tmp_path)   # both are empty


# ---- seeds, and the order of the runs ----

def test_a_seed_depends_on_the_experiments_seed_and_the_number_alone():
    seeds = [run_seed(0, number) for number in range(1000)]
    assert len(set(seeds)) == 1000 and seeds == [run_seed(0, number) for number in range(1000)]
    assert run_seed(1, 0) not in seeds and run_seed(1, 11) != run_seed(11, 1)


def test_the_same_run_of_two_conditions_has_the_same_seed_and_two_runs_have_different_ones():
    table = experiment([USUAL, FAULTY], runs=5)
    assert (table.groupby("run")["seed"].nunique() == 1).all() and table["seed"].nunique() == 5


def test_another_seed_gives_other_runs_and_the_same_seed_the_same():
    first, again, other = (experiment(FAULTY, runs=10, seed=seed) for seed in (3, 3, 4))
    assert_same(first, again)
    assert first["steps"].nunique() > 1 and first["steps"].tolist() != other["steps"].tolist()


@pytest.mark.parametrize("at_once", [1, 2, 30])
def test_the_table_is_the_same_however_many_are_done_at_once(at_once):
    assert_same(experiment([USUAL, FAULTY], runs=15, at_once=at_once), experiment([USUAL, FAULTY], runs=15))


class Shuffled(ThreadPoolExecutor):
    """Two threads that do what they are given after a wait that is drawn."""

    def submit(self, work, *arguments):
        wait = random.Random(str(arguments[2])).random() / 50
        return super().submit(lambda: (threading.Event().wait(wait), work(*arguments))[1])


def test_the_table_is_the_same_in_whatever_order_the_runs_end():
    with Shuffled(2) as executor:
        assert_same(experiment([USUAL, FAULTY], runs=15, executor=executor), experiment([USUAL, FAULTY], runs=15))


def test_more_runs_leave_the_first_ones_as_they_were():
    assert_same(experiment(FAULTY, runs=5), experiment(FAULTY, runs=9).head(5))


# ---- fresh folders, fresh chats ----

@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files of this test alone."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def test_no_run_sees_the_files_of_another():
    conditions = [writer(name, path=f"{name}.txt") for name in "abc"]
    table = experiment(conditions, check=listing, files=DATA, runs=10, at_once=8)
    with_data = [path.relative_to(DATA).as_posix() for path in Path(DATA).rglob("*") if path.is_file()]
    for name, found in zip(table["condition"], table["found"]):
        assert found == sorted([*with_data, f"{name}.txt"])


def test_no_run_hears_what_another_said():
    table = experiment(runs=10, files=DATA)
    assert table["input_tokens"].nunique() == 1   # a history would be sent, and counted
    first, second = (fresh_agent(USUAL, DATA, 0)[0] for _ in range(2))
    assert first is not second and first.messages == [] and first.model is not second.model


def test_the_files_that_a_run_begins_with_stay_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")

    def check(folder):
        return (folder / "a.csv").read_text(encoding="utf-8") == "gone"
    assert experiment(writer(path="a.csv", content="gone"), check=check, files=tmp_path)["success"].all()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"] and (tmp_path / "a.csv").read_text(encoding="utf-8") == "x\n1\n"


def test_nothing_is_left_in_the_folder_for_temporary_files(temporary):
    seen = []

    def check(folder):
        seen.append(folder)
        (folder / "new").mkdir()
        raise KeyError("x")
    experiment([writer(), DOWN], check=check)
    assert len(set(seen)) == 4 and all(folder.is_relative_to(temporary.resolve()) for folder in seen)
    assert list(temporary.iterdir()) == []


def test_every_run_works_in_a_folder_of_the_same_name_and_finds_none_of_the_machine_in_its_row(temporary):
    curious = Condition("x", options={"script": [call_text("read_file", path="../x"), done()]})
    table = experiment(curious, check=lambda folder: (folder / "no").read_text(encoding="utf-8"))
    assert str(temporary) not in table.to_json() and "run_" not in table.to_json()
    assert table["reason"].tolist() == ["The check raised FileNotFoundError: [Errno 2] No such file or directory: 'no'"] * 3


@links
def test_a_link_to_a_file_is_copied_as_a_file(tmp_path):
    (tmp_path / "far.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "near.csv").symlink_to(tmp_path / "far.csv")

    def check(folder):
        return (folder / "near.csv").read_text(encoding="utf-8") == "gone" and not (folder / "near.csv").is_symlink()
    assert experiment(writer(path="near.csv", content="gone"), check=check, files=tmp_path / "files")["success"].all()
    assert (tmp_path / "far.csv").read_text(encoding="utf-8") == "x\n1\n"


@links
@pytest.mark.parametrize("target", [".", "..", "nowhere", "link"])
def test_a_link_that_cannot_be_copied_is_refused_before_the_first_run(tmp_path, target):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link").symlink_to(target)
    with pytest.raises(ValueError, match="'sub/link' is a link to a folder, or no file at all"):
        experiment(files=tmp_path)


# ---- what goes wrong in a run is a row ----

def test_a_model_that_cannot_be_reached_makes_rows_and_the_others_go_on():
    table = experiment([USUAL, DOWN], runs=4)
    down = table[table["condition"] == "down"]
    assert len(table) == 8 and set(down["stop_reason"]) == {"error"} and down["reason"].str.contains("overloaded").all()
    assert table.loc[table["condition"] == "usual", "completed"].all() and not down["completed"].any()


def test_where_the_service_breaks_down_nothing_is_known_about_the_agent_and_the_services_own_reason_stays():
    asked = []
    table = experiment(DOWN, check=lambda folder: bool(asked.append(folder)), runs=3)
    assert table["success"].isna().all() and table["reason"].str.contains("overloaded").all() and len(set(asked)) == 1   # only the try-out
    assert success_table(table).loc["down", ["runs", "note"]].tolist() == [0, "no run. Left out, for want of an outcome: 3."]


@pytest.mark.parametrize("error", [AttributeError("spilt"), OSError(24, "Too many open files"), MemoryError(), SystemExit("bye")], ids=repr)
def test_a_mistake_in_the_check_or_of_the_machine_says_nothing_about_the_agent(error):
    def check(folder):
        if wrote(folder):
            raise error
        return False
    row = experiment(writer(), check=check, runs=1).iloc[0]
    assert pandas.isna(row["success"]) and row["reason"].startswith(f"The check raised {type(error).__name__}") and row["stop_reason"] == "completed"


def test_a_check_that_raises_has_found_no_success_and_the_row_says_why():
    table = experiment(writer(), check=lambda folder: {}["x"] if wrote(folder) else False)
    assert not table["success"].any() and set(table["reason"]) == {"The check raised KeyError: 'x'"} and table["completed"].all()


def test_a_check_that_gives_nothing_only_where_the_agent_was_makes_rows():
    table = experiment(writer(), check=lambda folder: None if wrote(folder) else False)
    assert table["success"].isna().all() and table["reason"].str.contains("The check gave {'success': None}").all()


def test_an_exception_inside_a_run_is_told_in_its_row_and_the_rest_is_done(monkeypatch):
    def sometimes(condition, task, folder, seed):
        if seed == run_seed(0, 2):
            raise OSError("disk full")
        return run_once(condition, task, folder, seed)
    monkeypatch.setattr(run_as_experiment, "run_once", sometimes)
    table = experiment(runs=4)
    assert table["reason"].tolist() == ["", "OSError: disk full", "", ""] and table["completed"].count() == 3


def test_errors_are_tried_again_and_the_last_row_of_a_run_counts(tmp_path, monkeypatch, capsys):
    results = tmp_path / "r.jsonl"

    def fails_at_two(condition, task, folder, seed):
        return 1 / 0 if seed == run_seed(0, 2) else run_once(condition, task, folder, seed)
    with monkeypatch.context() as patch:
        patch.setattr(run_as_experiment, "run_once", fails_at_two)
        assert experiment(results=results)["stop_reason"].tolist() == ["completed", "error", "completed"]
    assert_same(experiment(results=results), experiment())
    assert "2 of 3 runs were in" in capsys.readouterr().out
    assert sorted(line["row"]["run"] for line in lines_of(results)) == [1, 2, 2, 3]


# ---- whose call it is ----

def test_nobody_is_asked_and_a_denied_call_does_not_run():
    table = experiment(writer(deny=("write_file",)), check=wrote)
    assert not table["success"].any() and table["refused"].tolist() == [1, 1, 1] and table["tool_calls"].tolist() == [1, 1, 1]


def test_the_code_of_a_real_model_runs_behind_a_wall_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    call = ToolCall("run_python_code", {"code": "1"})
    conditions = [Condition("paid", "openai", "some-model"), USUAL]
    answers = {}
    for wall in ("landlock", None):
        monkeypatch.setattr(run_as_experiment, "strongest_wall", lambda wall=wall: wall)
        answers[wall] = [fresh_agent(each, tmp_path, 0)[2](call) for each in conditions]
    assert answers == {"landlock": ["y", "y"], None: [nobody(call), "y"]}
    assert nobody(call).startswith("n: ")


def test_a_run_ends_at_its_next_call_once_the_experiment_was_interrupted(tmp_path):
    token = STOP_SIGNAL.set(stopped := threading.Event())
    try:
        assert run_once(writer(), TASK, tmp_path, 0)[0].completed
        (tmp_path / "a.txt").unlink()
        stopped.set()
        with pytest.raises(KeyboardInterrupt):
            run_row(writer(), TASK, 1, 0, wrote, None)
        with pytest.raises(KeyboardInterrupt):
            run_once(writer(), TASK, tmp_path, 0)
    finally:
        STOP_SIGNAL.reset(token)
    assert not wrote(tmp_path)


# ---- the budget ----

@pytest.fixture
def counted(monkeypatch):
    """Every call of a model that was made."""
    made, count = [], Usage.count

    def counting(usage, *tokens):
        made.append(tokens)
        count(usage, *tokens)
    monkeypatch.setattr(Usage, "count", counting)
    return made


@pytest.mark.parametrize("max_calls", [1, 14, 15, 16, 31, 40])
def test_the_budget_is_never_exceeded_and_the_runs_are_the_same_however_many_at_once(max_calls, counted, capsys):
    tables = []
    for at_once in (1, 16):
        counted.clear()
        tables.append(experiment([USUAL, FAULTY], runs=15, max_calls=max_calls, at_once=at_once))
        assert len(counted) == tables[-1]["calls"].sum() <= max_calls
        told = f"The budget of {max_calls} calls allows no further run: {len(tables[-1])} of 30 runs are in the table.\n"
        assert capsys.readouterr().out == told
    assert_same(*tables)
    assert max_calls - 15 < len(counted) or max_calls < 15


def test_a_budget_that_is_enough_is_not_mentioned(capsys):
    assert len(experiment(runs=4, max_calls=4 * 15)) == 4 and capsys.readouterr().out == ""


def test_a_budget_is_for_one_sitting_and_the_next_goes_on(tmp_path, capsys):
    results = tmp_path / "r.jsonl"
    first = experiment(runs=6, max_calls=17, results=results)
    assert 0 < len(first) < 6 and f"They are in {results}, too: do the same again to go on from there." in capsys.readouterr().out
    assert_same(experiment(runs=6, max_calls=90, results=results), experiment(runs=6))


def test_calls_that_were_not_answered_count_too():
    with Loopback() as server:
        server.always = hang_up
        condition = Condition("broken", provider="auto", model="practice", options={"base_url": server.base_url("openai"), "max_retries": 0})
        table = experiment(condition, runs=60, max_calls=45)
    assert len(server.requests) == table["steps"].sum() and 30 < len(server.requests) <= 45
    assert set(table["provider"]) == {"your server"} and table["success"].isna().all()


def test_where_calls_cost_money_there_must_be_a_budget(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    paid = Condition("paid", "openai", "some-model", max_steps=7)
    with pytest.raises(ValueError, match="cost money. Set max_calls.*up to 22 calls"):
        experiment([USUAL, paid], results=tmp_path / "r.jsonl")
    assert len(experiment([USUAL, paid], max_calls=0)) == 0
    assert list(tmp_path.iterdir()) == []


# ---- refused before the first run ----

@pytest.fixture
def no_run(monkeypatch):
    """No run may begin in this test."""
    monkeypatch.setattr(run_as_experiment, "run_row", lambda *_: pytest.fail("a run began"))


@pytest.mark.parametrize("more, error, message", [
    ({"runs": 0}, ValueError, "1 or more"),
    ({"runs": -3}, ValueError, "1 or more"),
    ({"at_once": 0}, ValueError, "1 or more"),
    ({"runs": 2.5}, TypeError, "float"),
    ({"conditions": Condition("x", max_steps=0)}, ValueError, "1 or more"),
    ({"conditions": []}, ValueError, "at least one condition"),
    ({"conditions": [USUAL, Condition("usual", max_steps=3)]}, ValueError, "a name of its own"),
    ({"conditions": Condition("x", options={"api_key": "sk-secret"})}, ValueError, "A key comes from the environment"),
    ({"conditions": Condition("x", options={"seed": 3})}, ValueError, "a seed from the experiment"),
    ({"conditions": Condition("x", provider="")}, ValueError, "Name the provider"),
    ({"conditions": Condition("x\ud800")}, ValueError, "cannot stand in a table"),
    ({"conditions": Condition(("x", 1))}, ValueError, "the name is no text"),
    ({"conditions": Condition("x", options={"temperature": "hot"})}, ValueError, "cannot stand in a table"),
    ({"conditions": Condition("x", max_steps=2.5)}, ValueError, "cannot stand in a table"),
    ({"conditions": Condition("x", prompt_name=Path("p"))}, ValueError, "cannot stand in a table"),
    ({"conditions": "practice"}, TypeError, "a list of Condition"),
    ({"conditions": [{"name": "x"}]}, TypeError, "a list of Condition"),
    ({"conditions": Condition("x", "openai", "some-model"), "max_calls": 5}, ModelError, "OPENAI_API_KEY"),
    ({"conditions": Condition("x", "nobody")}, ModelError, "Unknown provider 'nobody'"),
    ({"conditions": Condition("x", options={"faults": "typo"})}, ValueError, "no fault 'typo'"),
    ({"conditions": Condition("x", options={"temprature": 1})}, TypeError, "temprature"),
    ({"conditions": Condition("x", deny=("write_fil",))}, ValueError, "matches no call"),
    ({"files": "not/there"}, ValueError, "There is no folder"),
    ({"files": ""}, ValueError, "There is no folder"),
    ({"files": __file__}, ValueError, "There is no folder"),
    ({"check": lambda folder: True}, ValueError, "before the agent has done anything"),
    ({"check": lambda folder: folder + "/INDEX.md"}, ValueError, "The check does not work in a folder where nothing was done. TypeError"),
    ({"check": lambda folder: no_such_name}, ValueError, "no_such_name"),   # noqa: F821
    ({"check": lambda folder: None}, TypeError, "The check gave {'success': None}"),
    ({"check": lambda folder: "yes"}, TypeError, "Let it give True or False"),
    ({"check": lambda folder: {"sucess": True}}, TypeError, "a dict with 'success' in it"),
    ({"check": lambda folder: {"success": False, "steps": 3}}, TypeError, "'steps', which the table has already"),
    ({"check": lambda folder: {"success": False, "when": folder}}, TypeError, "cannot be written down as JSON"),
    ({"check": lambda folder: {"success": pandas.NA}}, TypeError, "<NA> cannot be written down"),
    ({"check": lambda folder: os.chdir(folder)}, ValueError, "changes the current folder"),
    ({"check": lambda folder: bool(os.chdir(folder))}, ValueError, "changes the current folder"),
    ({"results": "not/there/r.jsonl"}, ValueError, "There is no folder for 'not/there/r.jsonl'. Make it first."),
])
def test_what_could_not_work_is_refused_before_the_first_run(more, error, message, no_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        experiment(**more)
    assert message in str(caught.value) and "sk-secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_success_in_the_untouched_files_is_refused(no_run):
    with pytest.raises(ValueError, match="before the agent has done anything"):
        experiment(check=lambda folder: (folder / "penguins.csv").exists(), files=DATA)


def test_the_folder_for_temporary_files_cannot_be_what_a_run_begins_with(temporary, no_run):
    for folder in (temporary, temporary.parent):
        with pytest.raises(ValueError, match="Temporary files are kept in"):
            experiment(files=folder)


def test_results_do_not_lie_among_the_files_that_they_would_change(tmp_path, monkeypatch, no_run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for results in ("r.jsonl", "sub/r.jsonl", "sub/../r.jsonl", tmp_path / "r.jsonl"):
        with pytest.raises(ValueError, match="lies in the folder that each run begins with"):
            experiment(files=".", results=results)


def test_a_check_that_changes_the_folder_it_is_given_changes_nothing_else(tmp_path):
    (tmp_path / "a.csv").write_text("x\n", encoding="utf-8")

    def check(folder):
        (folder / "a.csv").unlink()
        return wrote(folder)
    assert experiment(writer(), check=check, files=tmp_path)["success"].all()
    assert (tmp_path / "a.csv").exists()


# ---- forms of the arguments ----

def test_one_condition_needs_no_list_and_a_generator_will_do():
    assert_same(experiment(USUAL), experiment(each for each in [USUAL]))


def test_files_may_be_a_path_or_a_text_and_relative(monkeypatch):
    monkeypatch.chdir(DATA.parent)
    assert_same(experiment(files="data"), experiment(files=DATA))


@pytest.mark.parametrize("name", ["", "é 中 😀", "a\nb\u2028c", '"{}"', "../x", "nan", "a\0b"])
def test_a_condition_may_be_called_whatever_one_likes(name, tmp_path):
    first = experiment(Condition(name), results=tmp_path / "r.jsonl")
    assert set(first["condition"]) == {name}
    assert_same(first, experiment(Condition(name), results=tmp_path / "r.jsonl"))
    assert len(lines_of(tmp_path / "r.jsonl")) == 3


# ---- the file of results, seen from outside ----

def test_the_same_call_again_does_nothing_again(tmp_path, monkeypatch, capsys):
    results = tmp_path / "r.jsonl"
    first = experiment([USUAL, FAULTY], runs=8, results=results)
    before = results.read_bytes()
    monkeypatch.setattr(run_as_experiment, "run_row", lambda *_: pytest.fail("a run began"))
    assert_same(first, experiment([USUAL, FAULTY], runs=8, results=results))
    assert results.read_bytes() == before and capsys.readouterr().out == f"16 of 16 runs were in {results} already.\n"


def test_more_runs_and_more_conditions_go_on_and_fewer_are_a_part(tmp_path):
    results = tmp_path / "r.jsonl"
    experiment(FAULTY, runs=3, results=results)
    assert_same(experiment([USUAL, FAULTY], runs=5, results=results), experiment([USUAL, FAULTY], runs=5))
    assert len(lines_of(results)) == 10
    assert_same(experiment(FAULTY, runs=2, results=results), experiment(FAULTY, runs=2))
    assert len(lines_of(results)) == 10


def other_check(folder):
    return False and folder


@pytest.mark.parametrize("more", [
    {"task": "List the files."}, {"seed": 1}, {"check": other_check}, {"files": DATA}, {"conditions": Condition("usual", max_steps=14)},
    {"conditions": Condition("usual", options={"faults": {"silence": 0.1}})}, {"conditions": Condition("usual", deny=("write_file",))},
    {"conditions": Condition("usual", system_prompt="You are another.")}])
def test_another_experiment_under_the_same_name_is_refused(more, tmp_path):
    results = tmp_path / "r.jsonl"
    experiment(results=results)
    before = results.read_bytes()
    with pytest.raises(ValueError, match="holds runs of 'usual' with another task, seed, check, files or settings"):
        experiment(**more, results=results)
    assert results.read_bytes() == before


def test_what_a_check_gives_is_the_same_in_the_first_table_and_in_one_from_the_file(tmp_path):
    def check(folder):
        return {"success": numpy.bool_(wrote(folder)), "count": numpy.int64(3), "share": numpy.float32(0.5), "levels": (1, numpy.int64(2)),
                "mean": pandas.Series([1, 2]).mean(), "text": "é 中 \ud800 😀", "none": None, "not a number": float("nan"), 7: {8: 9}}
    tables = [experiment(writer(), check=check, results=tmp_path / "r.jsonl") for _ in range(2)]
    assert_same(*tables)
    row = tables[0].iloc[0]
    assert (row["count"], row["share"], row["levels"], row["mean"], row["text"]) == (3, 0.5, [1, 2], 1.5, "é 中 ? 😀")
    assert row["none"] is None and row["7"] == {"8": 9} and tables[0]["success"].all()


def test_half_a_character_in_a_summary_is_no_trouble(tmp_path):
    condition = Condition("half", options={"script": ['<tool_call>{"name": "task_complete", "arguments": {"summary": "a \\ud800 b"}}</tool_call>']})
    assert_same(*(experiment(condition, results=tmp_path / "r.jsonl") for _ in range(2)))


def test_a_check_that_moves_to_another_folder_later_does_not_move_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    experiment(writer(), check=lambda folder: wrote(folder) and not os.chdir(tmp_path / "elsewhere"), results="r.jsonl", at_once=1)
    assert len(lines_of(tmp_path / "r.jsonl")) == 3 and list((tmp_path / "elsewhere").iterdir()) == []

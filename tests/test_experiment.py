"""What surrounds an experiment: the file of results, who does which run when, the progress bar, statistics, grading."""
import json
import math
import os
import random
import runpy
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas
import pytest
from scripted import types

from agent_steps.classroom.experiment import identity, in_flight, marks
from agent_steps.classroom.experiment.grading import Item, grade, grade_by_hand
from agent_steps.classroom.experiment.in_flight import Budget, ExecutorFailed, Job
from agent_steps.classroom.experiment.results_file import MARK, ResultsFile, as_kept, check_place
from agent_steps.classroom.experiment.running import carry_out
from agent_steps.classroom.experiment.statistics import DependentRuns, compare, interval, runs_needed, success_table
from agent_steps.classroom.experiment.table import as_table

ROOT = Path(__file__).parents[1]
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and pseudo-terminals need POSIX")
MARKS = {"a": "mark of a", "é": "mark of é"}


def row_of(number, name="a", **more):
    return {"condition": name, "run": number, "stop_reason": "completed", "steps": 2, **more}


def line_of(number, name="a", mark=None, **more):
    return json.dumps({MARK: mark or MARKS[name], "row": row_of(number, name, **more)}, ensure_ascii=False).encode() + b"\n"


def jobs_of(*numbers, name="a", most_calls=15):
    return [Job(name, number, (name, number), most_calls) for number in numbers]


def work(name, number):
    return row_of(number, name)


def as_rows(rows):
    return sorted(rows, key=lambda row: row["run"])


def runs_of(rows):
    return sorted(row["run"] for row in rows)


# ---- the file of results ----

def test_a_row_that_was_written_down_is_read_again(tmp_path):
    file = ResultsFile(tmp_path / "r.jsonl")
    for number in (1, 2):
        file.append(MARKS["é"], row_of(number, "é", summary="é 中 😀 \u2028\n"))
    again = ResultsFile(tmp_path / "r.jsonl")
    assert again.rows(MARKS) == [row_of(number, "é", summary="é 中 😀 \u2028\n") for number in (1, 2)] and again.cut == 0


def test_without_a_path_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ResultsFile()
    file.append(MARKS["a"], row_of(1))
    assert file.rows(MARKS) == [] and file.how_to_go_on() == "" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\n"])
def test_an_empty_file_is_a_file_of_results(tmp_path, content):
    (tmp_path / "r.jsonl").write_bytes(content)
    assert runs_of(carry_out(work, jobs_of(1, 2), MARKS, results=tmp_path / "r.jsonl")) == [1, 2]
    assert runs_of(ResultsFile(tmp_path / "r.jsonl").rows(MARKS)) == [1, 2]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["plain line ends", "line ends of Windows"])
def test_wherever_the_last_line_is_cut_its_run_alone_is_done_again(tmp_path, end):
    last = line_of(3, "é", summary="é 中 😀").rstrip()
    for length in range(len(last) + 1):
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(line_of(1, "é").rstrip() + end + line_of(2, "é").rstrip() + end + last[:length])
        file = ResultsFile(path)
        whole = length == len(last)
        assert runs_of(file.rows(MARKS)) == ([1, 2, 3] if whole else [1, 2]), length
        assert file.cut == (0 < length < len(last))
        file.append(MARKS["é"], row_of(3, "é"))
        assert runs_of(ResultsFile(path).rows(MARKS)) == [1, 2, 3], length
        assert path.read_bytes().startswith(line_of(1, "é").rstrip() + end + line_of(2, "é").rstrip() + end + last[:length])


def test_a_cut_line_is_told(tmp_path, capsys):
    path = tmp_path / "r.jsonl"
    path.write_bytes(line_of(1) + line_of(2)[:30])
    assert runs_of(carry_out(work, jobs_of(1, 2), MARKS, results=path)) == [1, 2]
    assert capsys.readouterr().out == f"In {path} a line is cut off and does not count. Its run is done again.\n1 of 2 runs were in {path} already.\n"


def test_of_two_rows_for_one_run_the_last_counts(tmp_path):
    (tmp_path / "r.jsonl").write_bytes(line_of(1, steps=3) + line_of(2) + line_of(1, steps=4))
    assert ResultsFile(tmp_path / "r.jsonl").rows(MARKS) == [row_of(1, steps=4), row_of(2)]


OTHER_FILES = {
    "a table": b"condition,run,success\na,1,True\n", "an object": b'{"a": 1}\n', "a list": b"[1, 2]\n", "a number": b"3\n",
    "a notebook": json.dumps({"cells": [], "nbformat": 4}, indent=1).encode(), "binary": bytes(range(256)), "a picture": b"\x89PNG\r\n\x1a\n\0\0",
    "text": "Notes é\n".encode(), "other rows": b'{"experiments": "x", "row": {}}\n',
    "deep": b"[" * 100_000, "another encoding": line_of(1).decode().encode("utf-16"),
    "after a good line": line_of(1) + b"note to myself\n", "nothing but a zero": b"\0"}


@pytest.mark.parametrize("content", OTHER_FILES.values(), ids=OTHER_FILES)
def test_a_file_that_is_something_else_is_refused_and_left_untouched(tmp_path, content):
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"r.jsonl is no file of results: line \d is no row of one. Name another file."):
        carry_out(work, jobs_of(1), MARKS, results=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("row", [{}, {"condition": "a"}, {"run": 1, "stop_reason": "x"}, {"condition": "a", "run": 1}, 3, None])
def test_a_line_with_parts_of_it_missing_counts_as_cut(tmp_path, row):
    (tmp_path / "r.jsonl").write_bytes(json.dumps({MARK: "mark of a", "row": row}).encode() + b"\n" + line_of(2))
    file = ResultsFile(tmp_path / "r.jsonl")
    assert file.cut == 1 and runs_of(file.rows(MARKS)) == [2]


def test_runs_of_the_same_name_but_another_mark_are_refused_and_other_names_are_let_be(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(line_of(1) + line_of(1, "é", mark="of long ago"))
    assert runs_of(carry_out(work, jobs_of(1), {"a": MARKS["a"]}, results=path)) == [1]
    with pytest.raises(ValueError, match="holds runs of 'é' with another task"):
        carry_out(work, jobs_of(1, name="é"), MARKS, results=path)


def test_a_full_disk_stops_an_experiment_and_what_was_cut_is_kept_apart_from_what_follows(tmp_path, monkeypatch, capsys):
    path = tmp_path / "r.jsonl"

    def full(number):
        with open(path, "ab") as file:
            file.write(line_of(3)[:20])
        raise OSError(28, "No space left on device")
    carry_out(work, jobs_of(1, 2), MARKS, results=path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert runs_of(carry_out(work, jobs_of(1, 2, 3, 4, 5), MARKS, results=path, at_once=1))[:3] == [1, 2, 3]
        assert "The results could not be written down (No space left on device): " in capsys.readouterr().out
    assert runs_of(carry_out(work, jobs_of(1, 2, 3, 4), MARKS, results=path)) == [1, 2, 3, 4]
    assert runs_of(ResultsFile(path).rows(MARKS)) == [1, 2, 3, 4]


def test_what_has_no_form_in_a_file_is_refused():
    for value in ({1, 2}, Path("x"), 3j, object(), pandas.NaT):
        with pytest.raises(TypeError, match="cannot be written down as JSON"):
            as_kept({"x": value})


@pytest.mark.parametrize("change", [
    lambda line: line.replace(b'": ', b'":'), lambda line: json.dumps(dict(reversed(json.loads(line).items()))).encode() + b"\n",
    lambda line: b"\xef\xbb\xbf" + line, lambda line: line.replace(b"\n", b"\r\n")], ids=["compact", "reordered", "BOM", "CRLF"])
def test_a_file_that_another_program_wrote_anew_is_read(tmp_path, change):
    path = tmp_path / "r.jsonl"
    path.write_bytes(change(line_of(1)))
    assert runs_of(ResultsFile(path).rows(MARKS)) == [1]


@pytest.mark.parametrize("part", [{"condition": ["a"]}, {"run": "1"}, {"run": [1]}])
def test_a_row_with_a_name_or_number_of_another_type_is_no_row(tmp_path, part):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"other": "m", "row": row_of(1) | part}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1 is no row"):
        ResultsFile(path)


def test_nan_is_kept_as_unknown():
    assert as_kept({"x": math.nan, "y": [math.inf]}) == {"x": None, "y": [None]}


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    for place in ("", tmp_path):
        with pytest.raises(ValueError, match="cannot be written"):
            check_place(place, None)


# ---- what marks an experiment ----

USES = """
from dataclasses import dataclass
LIMIT = {limit}
@dataclass
class Item:
    name: str
    grade: object
RUBRIC = [Item("a", lambda folder: {level})]
def inner(folder):
    return {inner}
def make(text):
    return lambda folder: text
remembered = make("{text}")
class Has:
    def __init__(self, path):
        self.path = path
    def __call__(self, folder):
        return self.path
has = Has("{path}")
def check(folder):
    return LIMIT and RUBRIC and inner(folder) and remembered(folder) and has(folder) and os
import os
"""


@pytest.mark.parametrize("changed", ["limit", "level", "inner", "text", "path"])
def test_a_check_is_known_by_what_it_uses_of_its_own_module_too(tmp_path, changed):
    same = dict(limit=1, level=2, inner=3, text="t", path="p")
    first, again, other = (checks_in(tmp_path, USES.format(**values)) for values in (same, same, same | {changed: 9}))
    assert mark(first) == mark(again) != mark(other)


def test_a_mark_is_the_same_in_every_session(tmp_path):
    path = tmp_path / "checks.py"
    path.write_text(USES.format(limit={1, "b", "c"}, level=2, inner=3, text="t", path="p"), encoding="utf-8")
    code = f"import runpy; from agent_steps.classroom.experiment.marks import mark_of; from agent_steps.run_as_experiment import Condition; " \
           f"print(mark_of(Condition('x'), runpy.run_path({str(path)!r})['check']))"
    said = {subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, cwd=ROOT, capture_output=True, text=True,
                           encoding="utf-8", check=True, timeout=60).stdout for seed in ("1", "2", "3")}
    assert len(said) == 1


def test_a_function_that_calls_itself_has_a_mark(tmp_path):
    assert mark(checks_in(tmp_path, "def check(folder):\n    return check(folder)"))


def test_faults_by_turn_and_at_a_rate_have_a_mark_together():
    assert marks.mark_of(Setting({2: "two_calls", "silence": 0.1})) != marks.mark_of(Setting({2: "two_calls", "silence": 0.2}))


def checks_in(tmp_path, source):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
    path.write_text(source, encoding="utf-8")
    return runpy.run_path(str(path))["check"]


def mark(check):
    return marks.mark_of(Setting(), check)


@dataclass
class Setting:
    """Stands for a condition."""

    name: str = "a"


def test_a_lambda_is_the_same_whatever_stands_beside_it(tmp_path):
    first = checks_in(tmp_path, 'check = lambda folder: (folder / "a.txt").exists()\n')
    moved = checks_in(tmp_path, 'import os\n\n\ncheck = dict(check=lambda folder: (folder / "a.txt").exists(), runs=40)["check"]\n')
    lines = checks_in(tmp_path, 'check = dict(\n    check=lambda folder: (folder / "a.txt").exists(),   # here\n    runs=3)["check"]\n')
    other = checks_in(tmp_path, 'check = lambda folder: (folder / "b.txt").exists()\n')
    assert mark(first) == mark(moved) == mark(lines) != mark(other)


def test_a_fingerprint_stands_for_the_paths_and_the_contents_of_files(tmp_path):
    def of(**files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in files.items():
            (folder / name / "x.txt").parent.mkdir(parents=True)
            (folder / name / "x.txt").write_text(text, encoding="utf-8")
        folder.mkdir(exist_ok=True)
        return identity.fingerprint(folder)
    assert of(a="1", b="é") == of(b="é", a="1") and of() == identity.fingerprint(None)
    different = [of(), of(a="1"), of(a="2"), of(b="1"), of(a="1", b=""), of(a="", b="1"), of(a="11")]
    assert len(set(different)) == len(different)


def test_a_function_is_known_by_what_stands_in_it(tmp_path):
    source = "def check(folder):\n    return {}\n"
    first, same, other = (checks_in(tmp_path, text) for text in (source.format(1), "x = 3\n" + source.format(1), source.format(2)))
    assert mark(first) == mark(same) != mark(other)
    assert mark(partial(first, x=1)) == mark(partial(same, x=1)) != mark(partial(first, x=2))
    assert mark(eval("lambda folder: True")) == mark(eval("lambda folder: True"))   # without a source there is its name


# ---- who does which run when ----

def test_jobs_begin_in_their_order_and_the_executor_never_has_all_of_them():
    asked, at_work = [], []

    class Slow(ThreadPoolExecutor):
        def submit(self, work, *arguments):
            asked.append(arguments[1])
            at_work.append(len(asked) - len(finished))
            return super().submit(work, *arguments)
    finished = []
    with Slow(3) as executor:
        for job, future in in_flight.in_flight(work, iter(jobs_of(*range(100))), executor, 3, Budget(), {}):
            assert future.result()["run"] == job.run
            finished.append(job.run)
    assert asked == list(range(100)) and sorted(finished) == asked and max(at_work) <= 6


def test_no_more_are_at_work_at_once_than_was_asked():
    lock, now, most = threading.Lock(), [], []

    def busy(name, number):
        with lock:
            now.append(number)
            most.append(len(now))
        time.sleep(0.002)
        with lock:
            now.remove(number)
        return row_of(number)
    carry_out(busy, jobs_of(*range(40)), MARKS, at_once=4)
    assert max(most) == 4


def test_a_budget_gives_back_what_was_not_used_and_counts_the_unknown_as_all():
    budget = Budget(20)
    assert budget.reserve(15) and not budget.reserve(6) and budget.reserve(5)
    budget.settle(15, 2)
    budget.settle(5, None)
    assert (budget.used, budget.reserved) == (7, 0) and budget.reserve(13) and not budget.reserve(1)
    assert Budget().reserve(10**9)


@pytest.mark.parametrize("at_once", [1, 16])
def test_rows_that_do_not_say_how_many_calls_they_took_use_up_all_that_was_put_aside(at_once, capsys):
    rows = carry_out(lambda name, number: row_of(number, steps=None), jobs_of(*range(1, 9)), MARKS, at_once=at_once, max_calls=50)
    assert runs_of(rows) == [1, 2, 3] and "The budget of 50 calls allows no further run: 3 of 8 runs" in capsys.readouterr().out


class Dying(ThreadPoolExecutor):
    """Takes so many jobs and then no more, as a pool whose process has died."""

    def __init__(self, last, error):
        super().__init__(1)
        self.left, self.error = last, error

    def submit(self, *arguments):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return super().submit(*arguments)


@pytest.mark.parametrize("error", [RuntimeError("cannot schedule new futures after shutdown"), ConnectionError("the cluster is closed")])
def test_when_the_executor_takes_no_more_what_it_has_is_waited_for_and_told(tmp_path, capsys, error):
    path = tmp_path / "r.jsonl"
    with Dying(5, error) as executor:
        rows = carry_out(work, jobs_of(*range(1, 10)), MARKS, results=path, executor=executor, at_once=4)
    assert runs_of(rows) == runs_of(ResultsFile(path).rows(MARKS)) == [1, 2, 3, 4, 5]
    assert f"The executor takes no more runs. {type(error).__name__}: {error}: 5 of 9 runs are in the table. They are in" in capsys.readouterr().out
    assert runs_of(carry_out(work, jobs_of(*range(1, 10)), MARKS, results=path)) == list(range(1, 10))


def test_an_executor_that_takes_nothing_is_an_error():
    with Dying(0, RuntimeError("closed")) as executor, pytest.raises(ExecutorFailed, match="takes no more runs. RuntimeError: closed"):
        carry_out(work, jobs_of(1, 2), MARKS, executor=executor)


def test_an_executor_that_cannot_do_the_first_run_is_an_error_that_says_what_to_do():
    def refuses(name, number):
        raise AttributeError("Can't get attribute 'check'")
    with pytest.raises(RuntimeError, match="did not do the first run. AttributeError.*put them into a module"):
        carry_out(refuses, jobs_of(1, 2), MARKS)


def test_a_run_that_the_executor_lost_is_a_row_with_a_reason_and_is_done_next_time(tmp_path, capsys):
    path = tmp_path / "r.jsonl"

    def loses(name, number):
        if number in (2, 3):
            raise SystemExit("killed")
        return row_of(number)
    rows = carry_out(loses, jobs_of(1, 2, 3, 4), MARKS, results=path, at_once=1)
    lost = "The executor lost this run. SystemExit: killed"
    assert [row.get("reason") for row in as_rows(rows)] == [None, lost, lost, None]
    assert as_table(rows, ["a"])["stop_reason"].tolist() == ["completed", "error", "error", "completed"]
    assert runs_of(ResultsFile(path).rows(MARKS)) == [1, 4]
    assert "The executor lost 2 of these runs" in capsys.readouterr().out
    assert runs_of(row for row in carry_out(work, jobs_of(1, 2, 3, 4), MARKS, results=path) if row["stop_reason"] == "completed") == [1, 2, 3, 4]


def test_a_run_that_was_cancelled_from_outside_is_a_row_too():
    class Cancelling(ThreadPoolExecutor):
        def submit(self, work, *arguments):
            if arguments[1] != 3:
                return super().submit(work, *arguments)
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future
    with Cancelling(1) as executor:
        rows = carry_out(work, jobs_of(1, 2, 3, 4), MARKS, executor=executor, at_once=1)
    assert [row.get("reason") for row in as_rows(rows)] == [None, None, "The executor lost this run. CancelledError: It was cancelled.", None]


class Inline(Executor):
    """Does the work where it is asked for, and is interrupted there."""

    def __init__(self, interrupted_at):
        self.left = interrupted_at

    def submit(self, work, *arguments):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        future = Future()
        future.set_result(work(*arguments))
        return future


@pytest.mark.parametrize("at", [1, 2, 9, 14])
def test_an_executor_that_works_at_once_loses_nothing_by_an_interrupt(tmp_path, at):
    path = tmp_path / "r.jsonl"
    rows = carry_out(work, jobs_of(*range(1, 31)), MARKS, results=path, executor=Inline(at))
    assert runs_of(rows) == runs_of(ResultsFile(path).rows(MARKS)) == list(range(1, at))


def test_what_was_done_when_the_interrupt_came_is_kept(tmp_path):
    path, both = tmp_path / "r.jsonl", threading.Barrier(3)

    def together(name, number):
        both.wait(5)
        return row_of(number)

    class Interrupting(ThreadPoolExecutor):
        def submit(self, work, *arguments):
            if arguments[1] == 4:
                for future in futures:
                    future.result(5)
                raise KeyboardInterrupt
            futures.append(super().submit(work, *arguments))
            return futures[-1]
    futures = []
    with Interrupting(3) as executor:
        rows = carry_out(together, jobs_of(1, 2, 3, 4), MARKS, results=path, executor=executor)
    assert runs_of(rows) == runs_of(ResultsFile(path).rows(MARKS)) == [1, 2, 3]


def test_an_interrupt_keeps_what_is_done_and_begins_nothing_more(tmp_path, capsys):
    path, begun = tmp_path / "r.jsonl", []

    class Interrupted(ThreadPoolExecutor):
        def submit(self, work, *arguments):
            if arguments[1] == 6:
                raise KeyboardInterrupt
            return super().submit(work, *arguments)

    def noted(name, number):
        begun.append(number)
        return row_of(number)
    with Interrupted(1) as executor:
        rows = carry_out(noted, jobs_of(*range(1, 10)), MARKS, results=path, executor=executor, at_once=2)
    assert rows and runs_of(rows) == runs_of(ResultsFile(path).rows(MARKS)) and max(begun) <= 5
    go_on = f"They are in {path}, too: do the same again to go on from there."
    assert capsys.readouterr().out == f"Interrupted: {len(rows)} of 9 runs are in the table. {go_on}\n"
    assert runs_of(carry_out(work, jobs_of(*range(1, 10)), MARKS, results=path)) == list(range(1, 10))


# ---- a real process that is stopped ----

PROGRAM = """
import json, sys, threading, time
from pathlib import Path
from agent_steps.run_as_experiment import Condition, run_experiment

RUNS, WAIT, RESULTS, BEGUN = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4]
CONDITIONS = [Condition("usual"), Condition("faulty", options={"faults": {"malformed_call": 0.3}})]

def check(folder):
    with open(BEGUN, "a", encoding="utf-8") as file:
        file.write("x")
    time.sleep(WAIT)
    return {"success": False, "text": "é"}

table = run_experiment(CONDITIONS, "List the CSV files in this folder.", check=check, runs=RUNS, results=RESULTS)
returned = time.monotonic()
for thread in threading.enumerate():
    if thread.name.startswith("ThreadPool"):
        thread.join()
print("Still at work for", round(time.monotonic() - returned, 1))
print(table.drop(columns="seconds").to_json(orient="records"))
"""

SLEEPER = """
import json
from agent_steps.run_as_experiment import Condition, run_experiment

CALL = json.dumps({"name": "run_python_code", "arguments": {"code": "import time; open('began', 'w').close(); time.sleep(60)"}})
SLEEPER = Condition("sleeper", options={"script": [f"<tool_call>{CALL}</tool_call>"]})
table = run_experiment(SLEEPER, "Sleep.", check=lambda folder: False, runs=4, at_once=2)
print(table.to_json(orient="records"))
"""


class Session:
    """A process of its own that does an experiment. runs: for each of two conditions. wait: seconds that each check takes."""

    def __init__(self, folder, runs, wait, results="r.jsonl", program=PROGRAM):
        self.folder, self.results, self.begun = folder, folder / results, folder / f"begun {results}"
        (folder / "temporary").mkdir(exist_ok=True)
        (folder / "program.py").write_text(program, encoding="utf-8")
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": paths, "TMPDIR": str(folder / "temporary"), "PYTHONUTF8": "1"}
        command = [sys.executable, str(folder / "program.py"), str(runs), str(wait), str(self.results), str(self.begun)]
        self.child = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True)

    def lines(self):
        return self.results.read_bytes().count(b"\n") if self.results.exists() else 0

    def wait_for(self, lines):
        """Wait until so many runs are written down."""
        end = time.monotonic() + 60
        while self.lines() < lines:
            assert time.monotonic() < end and self.child.poll() is None, self.child.communicate()
            time.sleep(0.002)

    def end(self):
        """Wait for the end. Returns what it said, and the rows of its table."""
        said, errors = self.child.communicate(timeout=60)
        assert self.child.returncode == 0 and errors == "", errors
        *said, rows = said.splitlines()
        return said, json.loads(rows)

    def runs_begun(self):
        return self.begun.stat().st_size


@pytest.fixture
def session(tmp_path):
    """Begin a session. No process of it is left afterwards."""
    sessions = []

    def begin(*arguments, **more):
        sessions.append(Session(tmp_path, *arguments, **more))
        return sessions[-1]
    yield begin
    for each in sessions:
        if each.child.poll() is None:
            each.child.kill()
            each.child.communicate()
        if os.name != "nt":
            with pytest.raises(ProcessLookupError):   # its whole process group is gone
                os.killpg(each.child.pid, 0)


@POSIX
def test_an_experiment_whose_process_was_killed_goes_on_and_does_no_run_twice_but_those_in_flight(session):
    whole = session(100, 0.002, results="whole.jsonl")
    killed = session(100, 0.002)
    killed.wait_for(60)
    os.killpg(killed.child.pid, signal.SIGKILL)
    killed.child.communicate()
    kept = killed.lines()
    assert killed.child.returncode == -signal.SIGKILL and 60 <= kept < 200
    again = session(100, 0.002)
    said, rows = again.end()
    assert any(f"{kept} of 200 runs were in" in line for line in said)
    assert rows == whole.end()[1] and len(rows) == 200
    lines = [json.loads(line)["row"] for line in again.results.read_bytes().split(b"\n") if line.endswith(b"}")]
    assert len(lines) == len({(row["condition"], row["run"]) for row in lines}) == 200   # none was written twice
    assert 200 <= again.runs_begun() - 2 <= 200 + 16   # 8 at work and 8 not yet written down; and one look at the untouched folder each time


@POSIX
def test_an_interrupted_experiment_gives_what_is_done_stops_soon_and_goes_on_later(session):
    first = session(20, 0.2)
    first.wait_for(8)
    began = time.monotonic()
    first.child.send_signal(signal.SIGINT)
    said, rows = first.end()
    assert time.monotonic() - began < 4 and 7 <= len(rows) < 40   # one may be written down already and not yet counted
    go_on = f"They are in {first.results}, too: do the same again to go on from there."
    assert said[0] == f"Interrupted: {len(rows)} of 40 runs are in the table. {go_on}"
    assert float(said[1].rpartition(" ")[2]) < 2 and first.runs_begun() - 1 <= len(rows) + 16
    assert first.lines() - len(rows) in (0, 1) and list((first.folder / "temporary").glob("run_*")) == []
    said, rows = session(20, 0.2).end()
    assert len(rows) == 40 and {row["stop_reason"] for row in rows} <= {"completed", "no_tool_calls"} and first.lines() in (40, 41)   # a row whose writing was interrupted may stand twice


@POSIX
def test_an_interrupt_ends_the_code_that_a_run_has_begun(session):
    sleeping = session(4, 0, program=SLEEPER)
    end = time.monotonic() + 60
    while not list((sleeping.folder / "temporary").glob("run_*/*/began")):
        assert time.monotonic() < end and sleeping.child.poll() is None, sleeping.child.communicate()
        time.sleep(0.01)
    began = time.monotonic()
    sleeping.child.send_signal(signal.SIGINT)
    said, rows = sleeping.end()
    assert said == ["Interrupted: 0 of 4 runs are in the table."] and rows == []
    assert time.monotonic() - began < 10 and list((sleeping.folder / "temporary").glob("run_*")) == []


def test_two_processes_with_one_file_do_it_no_harm(session):
    both = [session(20, 0.001) for _ in range(2)]
    (_, first), (_, second) = (each.end() for each in both)
    assert first == second and len(first) == 40
    file = ResultsFile(both[0].results)
    assert file.cut == 0 and 40 <= len(file.lines) <= 80
    assert session(20, 0.001).end() == ([f"40 of 40 runs were in {both[0].results} already.", "Still at work for 0.0"], first)


# ---- the progress bar ----

PROGRESS = """
import time
from agent_steps.classroom.experiment.progress import progress_bar
with progress_bar(5, 2) as advance:
    for _ in range(3):
        time.sleep(0.12)
        advance()
print("done")
"""


def test_where_nobody_is_there_no_bar_is_shown():
    done = subprocess.run([sys.executable, "-c", PROGRESS], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.stdout, done.stderr) == ("done\n", "")


@POSIX
def test_in_a_terminal_the_bar_is_on_standard_error_and_nothing_of_it_is_left():
    import termios

    keyboard, screen = os.openpty()
    termios.tcsetwinsize(screen, (24, 80))
    child = subprocess.Popen([sys.executable, "-c", PROGRESS], cwd=ROOT, stdin=screen, stdout=subprocess.PIPE, stderr=screen, start_new_session=True)
    os.close(screen)
    shown = b""
    try:
        while piece := os.read(keyboard, 4096):
            shown += piece
    except OSError:   # Linux says in this way that nobody has the terminal open any more
        pass
    os.close(keyboard)
    assert child.communicate(timeout=60)[0] == b"done\n" and child.returncode == 0
    states = shown.decode().split("\r")
    assert any("2/5" in state for state in states) and any("4/5" in state and "run" in state for state in states)
    assert states[-1] == "" and states[-2].strip() == "" and "\n" not in shown.decode()


# ---- the table ----

def outcomes(**conditions):
    """A table of an experiment: for each condition the outcomes of its runs, 1, 0 or None."""
    rows = [row_of(number, name, success=None if value is None else bool(value), seed=number, steps=2 + number % 3,
                   completed=True, tool_calls=2, began_with="x", no_call=0)
            for name, values in conditions.items() for number, value in enumerate(values, start=1)]
    return as_table(rows, list(conditions))


def test_a_table_is_sorted_by_condition_as_given_and_unknown_is_missing():
    table = as_table([row_of(2, "b"), row_of(10, "a", more=1), row_of(9, "a")], ["b", "a"])
    assert list(zip(table["condition"], table["run"])) == [("b", 2), ("a", 9), ("a", 10)]
    assert table["input_tokens"].isna().all() and list(table.columns)[-1] == "more"


# ---- statistics ----

def test_the_interval_of_eight_of_ten_is_wilsons():
    low, high, note = interval(8, 10)
    assert (round(low, 3), round(high, 3), note) == (0.490, 0.943, "")
    assert interval(0, 10)[0] == 0 and interval(10, 10)[1] == pytest.approx(1)


def test_where_there_is_no_run_or_all_are_equal_there_is_no_interval_but_a_note():
    for arguments, note in [((0, 0), "no run."), ((5, 5, False), "all runs are equal: no interval.")]:
        low, high, said = interval(*arguments)
        assert math.isnan(low) and math.isnan(high) and said == note


def test_the_table_of_success_has_one_line_a_condition():
    table = success_table(outcomes(b=[1] * 8 + [0] * 2, a=[1, 0, 0, 1, 1]))
    assert list(table.index) == ["b", "a"]
    line = table.loc["b"]
    assert line[["runs", "completed", "succeeded", "rate", "note"]].tolist() == [10, 10, 8, 0.8, ""]
    assert (round(line["low"], 3), round(line["high"], 3)) == (0.490, 0.943)
    assert line["mean steps"] == 3.0 and line["mean no_call"] == 0


def test_unknown_outcomes_are_left_out_and_told():
    table = success_table(outcomes(some=[1, None, 0, None], none=[None, None]))
    assert table.loc["some", ["runs", "succeeded", "rate", "note"]].tolist() == [2, 1, 0.5, "Left out, for want of an outcome: 2."]
    assert table.loc["none", "runs"] == 0 and math.isnan(table.loc["none", "rate"]) and "outcome: 2" in table.loc["none", "note"]


def equal_runs(provider="practice", seeds=False):
    table = outcomes(same=[1] * 6)
    table["steps"], table["provider"] = 2, provider
    return table if seeds else table.assign(seed=None)


def test_runs_in_which_nothing_is_drawn_have_no_interval():
    line = success_table(equal_runs()).loc["same"]
    assert line["note"] == "all runs are equal: no interval." and math.isnan(line["low"])


@pytest.mark.parametrize("table", [equal_runs(seeds=True), equal_runs("ollama"), equal_runs().drop(columns="provider")], ids=["drawn", "real", "unknown"])
def test_equal_runs_in_which_chance_takes_part_have_an_interval(table):
    line = success_table(table).loc["same"]
    assert line["note"] == "" and line["low"] < 1 and line["high"] == 1


def test_equal_runs_have_no_interval_even_if_the_service_broke_down_in_another():
    table = equal_runs()
    table.loc[5, ["success", "steps"]] = pandas.NA
    assert success_table(table).loc["same", "note"] == "all runs are equal: no interval. Left out, for want of an outcome: 1."


def test_two_tables_under_each_other_are_counted_rightly_and_those_of_other_seeds_are_independent():
    first, second = outcomes(a=[1] * 10, b=[0] * 10), outcomes(a=[1] * 10, b=[1] * 10)
    pooled = pandas.concat([first, second.assign(seed=second["seed"] + 1000)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert success_table(pooled)[["runs", "completed"]].to_numpy().tolist() == [[20, 20], [20, 20]]
        assert compare(pooled, "a", "b").loc["success", "pairs"] == 20


def test_a_condition_in_which_nothing_is_drawn_is_compared_with_one_in_which_it_is():
    table = outcomes(sure=[1] * 6, lucky=[1, 0, 1, 1, 0, 1])
    table.loc[table["condition"] == "sure", "seed"] = pandas.NA
    assert compare(table, "sure", "lucky").loc["success", ["pairs", "first higher"]].tolist() == [6, 2]


def test_conditions_may_be_called_like_the_columns_of_a_comparison():
    line = compare(outcomes(low=[1, 1, 0, 0], high=[1, 1, 1, 0]), "low", "high").loc["success"]
    assert (line["mean low"], line["mean high"], line["difference"]) == (0.5, 0.75, 0.25) and line["low"] == 0


@pytest.mark.parametrize("first, second, sign", [(0, 1, 1), (1, 0, -1)])
def test_if_every_pair_differs_the_interval_says_how_many_others_may_be_hidden(first, second, sign):
    line = compare(outcomes(a=[first] * 20, b=[second] * 20), "a", "b").loc["success"]
    assert sorted([sign * line["low"], sign * line["high"]]) == pytest.approx([2 * interval(20, 20)[0] - 1, 1]) and line["p"] < 1e-4


@pytest.mark.parametrize("rates", [(0, 1), (0.001, 1)])
def test_a_difference_that_cannot_be_overlooked_needs_two_runs_at_least(rates):
    assert 2 <= runs_needed(*rates) < 10


@pytest.mark.parametrize("power", [0, 0.05, 1, 1.5])
def test_a_power_that_makes_no_sense_is_refused(power):
    with pytest.raises(ValueError, match="power"):
        runs_needed(0.8, 0.9, power)


def test_the_ends_of_an_interval_lie_from_0_to_1():
    assert interval(0, 100)[0] == 0 and interval(100, 100)[1] == 1


def test_a_comparison_takes_one_measure_as_a_text_and_refuses_an_unknown_one():
    table = outcomes(a=[0, 1, 1], b=[1, 1, 1])
    assert list(compare(table, "a", "b", "success").index) == ["success"]
    with pytest.raises(ValueError, match="no column 'price'"):
        compare(table, "a", "b", ["price"])


@pytest.mark.parametrize("seed", range(12))
def test_the_comparison_of_success_is_mcnemars_exact_test(seed):
    from statsmodels.stats.contingency_tables import mcnemar

    draw = random.Random(seed)
    size, rates = draw.randint(5, 60), (draw.random(), draw.random())
    first, second = ([int(draw.random() < rate) for _ in range(size)] for rate in rates)
    line = compare(outcomes(first=first, second=second), "first", "second").loc["success"]
    counts = [[sum((a, b) == (i, j) for a, b in zip(first, second)) for j in (1, 0)] for i in (1, 0)]
    assert (line["first higher"], line["second higher"], line["pairs"]) == (counts[0][1], counts[1][0], size)
    if counts[0][1] + counts[1][0]:
        assert line["p"] == pytest.approx(mcnemar(counts, exact=True).pvalue)
    assert line["difference"] == pytest.approx(sum(second) / size - sum(first) / size)


def test_a_comparison_is_in_pairs_by_run_and_repeats_exactly():
    table = outcomes(a=[0] * 10 + [1] * 10, b=[1] * 20)
    shuffled = table.sample(frac=1, random_state=1)
    first, again = compare(table, "a", "b"), compare(shuffled, "a", "b")
    pandas.testing.assert_frame_equal(first, again)
    line = first.loc["success"]
    assert line["low"] < line["difference"] == 0.5 < line["high"] and line["p"] == pytest.approx(2 / 2**10)
    assert first.loc["steps", ["difference", "first higher"]].tolist() == [0, 0] and math.isnan(first.loc["steps", "low"])
    assert compare(table, "b", "a").loc["success", "difference"] == -0.5


def test_an_interval_repeats_to_the_last_digit():
    draw = random.Random(0)
    table = outcomes(a=[1] * 30, b=[1] * 30)
    table["size"] = [draw.random() for _ in range(60)]
    lines = [compare(table, "a", "b", measures=["size"]).loc["size"] for _ in range(2)]
    assert (lines[0]["low"], lines[0]["high"]) == (lines[1]["low"], lines[1]["high"]) and lines[0]["low"] < lines[0]["high"]


def test_only_whole_pairs_are_compared():
    line = compare(outcomes(a=[1, None, 0, 1], b=[1, 1, None]), "a", "b").loc["success"]
    assert line["pairs"] == 1 and math.isnan(line["p"])
    assert compare(outcomes(a=[None], b=[1]), "a", "b").loc["success", "pairs"] == 0


def test_a_condition_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no condition 'c' in the table. There are: a, b."):
        compare(outcomes(a=[1], b=[1]), "a", "c")


def test_a_condition_is_not_compared_with_itself():
    with pytest.raises(ValueError, match="Name two different conditions."):
        compare(outcomes(a=[1, 0], b=[1, 1]), "a", "a")


def test_the_runs_that_show_a_difference_are_counted_as_statsmodels_does():
    assert runs_needed(0.8, 0.9) == runs_needed(0.9, 0.8) == 195
    assert runs_needed(0.8, 0.9, power=0.9) > 195 > runs_needed(0.5, 0.9) > 1
    for rates in [(0.8, 0.8), (-0.1, 0.5), (0.5, 1.1)]:
        with pytest.raises(ValueError, match="two different rates from 0 to 1"):
            runs_needed(*rates)


def doubled(table):
    return pandas.concat([table, table.head(3)])


DEPENDENT = {
    "doubled rows": (doubled, "a: run 1 is there more than once. Two copies of a row are one run."),
    "one seed": (lambda table: table.assign(seed=7), "a: several runs have the same seed, so they draw the same faults."),
    "a used folder": (lambda table: table.assign(began_with=list("12345678")), "a: the runs did not begin with the same files"),
}


@pytest.mark.parametrize("spoil, why", DEPENDENT.values(), ids=DEPENDENT)
@pytest.mark.parametrize("ask", [success_table, lambda table: compare(table, "a", "b")], ids=["success_table", "compare"])
def test_a_table_whose_runs_depend_on_each_other_is_warned_about(spoil, why, ask):
    with pytest.warns(DependentRuns) as caught:
        ask(spoil(outcomes(a=[1, 0, 1, 1], b=[1, 1, 1, 0])))
    assert any(why in str(each.message) for each in caught) and caught[0].filename == __file__


def test_a_clean_table_is_not_warned_about():
    table = outcomes(a=[1, 0, 1, 1], b=[1, 1, 1, 0])
    table.loc[table["condition"] == "b", "began_with"] = "other files"
    unseeded = table.assign(seed=pandas.array([None] * len(table), dtype="Int64"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (table, unseeded, table.drop(columns=["seed", "began_with"])):
            success_table(each)
            compare(each, "a", "b")


# ---- grading ----

RUBRIC = [Item("file", (0, 1), lambda folder: int((folder / "a").exists())), Item("lines", (0, 0.5, 2), lambda folder: 0.5),
          Item("style", (0, 1)), Item("extra", (0, 3), lambda folder: 3, bonus=True)]


def test_a_grade_has_the_levels_the_score_in_percent_and_the_bonus_apart(tmp_path):
    assert grade(RUBRIC, tmp_path) == {"file": 0, "lines": 0.5, "extra": 3, "score": 16.7, "bonus": 3}
    (tmp_path / "a").touch()
    assert grade(RUBRIC, tmp_path)["score"] == 50.0
    assert grade([RUBRIC[2]], tmp_path) == {"score": None, "bonus": 0}


@pytest.mark.parametrize("level", [2, -1, None, "1"])
def test_a_level_that_an_item_does_not_have_is_refused(tmp_path, level):
    with pytest.raises(ValueError, match="file gave the level .*. Its levels are 0, 1."):
        grade([Item("file", (0, 1), lambda folder: level)], tmp_path)


def graded(texts=("one", "two", "one", None, "three"), item=Item("style", (0, 0.5, 1)), **more):
    conditions = [f"secret {number}" for number in range(len(texts))]
    return grade_by_hand(pandas.DataFrame({"condition": conditions, "summary": pandas.array(list(texts), dtype="string")}), item, "summary", **more)


def test_a_person_is_asked_about_each_text_once_and_never_sees_the_condition(monkeypatch, capsys):
    left = types(monkeypatch, "1", "0.5", " 0 ", "not needed")
    table = graded()
    said = capsys.readouterr().out
    order = [line for line in said.splitlines() if line in ("one", "two", "three")]
    given = dict(zip(order, (1, 0.5, 0)))
    assert sorted(order) == ["one", "three", "two"] and left == ["not needed"] and "secret" not in said and "----- 3 of 3 -----" in said
    assert table["style"].dropna().tolist() == [given["one"], given["two"], given["one"], given["three"]]
    assert str(table["style"].dtype) == "Float64" and table["style"].isna().tolist() == [False, False, False, True, False]


def test_an_interrupt_keeps_the_levels_that_were_given(monkeypatch):
    answers = iter(["1"])

    def stop(prompt=""):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None
    monkeypatch.setattr("builtins.input", stop)
    assert graded()["style"].count() in (1, 2)


def test_two_items_of_the_same_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is called 'file'"):
        grade([RUBRIC[0], RUBRIC[0]], tmp_path)


def test_the_order_is_drawn_and_repeats(monkeypatch, capsys):
    orders = []
    for seed in (0, 0, 1, 2, 3):
        types(monkeypatch, *"11111111")
        graded(texts="abcdefgh", seed=seed)
        orders.append([line for line in capsys.readouterr().out.splitlines() if len(line) == 1 and line.isalpha()])
    assert orders[0] == orders[1] and all(sorted(order) == list("abcdefgh") for order in orders) and len(set(map(tuple, orders))) > 2


def test_what_is_no_level_is_asked_again_and_q_leaves_the_rest_missing(monkeypatch, capsys):
    types(monkeypatch, "2", "", "yes", "1", "Q")
    table = graded()
    assert capsys.readouterr().out.count("Please type one of these levels.") == 3
    assert table["style"].count() in (1, 2) and set(table["style"].dropna()) == {1}


@pytest.mark.parametrize("answers", [[], ["no"] * 50], ids=["nobody", "nothing clear"])
def test_grading_by_hand_ends_where_no_clear_answer_comes(monkeypatch, answers):
    types(monkeypatch, *answers)
    assert graded()["style"].isna().all()


# ---- what an import loads ----

def test_the_lesson_and_what_surrounds_it_load_nothing_large():
    folder = ROOT / "agent_steps" / "classroom" / "experiment"
    modules = ", ".join(f"agent_steps.classroom.experiment.{path.stem}" for path in folder.glob("[!_]*.py"))
    large = {"pandas", "numpy", "scipy", "statsmodels", "tqdm", "matplotlib", "openai", "anthropic", "httpx2", "IPython", "dask", "distributed"}
    code = f"import sys, agent_steps.run_as_experiment, {modules}; print(*({large} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.stdout, done.stderr) == ("\n", "")

"""An experiment on whatever executor there is: threads of one's own, processes, a Dask cluster. Its table is the same everywhere."""
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas
import pytest
from scripted import call_text, done

from agent_steps.run_as_experiment import Condition, run_experiment

DATA = Path(__file__).parents[1] / "data"
TASK = "List the CSV files in this folder."
CONDITIONS = [Condition("usual"), Condition("faulty", options={"faults": {"malformed_call": 0.3, "missing_usage": 0.1}})]
KILLS = "kills.txt"


def found(folder):
    """A check that another process can import. Where the agent wrote kills.txt, the first process that reads it dies."""
    kills = folder / KILLS
    if kills.exists() and not (once := Path(kills.read_text(encoding="utf-8"))).exists():
        end = time.monotonic() + 30
        while lines_of(once.with_name("r.jsonl")) < 2 and time.monotonic() < end:   # others come back first
            time.sleep(0.01)
        once.touch()
        os._exit(1)
    return {"success": kills.exists(), "data": len(list(folder.rglob("*.csv"))), "text": "é 中"}


def lines_of(results):
    return results.read_bytes().count(b"\n") if results.exists() else 0


def deadly(once):
    """A condition under which a process dies, once: when two rows are in the file of results, which lies beside `once`."""
    return Condition("deadly", options={"script": [call_text("write_file", path=KILLS, content=str(once)), done()]})


def experiment(conditions=CONDITIONS, runs=10, **more):
    return run_experiment(conditions, TASK, check=found, files=DATA, runs=runs, **more)


def assert_same(first, second):
    pandas.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))


@contextmanager
def two_processes():
    """A pool of two processes that begin from nothing. None of them is left."""
    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    before = set(multiprocessing.active_children())
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
    assert set(multiprocessing.active_children()) <= before


@pytest.fixture(scope="module")
def plain():
    """The table of threads."""
    return experiment()


@pytest.fixture(scope="module")
def cluster():
    """A Dask client with two processes of one thread each, on this machine. None of them is left."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install -r requirements-scale.txt")
    import psutil   # which distributed brings

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1") as local:
        with distributed.Client(local) as client:
            pids = set(client.run(os.getpid).values())
            assert len(pids - {os.getpid()}) == 2
            yield client
            pids |= set(client.run(os.getpid).values())
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


# ---- threads, processes ----

def test_an_executor_of_ones_own_gives_the_same_table_and_stays_open(plain):
    with ThreadPoolExecutor(3) as threads:
        assert_same(experiment(executor=threads), plain)
        assert_same(experiment(executor=threads, at_once=1), plain)
        assert threads.submit(len, "abc").result() == 3


def test_two_processes_give_the_same_table(plain, tmp_path):
    with two_processes() as pool:
        assert_same(experiment(executor=pool, results=tmp_path / "r.jsonl"), plain)
    assert_same(experiment(results=tmp_path / "r.jsonl"), plain)


def test_the_runs_are_done_in_the_processes():
    with two_processes() as pool:
        table = run_experiment(CONDITIONS[0], TASK, check=by_whom, runs=12, executor=pool, at_once=2)
    assert os.getpid() not in set(table["pid"]) and table["pid"].nunique() <= 2


def by_whom(folder):
    return {"success": False, "pid": os.getpid()}


def test_a_check_that_another_process_cannot_import_is_an_error_that_says_what_to_do():
    with two_processes() as pool, pytest.raises(RuntimeError, match="The runs cannot be sent to another process. .*put them into a module"):
        run_experiment(CONDITIONS, TASK, check=lambda folder: False, runs=2, executor=pool)


def test_when_a_process_is_killed_what_is_done_is_kept_and_the_rest_is_done_next_time(tmp_path, capsys):
    conditions, results = [*CONDITIONS, deadly(tmp_path / "once")], tmp_path / "r.jsonl"
    with two_processes() as pool:
        table = experiment(conditions, runs=5, executor=pool, results=results, at_once=2)
    lost = table[table["stop_reason"] == "error"]
    assert len(table) < 15 and 0 < len(lost) <= 4 and lost["reason"].str.startswith("The executor lost this run. BrokenProcessPool").all()
    kept = len(table) - len(lost)
    assert kept >= 2 and lines_of(results) == kept
    said = capsys.readouterr().out
    assert "The executor takes no more runs. BrokenProcessPool: " in said and f"{len(table)} of 15 runs are in the table" in said
    with two_processes() as pool:
        again = experiment(conditions, runs=5, executor=pool, results=results, at_once=2)
    assert f"{kept} of 15 runs were in" in capsys.readouterr().out
    assert_same(again, experiment(conditions, runs=5))
    assert lines_of(results) == 15


def test_an_executor_that_is_closed_is_told():
    with ThreadPoolExecutor(1) as threads:
        pass
    with pytest.raises(RuntimeError, match="The executor takes no more runs"):
        experiment(executor=threads)


# ---- Dask ----

def test_a_cluster_gives_the_same_table(cluster, plain, tmp_path):
    executor = cluster.get_executor(pure=False)
    assert_same(experiment(executor=executor, results=tmp_path / "r.jsonl"), plain)
    assert_same(experiment(results=tmp_path / "r.jsonl"), plain)


def test_a_cluster_does_a_check_that_stands_beside_the_call(cluster):
    executor = cluster.get_executor(pure=False)
    table = run_experiment(CONDITIONS[0], TASK, check=lambda folder: {"success": False, "pid": os.getpid()}, runs=10, executor=executor)
    assert os.getpid() not in set(table["pid"]) and table["pid"].nunique() == 2


def test_a_cluster_keeps_to_the_budget(cluster, capsys):
    table = experiment(executor=cluster.get_executor(pure=False), max_calls=40)
    assert_same(table, experiment(max_calls=40))
    assert table["calls"].sum() <= 40 and capsys.readouterr().out.count("The budget of 40 calls") == 2


def test_a_cluster_replaces_a_process_that_is_killed(cluster, tmp_path):
    conditions = [*CONDITIONS, deadly(tmp_path / "once")]
    table = experiment(conditions, runs=3, executor=cluster.get_executor(pure=False), results=tmp_path / "r.jsonl")
    assert_same(table, experiment(conditions, runs=3))
    assert (tmp_path / "once").exists()


def test_when_a_cluster_is_closed_in_the_middle_what_is_done_is_kept(cluster, tmp_path, capsys):
    results = tmp_path / "r.jsonl"
    executor = Closing(cluster.get_executor(pure=False), 7)
    table = experiment(executor=executor, results=results, at_once=2)
    assert len(table) == 7 and "The executor takes no more runs" in capsys.readouterr().out
    assert_same(experiment(results=results), experiment())


class Closing(ThreadPoolExecutor):
    """The executor of a cluster, which is closed after some runs."""

    def __init__(self, executor, last):
        super().__init__(1)
        self.executor, self.left = executor, last

    def submit(self, *arguments):
        if self.left == 0:
            self.executor.shutdown()
        self.left -= 1
        return self.executor.submit(*arguments)

"""Carry out an experiment: skip what is done, do the rest, write each row down, and lose nothing when it is stopped."""
import contextlib
import pickle
import threading
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor, ThreadPoolExecutor

from agent_steps.classroom.experiment.in_flight import Budget, ExecutorFailed, Job, in_flight
from agent_steps.classroom.experiment.progress import progress_bar
from agent_steps.classroom.experiment.results_file import ResultsFile, as_kept
from agent_steps.wall.child import STOP_SIGNAL, go_on

HOW_TO_SEND = "(Another process must be able to import the check and the conditions: put them into a module.)"


def stoppable(approve):
    """Return an approve that ends the run, with a KeyboardInterrupt, once the experiment was interrupted."""
    def answer(call):
        go_on()
        return approve(call)
    return answer


def carry_out(work, jobs: list[Job], marks: dict[str, str], *, results=None, executor: Executor | None = None,
              at_once: int = 8, max_calls: int | None = None) -> list[dict]:
    """Do the jobs that are not yet in the file of results. Return the rows of all, old and new, in no order.

    work: from a job's arguments to its row. marks: from a condition's name to the mark of its rows in the file.
    results, executor, at_once, max_calls: as for run_experiment.
    What stops it is told in a sentence (an interrupt, a used-up budget, a full disk), and what was done until then is returned.
    Raises RuntimeError if the executor fails at the first job, and ValueError if the file holds something else.
    """
    ledger = Ledger(ResultsFile(results), jobs, marks)
    left = [job for job in jobs if (job.name, job.run) not in ledger.done]
    if isinstance(executor, ProcessPoolExecutor):
        check_sending(work, left)
    ledger.tell_beginning()
    budget, waiting = Budget(max_calls), {}
    try:
        with progress_bar(len(jobs), len(ledger.done)) as advance, at_work(work, left, executor, at_once, budget, waiting) as arriving:
            for job, future in arriving:
                row = ledger.keep(job, future)
                budget.settle(job.most_calls, row.get("steps"))   # a step is a call, whether an answer came or not
                advance()
        end = "Not all runs came back" if max_calls is None else f"The budget of {max_calls} calls allows no further run"
    except KeyboardInterrupt:
        end = "Interrupted"
    except OSError as error:
        end = f"The results could not be written down ({error.strerror})"
    except ExecutorFailed as failure:
        if not ledger.rows:
            raise
        end = str(failure)
    ledger.close(waiting)
    ledger.tell_end(end)
    return list(ledger.rows.values())


class Ledger:
    """The rows of an experiment, in memory and in the file of results.

    rows: by condition and run. done: those that need not be done again: an error is tried again.
    """

    def __init__(self, file: ResultsFile, jobs: list[Job], marks: dict[str, str]):
        self.file, self.marks, self.wanted = file, marks, {(job.name, job.run) for job in jobs}
        self.rows = {key: row for row in file.rows(marks) if (key := (row["condition"], row["run"])) in self.wanted}
        self.done = {key for key, row in self.rows.items() if row["stop_reason"] != "error"}
        self.new, self.lost = {}, 0

    def keep(self, job: Job, future) -> dict:
        """Take the row of a job and write it down. What the executor lost is not written: it is done again next time."""
        row, came_back = row_of(job, future, any_yet=bool(self.rows))
        self.rows[job.name, job.run] = row
        self.lost += not came_back
        if came_back:
            self.new[job.name, job.run] = row
            self.file.append(self.marks[job.name], row)
        return row

    def close(self, waiting: dict) -> None:
        """Keep what was done and not yet taken when something stopped the experiment, and write down what is not yet."""
        for future, job in waiting.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.rows[job.name, job.run] = self.new[job.name, job.run] = as_kept(future.result())
        with contextlib.suppress(OSError):   # then the disk takes nothing more
            for key, row in self.new.items():
                if key not in self.file.kept:
                    self.file.append(self.marks[key[0]], row)

    def tell_beginning(self) -> None:
        """Say what was found in the file of results."""
        if self.file.cut:
            print(f"In {self.file.path} a line is cut off and does not count. Its run is done again.")
        if self.done:
            print(f"{len(self.done)} of {len(self.wanted)} runs were in {self.file.path} already.")

    def tell_end(self, end: str) -> None:
        """Say what is missing, and how to go on."""
        if self.lost:
            print(f"The executor lost {self.lost} of these runs; their rows say why. To do them again, do the same again.")
        if len(self.rows) < len(self.wanted):
            print(f"{end}: {len(self.rows)} of {len(self.wanted)} runs are in the table.{self.file.how_to_go_on()}")


@contextlib.contextmanager
def at_work(work, jobs, executor, at_once, budget, waiting):
    """Give what `in_flight` yields: with the caller's executor, or with threads of our own, which an interrupt ends."""
    if executor is not None:
        with contextlib.closing(in_flight(work, jobs, executor, at_once, budget, waiting)) as arriving:
            yield arriving
        return
    stopped = threading.Event()
    threads = ThreadPoolExecutor(at_once, initializer=STOP_SIGNAL.set, initargs=(stopped,))
    try:
        with contextlib.closing(in_flight(work, jobs, threads, at_once, budget, waiting)) as arriving:
            yield arriving
    finally:
        stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)


def row_of(job: Job, future, any_yet: bool) -> tuple[dict, bool]:
    """Return the row of a job, and whether it came back. A run that the executor lost has a row that says so.

    any_yet: whether any run came back before. If not, the executor cannot do the work at all: raises RuntimeError.
    """
    error = CancelledError("It was cancelled.") if future.cancelled() else future.exception()
    if error is None:
        return as_kept(future.result()), True
    reason = f"{type(error).__name__}: {error}"
    if not any_yet:
        raise RuntimeError(f"The executor did not do the first run. {reason} {HOW_TO_SEND}") from error
    return {"condition": job.name, "run": job.run, "stop_reason": "error", "reason": f"The executor lost this run. {reason}"}, False


def check_sending(work, jobs: list[Job]) -> None:
    """Raises RuntimeError for jobs that cannot be sent to another process. A pool that finds it out by itself may hang when it is closed."""
    try:
        pickle.dumps((work, [job.arguments for job in jobs]))
    except Exception as error:   # of many types, as it depends on what is in the way
        raise RuntimeError(f"The runs cannot be sent to another process. {type(error).__name__}: {error} {HOW_TO_SEND}") from error

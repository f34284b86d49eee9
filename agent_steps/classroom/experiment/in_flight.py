"""Hand jobs to an executor, so many at once and no more, until all are done or the budget is used up.

The executor (threads, processes, or a cluster's) decides who does a job; here it is only decided when the next one begins.
"""
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass


class ExecutorFailed(RuntimeError):
    """The executor takes no more jobs: it is closed, or its processes have died."""


@dataclass(frozen=True)
class Job:
    """One run to be done.

    name: of its condition. run: its number. arguments: what the work is given. most_calls: how many calls of a model it may make.
    """

    name: str
    run: int
    arguments: tuple
    most_calls: int


class Budget:
    """So many calls of a model, for all jobs together. A job begins only if the most that it may use is left.

    calls: the limit; None for no limit. used: calls that were made.
    """

    def __init__(self, calls: int | None = None):
        self.calls, self.used, self.reserved = calls, 0, 0

    def reserve(self, calls: int) -> bool:
        """Put calls aside. Returns False if there are not so many."""
        if self.calls is not None and self.used + self.reserved + calls > self.calls:
            return False
        self.reserved += calls
        return True

    def settle(self, reserved: int, used: int | None) -> None:
        """Give back what a job did not use. used: None if that is unknown; then all of it counts as used."""
        self.reserved -= reserved
        self.used += reserved if used is None else used


def in_flight(work, jobs: Iterable[Job], executor: Executor, at_once: int, budget: Budget,
              waiting: dict[Future, Job]) -> Iterator[tuple[Job, Future]]:
    """Yield each job with its future as soon as it is done. Jobs begin in their order.

    Of the unfinished ones that the executor has at any time, `at_once` can be at work and as many wait, so that nobody is idle
    between two. It never has all of them: a million jobs would fill the memory.
    It ends early where the budget does not allow the next job, whatever the others give back. Closing it cancels what has
    not begun. The caller settles the budget for each job. waiting: what was handed over and not yielded yet; the caller's dict,
    so that nothing done is lost where it is closed. Raises ExecutorFailed if the executor takes no more.
    """
    jobs = iter(jobs)
    job = next(jobs, None)
    try:
        while job or waiting:
            while job and len(waiting) < 2 * at_once and budget.reserve(job.most_calls):
                try:
                    waiting[submit(executor, work, job)] = job
                except ExecutorFailed:
                    if not waiting:
                        raise
                    budget.settle(job.most_calls, 0)
                    break   # what is at work is waited for first
                job = next(jobs, None)
                if any(future.done() for future in waiting):   # what is done is yielded first
                    break
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def submit(executor: Executor, work, job: Job) -> Future:
    """Hand a job to the executor. Raises ExecutorFailed if it takes none."""
    try:
        return executor.submit(work, *job.arguments)
    except Exception as error:   # each kind of executor has its own
        raise ExecutorFailed(f"The executor takes no more runs. {type(error).__name__}: {error}") from error

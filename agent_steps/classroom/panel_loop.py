"""How a cell waits for a run and shows it meanwhile: in short sleeps, in each of which the kernel may take a click.

A cell that simply waited would never get one. The worker's thread touches no widget.
"""
import asyncio
import time
from typing import NamedTuple

from IPython.display import clear_output, display

from agent_steps import CourseError
from agent_steps.classroom.asking import is_rehearsed, next_rehearsed_line
from agent_steps.classroom.panel import is_old_kernel
from agent_steps.classroom.panel_widgets import ApprovalPanel
from agent_steps.classroom.question_console import chosen


class Pace(NamedTuple):
    """Seconds: of one sleep, that a stage stays lit at least, that a question is shown before an answer counts.

    typed: that a click waits for what was typed before it.
    """

    sleep: float
    stage: float
    answer: float
    typed: float = 0.2


LIVE = Pace(sleep=0.05, stage=0.3, answer=0.5)
REHEARSED = Pace(sleep=0.005, stage=0, answer=0, typed=0)


async def show_until_the_end(worker):
    """Show a panel, and in it what the worker does, until the worker is done; then leave a record in its place.

    A saved notebook holds no widgets, so a panel that stayed would be an empty place the next day.
    """
    pace = REHEARSED if is_rehearsed() else LIVE
    panel = ApprovalPanel(worker.answers.put, pace.answer, worker.policy.folder if worker.policy else ".", pace.typed)
    place = display(panel.box, display_id=True) if pace is LIVE else None
    worker.start()
    try:
        await follow(worker, panel, pace)
    except asyncio.CancelledError:
        panel.ending = "It was interrupted."
        raise CourseError("Interrupted: no further call is run. A tool that had begun may still finish its work.") from None
    finally:
        if worker.is_alive():
            worker.stop()
        worker.hand_back()
        leave_record(worker, panel, place)


def leave_record(worker, panel, place):
    """Put the record of what was decided in the place of the panel."""
    while not worker.events.empty():   # an interrupt may leave some
        panel.show(worker.events.get())
    if worker.error and not worker.stopped.is_set():
        panel.ending = "It ended in an error."
    if place is None:
        display(panel.record())
    elif is_old_kernel():   # with the front ends that it goes with, a panel cannot be replaced, only the whole output
        clear_output(wait=True)
        display(panel.record())
    else:
        place.update(panel.record())
    panel.close()


async def follow(worker, panel, pace):
    """Show one event after the other until the worker has ended."""
    next_change = 0
    async for _ in sleeps(pace.sleep):
        panel.do_what_is_due()
        is_over = not worker.is_alive()   # looked at first: it may leave events behind
        if worker.events.empty():
            if is_over:
                return
        elif time.monotonic() >= next_change:
            show(worker.events.get(), panel, pace)
            next_change = time.monotonic() + pace.stage


def show(event, panel, pace):
    """Show one event; in a rehearsal, press a button when there is a question, and send the form that the model asks with."""
    panel.show(event)
    if event.stage == "APPROVE" and pace is REHEARSED:
        panel.press(next_rehearsed_line() or "n")
    elif event.stage == "ASK" and pace is REHEARSED:
        panel.forms[-1].fill(rehearsed_answers(event.questions))
        panel.forms[-1].press()


def rehearsed_answers(questions):
    """Read a rehearsed line for each question, as if it were typed at the prompt. Without a line, a question is left open."""
    lines = [(question, (next_rehearsed_line() or "").strip()) for question in questions]
    return {question["question"]: chosen(line, question) for question, line in lines if line}


async def sleeps(seconds):
    """Sleep again and again. A kernel takes clicks in the sleeps of a cell from version 7 on; an older one is made to."""
    if not is_old_kernel():
        while True:
            await asyncio.sleep(seconds)
            yield
    from jupyter_ui_poll import ui_events   # needed, and installed, with old kernels only

    async with ui_events() as take_clicks:
        while True:
            await take_clicks(10)
            await asyncio.sleep(seconds)
            yield

"""Approve calls with buttons, and answer the model's questions in a form: ``run = await in_panel(run_agent, chat, task)``.

The loop stays what it is and runs in a thread; see ``worker``. The cell waits for it in short sleeps; see ``panel_loop``.
"""
import inspect
import sys
from functools import partial
from importlib.util import find_spec

from agent_steps.classroom.asking import ask_approval, is_rehearsed, somebody_is_there
from agent_steps.classroom.worker import Worker


def in_panel(function, chat_or_model, *arguments, policy=None, **options):
    """Call a function that asks for approval, such as ``run_agent``, with a panel of buttons: ``await in_panel(...)``.

    function: anything that takes a Chat or a model first, and ``approve=``. arguments, options: what else it is given.
    A tool that asks the person, such as `ask_user` of lesson 21, asks in the panel too.
    policy: rules that answer for the person (lesson 12), only what they leave open is asked; its folder is where paths begin.
    Awaited, it returns what the function returns. Where there can be no buttons, a sentence says why, and the function
    asks at the prompt. Raises CourseError if the cell is interrupted: then no further call is run.
    Raises ValueError or TypeError if the function cannot be called in this way.
    """
    signature = inspect.signature(function)
    if "approve" not in signature.parameters or "approve" in options:
        raise ValueError("in_panel is the one that asks: give it a function that takes approve=, and leave approve= out.")
    if not hasattr(chat_or_model, "reply") and not hasattr(chat_or_model, "messages"):
        raise ValueError(f"After the function comes a Chat or a model, not {chat_or_model!r}: in_panel(run_agent, chat, task).")
    signature.bind(chat_or_model, *arguments, approve=None, **options)   # says now what is missing, and not when the panel is there
    return PanelRun(function, chat_or_model, arguments, options, {"quiet": True} if "quiet" in signature.parameters else {}, policy)


class PanelRun:
    """What in_panel gives back: it begins when it is awaited."""

    def __init__(self, function, chat_or_model, arguments, options, silence, policy):
        self.function, self.chat_or_model, self.arguments, self.options, self.silence = function, chat_or_model, arguments, options, silence
        self.policy = policy

    def __repr__(self):
        return "Nothing has run yet. Write await before it: run = await in_panel(...)"

    def __await__(self):
        return self.run().__await__()

    async def run(self):
        """Show the panel and return what the function returns."""
        reason = why_no_buttons()
        if reason:
            print(f"({reason} You are asked at the prompt instead.)")
            return self.function(self.chat_or_model, *self.arguments, approve=self.ask_at_the_prompt, **self.options)
        from agent_steps.classroom.panel_loop import show_until_the_end   # only now: it needs widgets, and asyncio is slow to load

        worker = Worker(self.function, self.chat_or_model, *self.arguments, policy=self.policy, **(self.options | self.silence))
        await show_until_the_end(worker)
        return worker.outcome()

    def ask_at_the_prompt(self, call):
        """Decide about a call: by the policy's rules where they answer, else by asking."""
        return self.policy.answer(call, partial(ask_approval, folder=self.policy.folder)) if self.policy else ask_approval(call)


def why_no_buttons() -> str | None:
    """Say why there can be no buttons here, or return None if there can."""
    if sys.platform == "emscripten":
        return "Buttons need a second thread, which Python in a browser does not have."
    if find_spec("ipywidgets") is None:
        return "Buttons need the package ipywidgets."
    if not somebody_is_there() and not is_rehearsed():
        return "Buttons need a notebook that somebody has open."
    if is_old_kernel() and find_spec("jupyter_ui_poll") is None:
        return "With this old kernel, buttons need the package jupyter-ui-poll."
    return None


def is_old_kernel() -> bool:
    """Whether the kernel (as Colab's) takes no click while a cell runs, unless it is made to."""
    import ipykernel

    return ipykernel.version_info[0] < 7

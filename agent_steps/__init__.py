"""An LLM agent built by hand: one small module for each lesson.

Import the module of a lesson, for example ``from agent_steps.run_agent import run_agent``.
Importing this package itself loads nothing else.
"""


class CourseError(Exception):
    """Something that a person can mend. Its text is one sentence that says what to do."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback (IPython asks for this method)."""
        return [f"{type(self).__name__}: {self}"]

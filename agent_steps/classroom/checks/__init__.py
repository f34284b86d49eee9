"""The checks of the exercises: one module a lesson, one function an exercise.

A check takes what the learner made and tries it out. It raises NotYet with a reason, written for the learner.
"""
import importlib


class NotYet(Exception):
    """The answer is not right yet. The text says why, without giving the answer away."""


def check(slug: str, number: int, *answers) -> None:
    """Check an exercise and print the outcome in a sentence."""
    reason = why_not(slug, number, *answers)
    print(f"Exercise {number}: not yet. {reason}" if reason else f"Exercise {number}: solved.")


def why_not(slug: str, number: int, *answers) -> str | None:
    """Return why an answer is not right yet, or None if it is."""
    exercise = getattr(importlib.import_module(f"{__name__}.{slug}"), f"exercise_{number}")
    try:
        exercise(*answers)
    except NotYet as reason:
        return str(reason)
    except Exception as error:   # an error in the learner's own code is an answer too, and no reason to stop
        return f"Your code raised {type(error).__name__}: {error}"
    return None


def want(condition, reason: str) -> None:
    """Raise NotYet with the reason unless the condition holds."""
    if not condition:
        raise NotYet(reason)

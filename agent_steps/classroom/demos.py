"""Show a failure on purpose, and make sure that it does fail."""
import contextlib
import os

from agent_steps.classroom.asking import REHEARSAL_VARIABLE


@contextlib.contextmanager
def shows_error(kind: type[BaseException]):
    """Print the error that the indented lines raise.

    If they raise none, a learner (who may have answered otherwise) is told so; in a test, the demonstration is out of date:
    AssertionError.
    """
    try:
        yield
    except kind as error:
        print(f"{type(error).__name__}: {error}")
    else:
        if os.environ.get(REHEARSAL_VARIABLE):
            raise AssertionError(f"this was meant to show a {kind.__name__}, but nothing went wrong")
        print(f"(No {kind.__name__} this time. Run the cell again with the answers from the text above it.)")

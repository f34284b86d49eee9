"""Show a failure on purpose, and make sure that it does fail."""
import contextlib


@contextlib.contextmanager
def shows_error(kind: type[BaseException]):
    """Print the error that the indented lines raise. If they raise none, the demonstration is out of date: AssertionError."""
    try:
        yield
    except kind as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError(f"this was meant to show a {kind.__name__}, but nothing went wrong")

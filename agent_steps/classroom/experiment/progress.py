"""A progress bar with the time that is left, where somebody is there to see it. Nothing of it stays in a saved notebook."""
import importlib.util
import sys
from contextlib import contextmanager

from agent_steps.classroom.asking import somebody_is_there


@contextmanager
def progress_bar(total: int, done: int = 0):
    """Give a function to call after each run: a widget shows the progress in a notebook, a line in a terminal, nothing elsewhere.

    total: how many runs there are. done: how many of them were done before.
    """
    from tqdm import tqdm

    settings = {"total": total, "initial": done, "unit": "run"}
    if somebody_is_there() and importlib.util.find_spec("ipywidgets"):
        with _widget(settings) as bar:
            yield bar.update
    else:
        with tqdm(**settings, file=sys.stderr, disable=None, leave=False) as bar:   # None: only in a terminal
            yield bar.update


@contextmanager
def _widget(settings: dict):
    """Show a bar in a notebook, and take it away at the end: a widget in a saved notebook would be dead."""
    from IPython.display import display
    from tqdm.notebook import tqdm

    bar = tqdm(**settings, display=False)
    shown = display(bar.container, display_id=True)
    try:
        yield bar
    finally:
        shown.update({"text/plain": ""}, raw=True)   # first: the page must not be left with a view of what is gone
        parts = list(_parts(bar.container))
        bar.close()
        for part in parts:
            part.close()   # Colab saves every widget that is not closed


def _parts(widget):
    """Yield a widget and all that it is made of: what lies in it, and their layouts and styles."""
    from ipywidgets import Widget

    yield widget
    for part in (*getattr(widget, "children", ()), *widget.trait_values().values()):
        if isinstance(part, Widget):
            yield from _parts(part)

"""matplotlib's list of fonts: made once, outside of every wall, and copied for each run.

To list the fonts anew takes seconds in every run; a list that all runs could write to would be a way from one into the next.
"""
import contextlib
import functools
import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from agent_steps.wall.child import child_environment, matplotlib_folder, run_child

PATIENCE = 120   # seconds; with many thousand fonts on a slow disk it has taken one minute


def copy_fonts(folder: str) -> None:
    """Put a copy of the list into a new folder; an empty folder if there is no matplotlib, or no list could be made."""
    made = font_list()
    os.mkdir(folder)
    try:
        if made:
            shutil.copy(made, folder)
    except FileNotFoundError:   # somebody cleared up: the next run makes it again
        font_list.cache_clear()


@functools.cache
def font_list() -> Path | None:
    """Return the file with the list, and make it if it is not there. None if there is no matplotlib or it cannot be made."""
    try:
        version = metadata.version("matplotlib")
    except metadata.PackageNotFoundError:
        return None
    try:
        keep = own_folder(matplotlib_folder()) / f"for-{version}"
        if not any(keep.glob("fontlist-*.json")):
            make_list(keep)
        return next(keep.glob("fontlist-*.json"), None)
    except OSError:   # nothing can be written here: then each run makes its own
        return None


def own_folder(path: str) -> Path:
    """Return the folder, made if it is missing. One that belongs to somebody else is not trusted: then a new one is returned."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (os.path.islink(path) or os.stat(path).st_uid != os.getuid()):
        return Path(tempfile.mkdtemp(prefix="agent-fonts-"))
    return Path(path)


def make_list(keep: Path) -> None:
    """Let matplotlib make its list in a new folder, and give the folder its name only when the list is whole."""
    with tempfile.TemporaryDirectory(dir=keep.parent) as unfinished:
        environment = child_environment() | {"MPLCONFIGDIR": unfinished}
        run_child([sys.executable, "-I", "-c", "import matplotlib.font_manager"], folder=unfinished, timeout=PATIENCE, environment=environment)
        if any(Path(unfinished).glob("fontlist-*.json")):
            os.chmod(unfinished, 0o755)
            with contextlib.suppress(OSError):   # another process was faster: its list is as good
                os.rename(unfinished, keep)
                os.mkdir(unfinished)   # for the end of the with block

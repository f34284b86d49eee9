"""bubblewrap (bwrap): a program, kept up by others, that builds a wall from namespaces. https://github.com/containers/bubblewrap

The filter for system calls is set behind it, by the first lines of the child (see inside).
"""
import os
import shutil

from agent_steps.wall.place import Place, is_inside


def find() -> str | None:
    """Return the full path of bubblewrap, or None if it is not installed."""
    found = shutil.which("bwrap")
    return found if found and os.path.isabs(found) else None   # a relative one would depend on the current folder


def command(place: Place) -> list[str]:
    """Return what to write before a command: nothing but these paths is there for it, no network but its own, and no process but its own.

    Raises OSError if there is no bubblewrap, or only one that code in the working folder could have made.
    """
    found = find()
    if found is None or is_inside(found, place.folder):
        raise FileNotFoundError("bubblewrap is not installed")
    words = [found, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]
    for path in place.readable():
        words += ["--ro-bind", path, path]
    for path in place.writable():
        words += ["--bind", path, path]
    for path in place.protected():
        words += ["--ro-bind", path, path]
    for path, source in place.covers().items():
        words += ["--ro-bind", source, path]
    return [*words, "--remount-ro", "/", "--chdir", place.folder, "--"]

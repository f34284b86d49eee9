"""Lesson 3: the function behind the request."""
import os
from pathlib import Path

MOST_FILES = 500


def list_files(path: str) -> str:
    """List all files in a folder and in its sub-folders.

    path: the folder to list, relative to the working folder, written with /
    """
    folder = Path(path)
    if not folder.exists():
        return f"Error: there is no folder {path!r}."
    if not folder.is_dir():
        return f"Error: {path!r} is a file, not a folder."
    names = []
    for parent, folders, files in os.walk(folder):   # os.walk does not follow links, so it comes to an end
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names += [(Path(parent) / name).as_posix() for name in files + links if not name.startswith(".")]
        if len(names) > MOST_FILES:
            break
    if not names:
        return f"(there are no files in {path!r})"
    shown = sorted(names)[:MOST_FILES]
    more = [f"(more than {MOST_FILES} files: list a sub-folder to see the rest)"] if len(names) > MOST_FILES else []
    return "\n".join(shown + more)

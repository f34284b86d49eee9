"""Lesson 3: the function behind the request."""
import os
from pathlib import Path

# a longer list is cut, and says so
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
    names, problems = [], []
    for parent, folders, files in os.walk(folder, onerror=problems.append):   # follows no links, so it comes to an end
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names += [(Path(parent) / name).as_posix() for name in files + links if not name.startswith(".")]
        if len(names) > MOST_FILES:
            break
    if not names and problems:
        return f"Error: {path!r} cannot be read: {problems[0].strerror}."
    if not names:
        return f"(there are no files in {path!r}; hidden ones are not listed)"
    lines = sorted(names)[:MOST_FILES]
    if len(names) > MOST_FILES:
        lines.append(f"(more than {MOST_FILES} files: these are the first; a sub-folder can be listed on its own)")
    return "\n".join(lines)

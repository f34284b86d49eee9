"""Paths that a tool refuses before anything goes wrong, and the words for what goes wrong all the same.

The words are the course's own, since those of a system differ from one system to the next.
"""
import contextlib
import difflib
import errno
import os
import re
from contextvars import ContextVar

WINDOWS_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)

REASONS = {
    errno.ENOENT: "it was not found",
    errno.EACCES: "permission denied. Use another place, or tell the user",
    errno.EPERM: "permission denied. Use another place, or tell the user",
    errno.EROFS: "the disk can only be read. Use another place, or tell the user",
    errno.ENOSPC: "the disk is full. Tell the user",
    errno.ENAMETOOLONG: "its name is too long. Use a shorter one",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EEXIST: "a part of its path is a file, not a folder",
    errno.ELOOP: "it is a link that leads back to itself",
    errno.EINVAL: "its name holds a character that this system does not allow",
}


class Refused(Exception):
    """A tool will not do this. The text says why, and what the model can do next."""


# The folder that the tools of this context work in; None for the current folder. A context belongs to one thread or task, so
# that two runs at a time do not meet, as they would if they changed the current folder of the process.
WORKING_FOLDER = ContextVar("working_folder", default=None)


@contextlib.contextmanager
def working_in(folder: str):
    """Let the tools that are called in this block work in a folder (a full path)."""
    token = WORKING_FOLDER.set(folder)
    try:
        yield
    finally:
        WORKING_FOLDER.reset(token)


def full_path(path: str) -> str:
    """Return where a path leads, seen from the working folder."""
    return os.path.join(WORKING_FOLDER.get() or "", path)


def working_folder() -> str:
    """Return the full path of the working folder. Refuses everything if it was deleted: a system's own message would name something else."""
    try:
        folder = WORKING_FOLDER.get() or os.getcwd()
    except FileNotFoundError:
        folder = ""
    if not os.path.isdir(folder):
        raise Refused("the working folder is gone: it was deleted or moved. No tool can work without it. Tell the user.")
    return folder


def check_path(path: str):
    """Refuse a path that some system would misread, on every system alike."""
    working_folder()
    if not path:
        raise Refused("the path is empty. Give the name of a file.")
    if re.search("[\x00-\x1f\x7f\ud800-\udfff]", path):
        raise Refused(f"{path!r} cannot be a path: it holds a control character or half a character.")
    if "\\" in path or ":" in path:
        raise Refused(f"{path!r} cannot be a path here. Write it relative to the working folder, with / and without colons.")
    for part in path.split("/"):
        if WINDOWS_DEVICE.fullmatch(part):
            raise Refused(f"{path!r} names a device on Windows, not a file. Use another name.")
        if part.strip(".") and part.endswith((".", " ")):
            raise Refused(f"{path!r} holds a name that ends in a dot or a space, which Windows leaves out. Use another name.")


def check_file(path: str):
    """Refuse a path that is no file, with the names of similar ones."""
    check_path(path)
    place = full_path(path)
    if os.path.isdir(place):
        raise Refused(f"{path!r} is a folder. Use list_files.")
    if os.path.isfile(place):
        return
    if os.path.exists(place):
        raise Refused(f"{path!r} is not a regular file. Use another one.")
    similar = similar_files(path)
    advice = f"Similar: {', '.join(similar)}." if similar else "Use list_files to see what is there."
    raise Refused(f"{path!r} was not found. {advice}")


def check_target(path: str):
    """Refuse to write to what is no ordinary file, or may only be read."""
    check_path(path)
    place = full_path(path)
    if os.path.isdir(place) or path.endswith("/"):
        raise Refused(f"{path!r} is a folder. Add the name of a file.")
    if os.path.exists(place) and not os.path.isfile(place):
        raise Refused(f"{path!r} is not a regular file. Use another one.")
    if os.path.exists(place) and not os.access(place, os.W_OK):
        raise Refused(f"{path!r} may only be read, so it was not changed. Use another name, or tell the user.")


def similar_files(path: str) -> list[str]:
    """Return up to three files of the same folder whose names are close to this one."""
    folder, name = os.path.split(path)
    try:
        names = {other.lower(): other for other in sorted(os.listdir(full_path(folder) or ".")) if other.isprintable()}
    except OSError:   # no such folder: then nothing in it is similar
        return []
    close = difflib.get_close_matches(name.lower(), names)
    return [f"{folder}/{names[other]}" if folder else names[other] for other in close]


def error_text(error: OSError | Refused, failure: str) -> str:
    """Return what a tool answers after a failure.

    failure: what could not be done, for example "'a.txt' could not be read".
    """
    if isinstance(error, Refused):
        return f"Error: {error}"
    reason = REASONS.get(error.errno) or error.strerror or type(error).__name__
    return f"Error: {failure}: {reason}."

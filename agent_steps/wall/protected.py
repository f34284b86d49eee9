"""Names that file tools leave alone: what programs outside run or read by themselves, and where secrets usually stand."""
import contextlib
import os
import re
import unicodedata
from dataclasses import dataclass

# Configuration and start-up files: whoever writes one has code run later, outside of every wall.
RUN_LATER = {
    ".git", ".gitconfig", ".gitmodules", ".gitattributes", ".hg", ".husky", ".pre-commit-config.yaml",         # hooks of version control
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",   # shells
    ".vscode", ".idea", ".devcontainer", ".github", ".gitlab-ci.yml",                                           # editors, servers that build
    ".claude", ".codex", ".cursor", ".mcp.json",                                                                # other agents
    ".ipython", ".jupyter", "conftest.py", "sitecustomize.py", "usercustomize.py", "pyvenv.cfg",               # Python's own
}
RUN_LATER_ENDINGS = (".pth", ".ipynb")

# Files in which keys and passwords stand: what is read goes to the model, and with it to whoever runs the model.
SECRET = {".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".ssh", ".aws", ".gnupg", ".docker", ".kube"}


def plain_name(name: str) -> str:
    """Return a name as a disk may take it that does not tell big letters from small, or leaves out what cannot be seen."""
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return seen.casefold().rstrip(". ")


def is_secret(name: str) -> bool:
    """Return whether a file or folder of this name is not to be read either."""
    plain = plain_name(name)
    return plain in SECRET or plain.startswith(".env.")


def is_protected(name: str) -> bool:
    """Return whether a file or folder of this name is not to be written."""
    plain = plain_name(name)
    return is_secret(name) or plain in RUN_LATER or plain.endswith(RUN_LATER_ENDINGS) or is_short_for_one(plain)


def is_short_for_one(plain: str) -> bool:
    """Return whether Windows may take this name for a protected one: GIT~1 is there another name of .git."""
    short = re.fullmatch(r"(\w{1,6})~\d", plain)
    return bool(short) and any(name.replace(".", "").startswith(short[1]) for name in RUN_LATER | SECRET)


MOST_LOOKED_AT = 200_000   # entries of a folder, and
DEEPEST = 100              # folders in folders: beyond that, looking before and after each run would take too long


def entries_below(folder: str):
    """Yield what is in a folder and in its sub-folders, as os.DirEntry. No link is followed.

    Raises ValueError where that is too much to look at: a file that was not looked at could be a protected one.
    """
    waiting, seen = [(folder, 0)], 0
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = list(found)
        except OSError:   # not ours to read, or gone
            continue
        seen += len(entries)
        if seen > MOST_LOOKED_AT or depth > DEEPEST:
            raise ValueError(f"The working folder holds more than {MOST_LOOKED_AT:,} files, or folders nested more than {DEEPEST} deep. Choose a smaller one.")
        yield from entries
        waiting += [(entry.path, depth + 1) for entry in entries if entry.is_dir(follow_symlinks=False)]


def is_special(name: str) -> bool:
    """Return whether a file or folder of this name is read-only for code, too, where a wall can do that."""
    return plain_name(name) in RUN_LATER


@dataclass
class Note:
    """What is to be added to the result of a run; empty for nothing."""

    text: str = ""


@contextlib.contextmanager
def note_changes(folder: str):
    """Look at the protected files of a folder before and after a block, and put into the Note what is new or changed.

    Code may write them, since a wall around a folder lets most in it be written. What they are for happens outside of it.
    """
    note, before = Note(), protected_files(folder)
    yield note
    after = protected_files(folder)
    found = sorted(path for path in after if after[path] != before.get(path))
    if found:
        names = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        note.text = f"\nNote for the person: this run made or changed {names}. Programs outside run such files by themselves. Look at them first."


def protected_files(folder: str) -> dict[str, tuple]:
    """Return the protected files of a folder, by their path in it: what tells one state of a file from another."""
    found = {}
    for entry in entries_below(folder):
        inside = os.path.relpath(entry.path, folder).split(os.sep)
        if any(map(is_protected, inside)) and not entry.is_dir(follow_symlinks=False):
            found["/".join(inside)] = state_of(entry)
    return found


def state_of(entry: os.DirEntry) -> tuple:
    """Return what tells one state of a file from another; an empty tuple if it cannot be looked at."""
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return ()
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino

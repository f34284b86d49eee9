"""Whether the runs of an experiment began alike, whether chance takes part, and whether their rows are independent."""
import hashlib
import os
import shutil
from collections import Counter
from pathlib import Path


def fresh_copy(files, top) -> str:
    """Copy a folder of files into a new folder below `top`, and return that folder. files: None for an empty one.

    The new folder always has the same name, since a model may be told it. Raises ValueError if there is no folder of files, or
    one that cannot be copied whole.
    """
    folder = os.path.join(os.path.realpath(top), "work")
    if files is None:
        os.mkdir(folder)
    elif not os.path.isdir(files):
        raise ValueError(f"There is no folder {str(files)!r} to begin with.")
    else:
        _check_files(Path(files), Path(top))
        shutil.copytree(files, folder)
    return folder


def _check_files(files: Path, top: Path) -> None:
    if top.resolve().is_relative_to(files.resolve()):
        raise ValueError(f"Temporary files are kept in {str(files)!r}, so it cannot be copied there. Choose a smaller folder.")
    for path in files.rglob("*"):
        if not path.is_file() and (path.is_symlink() or not path.is_dir()):   # a link to a folder could lead in circles
            raise ValueError(f"{path.relative_to(files).as_posix()!r} is a link to a folder, or no file at all. Put a real file or folder there.")


def fingerprint(folder) -> str:
    """Return eight hexadecimal digits that stand for the files in a folder: their paths and their contents. No folder is as an empty one."""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")) if folder else []:
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def is_drawn(condition) -> bool:
    """Return whether the practice model draws its faults under a condition, so that runs differ."""
    faults = condition.options.get("faults")
    at_a_rate = isinstance(faults, dict) and any(isinstance(name, str) for name in faults)
    return condition.provider == "practice" and at_a_rate


def dependence(table) -> list[str]:
    """Return sentences that say why the rows of a table are not independent of each other; an empty list if nothing speaks against it.

    table: a DataFrame with the columns condition and run; where there are seed and began_with, they are looked at too.
    """
    found = []
    for name, rows in table.groupby("condition", sort=False):
        found += [f"{name}: {problem}" for problem in _problems(rows)]
    return found


def _problems(rows) -> list[str]:
    found = []
    keys = zip(rows["run"], rows["seed"].fillna(0)) if "seed" in rows else zip(rows["run"])
    if doubled := [key[0] for key, count in Counter(keys).items() if count > 1]:
        found.append(f"run {doubled[0]} is there more than once. Two copies of a row are one run.")
    elif "seed" in rows and rows["seed"].dropna().duplicated().any():
        found.append("several runs have the same seed, so they draw the same faults.")
    if "began_with" in rows and rows["began_with"].nunique() > 1:
        found.append("the runs did not begin with the same files: one found what another had left. Give each run a fresh folder.")
    return found

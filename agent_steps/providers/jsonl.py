"""A list of messages in a file of JSON Lines that only grows: a line is whole or it is not there, and what was written stays.

The first line is a header. Each further line says from which place on the list has changed, and to what: {"at": 2, "message": {...}},
or {"at": 2} where it was cut to that length. "more": the next line belongs to the same save, and counts only together with this one.
"""
import json
import os
import secrets
import shutil
import warnings
from pathlib import Path


class HistoryError(ValueError):
    """A file is no history that can be gone on with. It was not changed."""


def broken_line(path: Path, number: int, what: str) -> HistoryError:
    """The error for a line of a file. number: from 1."""
    return HistoryError(f"{path.name}, line {number}: {what}. Nothing was changed. Mend this line, or move the file away and begin a new one.")


def json_line(value) -> bytes:
    """A value as one line. Half characters become "?". Raises ValueError for what JSON has no form for, as NaN."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"A message holds what JSON has no form for ({error}). It was not saved.") from None


def read_lines(path: Path) -> list[tuple[dict, int]]:
    """The values of all lines that are whole, each a dict, with the number of bytes up to its end.

    A last line that has no line end, or is no JSON, was cut and is left out. Raises HistoryError if another one is no JSON.
    What an editor may add is passed over: empty lines behind the first one, "\\r" before a line end, the mark of UTF-8 at the beginning.
    """
    *lines, rest = path.read_bytes().split(b"\n")
    found, end = [], 0
    for number, line in enumerate(lines, start=1):
        end += len(line) + 1
        if found and not line.strip():
            found[-1] = (found[-1][0], end)
            continue
        try:
            value = json.loads(line.decode("utf-8-sig"), parse_constant=_no_json)
        except (ValueError, RecursionError) as error:
            if number == len(lines) > 1 and not rest:
                break
            raise broken_line(path, number, f"this is no JSON ({error})") from None
        found.append((value if isinstance(value, dict) else {}, end))
    if not found or found[0][0].get("history") != 1 or not isinstance(found[0][0].get("folder"), str):
        raise broken_line(path, 1, "a history of this kind begins with a line that says so")
    return found


def _no_json(name: str):
    raise ValueError(f"{name} is no JSON")


def put_entry(path: Path, number: int, entry: dict, messages: list) -> None:
    """Do to a list of messages what a line says. Raises HistoryError if it says what cannot be."""
    at = entry.get("at")
    if type(at) is not int or not 0 <= at <= len(messages):
        raise broken_line(path, number, f'"at" is {at!r}, but {len(messages)} messages stand before')
    messages[at:] = [entry["message"]] if "message" in entry else []


def changes(old: list, new: list) -> bytes:
    """The lines that turn one list of messages into another; none if they are equal. Raises ValueError, as json_line."""
    same = next((at for at, (a, b) in enumerate(zip(old, new)) if a is not b and a != b), min(len(old), len(new)))
    entries = [{"at": at, "message": new[at], "more": True} for at in range(same, len(new))]
    if len(new) == same < len(old):
        entries.append({"at": same})
    if entries:
        entries[-1].pop("more", None)
    return b"".join(map(json_line, entries))


def write_new(path: Path, data: bytes) -> None:
    """Write a file so that it is never there in part: beside its place first. Links are followed. Raises OSError."""
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{secrets.token_hex(8)}.new")   # of this writer alone
    try:
        with open(beside, "wb") as file:
            _to_disk(file, data)
        if place.exists():
            shutil.copymode(place, beside)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)   # after a success it has its new name, and nothing is missing


def write_on(path: Path, data: bytes) -> None:
    """Write at the end of a file, and return when the disk has it. Raises OSError if not all could be written."""
    with open(path, "ab") as file:
        _to_disk(file, data)


def _to_disk(file, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def cut_off(path: Path, size: int) -> None:
    """Cut a file off at a size in bytes, with a warning. What stands behind is kept in a new file beside it."""
    rest = path.read_bytes()[size:]
    if not rest:
        return
    number = 1
    while (beside := path.with_name(f"{path.name}.cut-{number}")).exists():
        number += 1
    with open(beside, "xb") as file:
        _to_disk(file, rest)
    os.truncate(path, size)
    warnings.warn(f"{path.name}: the last save was cut off ({len(rest)} bytes). What is left of it is now in {beside.name}.", stacklevel=4)

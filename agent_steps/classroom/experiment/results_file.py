"""The file of results: one row a line, as JSON, written down as soon as a run is done.

The process may be killed at any moment. Then the last line may be cut: it is left where it is, and that run is done again.
"""
import json
import os
from pathlib import Path

MARK = "experiment"   # the entry of a line that says which experiment its row belongs to
BEGINNING = f'{{"{MARK}": "'.encode()   # of every line
NEEDED = {"condition", "run", "stop_reason"}   # in every row


def as_kept(row: dict) -> dict:
    """Return a row as the file gives it back, so that a table is the same whether its rows were just made or read.

    Numbers of numpy become plain ones, tuples become lists, NaN None, half a character "?". Raises TypeError for what has no form in JSON.
    """
    return json.loads(json.dumps(row, ensure_ascii=False, default=_plain).encode("utf-8", "replace"), parse_constant=lambda name: None)


def _plain(value):
    if hasattr(value, "item"):   # a number of numpy
        return value.item()
    raise TypeError(f"{value!r} cannot be written down as JSON. Give a number, a text, True or False, None, or a list or dict of these.")


def check_place(path, files) -> None:
    """Raises ValueError for a file of results that cannot be written, or that lies among the files that each run begins with."""
    if path is None:
        return
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise ValueError(f"There is no folder for {str(path)!r}. Make it first.")
    if files and place.is_relative_to(Path(files).resolve()):
        raise ValueError(f"{str(path)!r} lies in the folder that each run begins with, and would change it. Name another place.")
    try:
        with open(place, "ab"):
            pass
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be written: {error.strerror}. Name another place.") from None


class ResultsFile:
    """Rows on the disk. A path of None keeps nothing.

    cut: how many lines were cut off by an earlier end of the process.
    Raises ValueError if the file is there and holds something else.
    """

    def __init__(self, path=None):
        self.path = None if path is None else Path(path)
        self.place = None if path is None else self.path.absolute()   # where it is, even if somebody changes the current folder
        self.cut, self.lines, self.ends_well = 0, [], True
        self.kept = set()   # the runs that were written down since
        if self.path and self.path.exists():
            self._read(self.path.read_bytes())

    def _read(self, data: bytes) -> None:
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            line = line.strip()   # \r of Windows
            try:
                self.lines += [_checked(json.loads(line))] if line else []
            except (ValueError, RecursionError):   # nested without end
                if line[:len(BEGINNING)] != BEGINNING[:len(line)]:
                    raise ValueError(f"{self.path} is no file of results: line {number} is no row of one. Name another file.") from None
                self.cut += 1
        self.ends_well = not data or data.endswith(b"\n")

    def rows(self, marks: dict[str, str]) -> list[dict]:
        """Return the rows of these conditions. Of several rows for one run, the last counts.

        marks: from a condition's name to the mark of its experiment.
        Raises ValueError if a condition of that name was run in another way.
        """
        found = {}
        for line in self.lines:
            row, name = line["row"], line["row"]["condition"]
            if name in marks and line[MARK] != marks[name]:
                raise ValueError(
                    f"{self.path} holds runs of {name!r} with another task, seed, check, files or settings. Name another file, or another condition.")
            if name in marks:
                found[name, row["run"]] = row
        return list(found.values())

    def append(self, mark: str, row: dict) -> None:
        """Write a row down, safe on the disk when this returns.

        row: as `as_kept` gives it. Raises OSError if the disk does not take it.
        """
        if self.path is None:
            return
        line = json.dumps({MARK: mark, "row": row}, ensure_ascii=False).encode() + b"\n"
        with open(self.place, "ab") as file:
            if not self.ends_well:   # the cut line stays, and the new row gets a line of its own
                line, self.ends_well = b"\n" + line, True
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.kept.add((row["condition"], row["run"]))

    def how_to_go_on(self) -> str:
        """Return a sentence for somebody whose experiment was stopped."""
        return f" They are in {self.path}, too: do the same again to go on from there." if self.path else ""


def _checked(line) -> dict:
    """Return the line if it has the parts of one. Raises ValueError otherwise."""
    row = line.get("row") if isinstance(line, dict) and isinstance(line.get(MARK), str) else None
    if isinstance(row, dict) and NEEDED <= row.keys() and isinstance(row["condition"], str) and isinstance(row["run"], int):
        return line
    raise ValueError("not a row")

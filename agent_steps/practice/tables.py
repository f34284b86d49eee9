"""Look at the text of a CSV file and find what could be plotted."""
import csv
import io
import itertools
import re
from dataclasses import dataclass

DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Table:
    """A CSV file with at least one column of numbers. The lists are in the order of the file.

    columns: all of them. numbers: those that hold numbers. numeric: those of them that are worth plotting unasked.
    """

    delimiter: str
    columns: list[str]
    numbers: list[str]
    numeric: list[str]

    @property
    def decimal_comma(self) -> bool:
        """Whether 3.5 is written 3,5: where the semicolon separates, the comma is free for that."""
        return self.delimiter == ";"


def read_table(text: str) -> Table | None:
    """Read the text of a CSV file (its first rows are enough). None if it has no column of numbers."""
    delimiter = _delimiter(text.partition("\n")[0])
    try:
        rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter))[:100]
    except csv.Error:
        return None
    names = [name for name in (rows[0] if rows else {}) if name and not _number(name, delimiter)]   # a number is no header
    numeric = [name for name in names if _is_numeric([row.get(name) for row in rows], delimiter)]
    telling = [name for name in numeric if not _counts_rows([row.get(name) for row in rows])]
    chosen = telling if len(telling) >= 2 or len(numeric) == 1 else numeric
    return Table(delimiter, names, numeric, chosen) if chosen else None


def read_rows(text: str, most: int | None = None) -> list[list[str]]:
    """The rows of a CSV file's text, the header first, or only the first `most`. Empty lines are no rows."""
    text = text.lstrip("\ufeff\r\n")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.partition("\n")[0]))
    try:
        return list(itertools.islice(filter(None, rows), most))
    except csv.Error:
        return []


def is_number(value: str) -> bool:
    """Whether a cell holds a number, with a decimal point or a decimal comma."""
    return _number(value, ";")


def _delimiter(header: str) -> str:
    """The separator that stands most often in the header, outside of quoted names."""
    return max(DELIMITERS, key=re.sub(r'"[^"]*"', "", header).count)


def _is_numeric(values: list[str | None], delimiter: str) -> bool:
    """Most values are numbers: a few may be missing, written in any way."""
    filled = [value for value in values if isinstance(value, str) and value.strip()]
    return bool(filled) and sum(_number(value, delimiter) for value in filled) > 0.6 * len(filled)


def _number(value: str, delimiter: str) -> bool:
    try:
        float(value.replace(",", ".") if delimiter == ";" else value)
    except ValueError:
        return False
    return value.strip().lower() not in ("nan", "inf", "-inf", "infinity")


def _counts_rows(values: list[str | None]) -> bool:
    """A row number (1, 2, 3, ... or 0, 1, 2, ...) tells nothing."""
    return any(values == [str(number) for number in range(start, start + len(values))] for start in (0, 1))

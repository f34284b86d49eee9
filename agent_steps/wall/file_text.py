"""Text files: how one is decoded, so that it can be written back the same way, and how its lines are counted."""
import codecs
import os
import re
from dataclasses import dataclass

from agent_steps.wall.path_checks import Refused, full_path

ENCODINGS = [   # the marks (BOMs) that a text file may begin with; UTF-32 first, since its mark begins like UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-8"),
]
BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]".encode())   # control characters that text does not hold


@dataclass(frozen=True)
class TextFile:
    """The text of a file, and what is needed to write it back the same way.

    text: its content, with the line ends it has in the file.
    mark, encoding: the bytes it begins with (BOM), and how the rest is encoded.
    size: in bytes. whole: False if only the beginning was read.
    """
    text: str
    mark: bytes
    encoding: str
    size: int
    whole: bool

    def encoded(self, text: str) -> bytes:
        """Return another text as the bytes of this file."""
        return self.mark + encoded(text, self.encoding)


def read_text(path: str, limit: int | None = None) -> TextFile:
    """Read a text file, or only its first `limit` bytes. Refuses a file that is not text in UTF-8, UTF-16 or UTF-32."""
    place = full_path(path)
    size = os.path.getsize(place)
    with open(place, "rb") as file:
        data = file.read() if limit is None else file.read(limit)
        whole = not file.read(1)
    mark, encoding = next(known for known in ENCODINGS if data.startswith(known[0]))
    body = data[len(mark):]
    if not mark and b"\0" in body:
        raise Refused(binary_text(path, size))
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(body, final=whole)   # the limit may cut a character in two
    except UnicodeDecodeError as error:
        raise Refused(binary_text(path, size) if BINARY.search(body) else other_encoding_text(path, encoding, error)) from None
    return TextFile(text, mark, encoding, size, whole)


def binary_text(path: str, size: int) -> str:
    """Say that a file is no text."""
    return (f"{path!r} looks binary ({size:,} bytes). read_file and edit_file are for text only; "
            f"use run_python_code with a library that knows this kind of file.")


def other_encoding_text(path: str, encoding: str, error: UnicodeDecodeError) -> str:
    """Say that a file is text in another encoding, and how to read it."""
    return (f"{path!r} is not {encoding.upper()} text: the byte 0x{error.object[error.start]:02x} at position {error.start:,} "
            f"does not fit. It may be Latin-1; use run_python_code: print(open({path!r}, encoding='latin-1').read())")


def encoded(text: str, encoding: str = "utf-8") -> bytes:
    """Return the text as bytes. Refuses half a character, which no file can hold."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        half = text[error.start:error.start + 1]
        raise Refused(f"the text holds half a character ({half!r}). Write the whole character. Nothing was changed.") from None


def lines_in_file(path: str) -> int | None:
    """Return how many lines a file has, or None if there is no such file."""
    if not os.path.exists(full_path(path)):
        return None
    with open(full_path(path), "rb") as file:
        return sum(1 for _ in file)


def lines_in(text: str) -> int:
    """Return how many lines a text has. A last line without a line end counts too."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def lines(number: int) -> str:
    """Return "1 line", "2 lines" and so on."""
    return f"{number:,} line{'' if number == 1 else 's'}"

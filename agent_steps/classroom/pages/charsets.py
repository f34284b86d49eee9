"""From the bytes of a page to its characters."""
import codecs
import re

NAMED_INSIDE = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
NAMED_OUTSIDE = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Python has more codecs, which are no charsets of pages; one of them ("punycode") would take hours.
CHARSETS = re.compile(r"ascii|utf-(8|16(-[bl]e)?)|cp\d+|iso8859-\d+|koi8-\w|mac-\w+|tis-620|"
                      r"big5\w*|gb\w+|euc_\w+|shift_jis|iso2022_\w+")
AS_BROWSERS_READ = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "shift_jis": "cp932",
                    "euc_kr": "cp949"}


def characters(content: str | bytes, content_type: str) -> str:
    """Return the characters of a page, with line ends as in Python. What cannot be read is shown as damaged.

    The charset is that of the header, else that of the mark at the start, else what the page itself says, else UTF-8.
    It is not guessed: a wrong guess puts wrong letters into words, and nobody sees it.
    """
    if isinstance(content, bytes):
        content = content.decode(_charset(content, content_type), errors="replace")
    return content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _charset(content: bytes, content_type: str) -> str:
    header = NAMED_OUTSIDE.search(content_type)
    if header and (known := _known(header[1])):
        return known
    for mark, name in MARKS:
        if content.startswith(mark):
            return name
    inside = NAMED_INSIDE.search(content[:4096])
    known = _known(inside[1].decode("ascii", "replace")) if inside else None
    if known and not known.startswith("utf-16"):   # a name that could be read is not in UTF-16
        return known
    return "utf-8"


def _known(name: str) -> str | None:
    """Python's name of a charset, None if it is none."""
    try:
        name = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return AS_BROWSERS_READ.get(name, name) if CHARSETS.fullmatch(name) else None

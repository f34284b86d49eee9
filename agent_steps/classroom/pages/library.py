"""The library: the pages in a folder, which can be searched and fetched with no network."""
import re
import threading
from pathlib import Path

from agent_steps import CourseError
from agent_steps.classroom.pages.full_text import FullText, words_of
from agent_steps.classroom.pages.page_text import page_text
from agent_steps.classroom.pages.problems import SourceError

SNIPPET_LENGTH = 200   # characters


class Library:
    """The HTML pages of a folder. They are read and indexed when they are needed first, and then kept.

    folder: as seen from the current folder. The address of a page begins with it.
    """

    def __init__(self, folder: str | Path = "data/library") -> None:
        self.folder = Path(folder)
        self._lock = threading.Lock()
        self._pages = None
        self._index = None

    def search(self, query: str, num_results: int = 5) -> list[dict]:
        """Return the pages that fit the query best, best first: for each a dict with title, url and snippet.

        The snippet is the sentence with most of the query's words, of at most 200 characters.
        Raises CourseError if the folder holds no pages.
        """
        pages = list(self._read().values())
        found = [pages[place] for place in self._index.best(query, num_results)]
        return [{"title": page["title"], "url": page["url"], "snippet": snippet(page["content"], query)}
                for page in found]

    def fetch(self, url: str) -> dict:
        """Return a page of the library as a dict with url, title and content, its text.

        Raises SourceError if the library has no page of that address, and CourseError if the folder holds no pages.
        """
        pages = self._read()
        if url not in pages:   # only what was indexed is fetched, so no path leads out of the folder
            raise SourceError(f"The library has no page {url!r}. Its addresses look like {min(pages)}: "
                              "take one from a search result, letter by letter.")
        return dict(pages[url])

    def _read(self) -> dict[str, dict]:
        """Return the pages by their address, and read and index them if nobody has yet."""
        with self._lock:   # two threads that come first together build it once
            if self._pages is None:
                pages = read_pages(self.folder)
                self._index = FullText([(page["title"], page["content"]) for page in pages.values()])
                self._pages = pages
        return self._pages


def read_pages(folder: Path) -> dict[str, dict]:
    """Return the pages of a folder by their address, in the order of their names: dicts with url, title and content.

    Raises CourseError if the folder holds no HTML files, or a file cannot be read.
    """
    files = sorted(folder.glob("*.html"), key=lambda path: path.name)
    if not files:
        raise CourseError(f"The folder {folder.as_posix()} holds no pages (*.html). "
                          "Run the lesson's first cell again: it copies them there.")
    pages = {}
    for path in files:
        try:
            html = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise CourseError(f"The page {path.as_posix()} cannot be read, or is not in UTF-8. Take it out of the folder, "
                              "or run the lesson's first cell again: it copies the course's pages anew.") from None
        title, text = page_text(html)
        pages[path.as_posix()] = {"url": path.as_posix(), "title": title or path.stem, "content": text}
    return pages


def snippet(text: str, query: str, length: int = SNIPPET_LENGTH) -> str:
    """Return the sentence of a text that holds most of the query's words, the first of them if there are several.

    A sentence of more than `length` characters is cut after a word and ends with "...".
    """
    parts = [part.removeprefix("- ") for part in re.split(r"(?<=[.!?])\s+|\n+", text.strip())]
    sentences = [part for part in parts if part.endswith(".")] or parts   # headings only if there is nothing else
    stems = [word[:max(4, len(word) - 3)] for word in words_of(query)]   # so that "predicted" counts for "prediction"

    def hits(sentence):
        words = words_of(sentence)
        return sum(any(word.startswith(stem) for word in words) for stem in stems)

    best = " ".join(max(sentences, key=hits).split())
    return best if len(best) <= length else best[:length - 3].rsplit(" ", 1)[0] + "..."

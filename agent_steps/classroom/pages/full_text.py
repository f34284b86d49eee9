"""An index of texts in memory: which of them fit a query best."""
import re
import sqlite3
import threading
import unicodedata

from agent_steps import CourseError

# words that stand in nearly every text and nearly every question
STOP_WORDS = frozenset("""a about an and any are as at be been but by can could describe did do does explain
find for from had happened has have how i if in into is it its many me much my of on or our people please report
so some such tell than that the their them then there these they this to us was we were what when where which
who whom why will with would write you your""".split())
MOST_WORDS = 50      # of a query; a whole page as a query would take long
TITLE_WEIGHT = 4.0   # a word in the title counts this many times as much as one in the text


class FullText:
    """An index of texts. Several threads may ask it.

    texts: the texts, or pairs of a title and a text.
    Raises CourseError if the SQLite of this Python cannot search texts.
    """

    def __init__(self, texts: list[str] | list[tuple[str, str]]) -> None:
        rows = [("", text) if isinstance(text, str) else text for text in texts]
        self._lock = threading.Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)   # the lock lets one thread in at a time
        try:
            self._index.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text, tokenize = 'porter unicode61')")
        except sqlite3.OperationalError:
            raise CourseError("The SQLite of this Python lacks FTS5, its search in texts. "
                              "Take a Python from python.org or conda-forge, which has it.") from None
        self._index.executemany("INSERT INTO pages (rowid, title, text) VALUES (?, ?, ?)",
                                [(place, _whole(title), _whole(text)) for place, (title, text) in enumerate(rows)])

    def best(self, query: str, count: int = 5) -> list[int]:
        """Return the places of the texts that fit the query best, best first, at most `count`.

        Any text is a query. A text fits if it holds one of the query's words; rare words count for more, and words in
        the title too. Among equals the earlier text comes first. A query of nothing but stop words finds nothing.
        """
        words = words_of(query)
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)   # in quotes nothing is a command of FTS5
        with self._lock:
            rows = self._index.execute("SELECT rowid FROM pages WHERE pages MATCH ? "
                                       "ORDER BY bm25(pages, ?, 1.0), rowid", (match, TITLE_WEIGHT)).fetchall()
        return [place for place, in rows[:max(0, count)]]


def _whole(text: str) -> str:
    """A text without half characters, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def words_of(query: str) -> list[str]:
    """Return the first 50 words of a query in small letters, each once, without stop words."""
    plain = unicodedata.normalize("NFKC", query).lower()   # a small raised or lowered figure becomes a plain one
    words = dict.fromkeys(re.findall(r"[^\W_]+", plain))
    return [word for word in words if word not in STOP_WORDS][:MOST_WORDS]

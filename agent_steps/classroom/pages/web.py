"""The live web, with the same two methods as the course's library: search and fetch."""
import time
from urllib.parse import urljoin, urlsplit

from agent_steps.classroom.pages.addresses import check_public, plain_address
from agent_steps.classroom.pages.download import Answer, download, make_client
from agent_steps.classroom.pages.page_text import page_text
from agent_steps.classroom.pages.problems import SourceError
from agent_steps.classroom.pages.search_engines import search_engines

MOST_REDIRECTS = 5
MOST_RESULTS = 20


class Web:
    """The web. Use it in a `with` statement, or call close().

    seconds: for a page, from the request to its last byte, redirects included; the look-up of a host's name has the
        system's own limit.
    most_bytes: of a page, unpacked.
    allow: servers of your own, as "host:port", which are asked although they are not public; for tests.
    """

    def __init__(self, *, seconds: float = 15, most_bytes: int = 2_000_000, allow: tuple[str, ...] = ()):
        self.seconds, self.most_bytes, self.allow = seconds, most_bytes, frozenset(allow)
        self._client = make_client()

    def search(self, query: str, num_results: int = 5) -> list[dict]:
        """Return what the web has for a query: a list of dicts with title, url and snippet; empty if it has nothing.

        Raises RateLimited, SourceError if the search failed, ValueError for an empty query and for a number of results
        that is not from 1 to 20, CourseError if the package for it is not installed.
        """
        if not isinstance(query, str) or not query.strip():
            raise ValueError("The query is empty.")
        if isinstance(num_results, bool) or not isinstance(num_results, int) or not 1 <= num_results <= MOST_RESULTS:
            raise ValueError(f"num_results is a whole number from 1 to {MOST_RESULTS}, not {num_results!r}.")
        return search_engines(query, num_results)

    def fetch(self, url: str) -> dict:
        """Return a page: a dict with url (where it was found in the end), title and content (its readable text).

        Raises RateLimited if its server asks to wait, SourceError for every other page that could not be had.
        """
        end = time.monotonic() + self.seconds
        address = plain_address(url)
        for _ in range(MOST_REDIRECTS + 1):
            answer = download(self._client, address, self._places(address), end, self.most_bytes)
            if answer.location is None:
                return _page(address, answer)
            address = _next(address, answer.location)
        raise SourceError(f"{url} sends from one address to the next, more than {MOST_REDIRECTS} times.")

    def _places(self, address: str) -> list[str]:
        """The IP addresses to ask. Raises SourceError if one of them is not public."""
        parts = urlsplit(address)
        return [parts.hostname] if parts.netloc in self.allow else check_public(address)

    def close(self) -> None:
        """Close the connections. The object is of no use afterwards."""
        self._client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _next(address: str, location: str) -> str:
    """The address to which a page sends us on. It is checked like the first one."""
    try:
        return plain_address(urljoin(address, location))
    except ValueError:
        raise SourceError(f"{address} sends on to something that is not an address.") from None


def _page(address: str, answer: Answer) -> dict:
    title, content = page_text(answer.body, answer.content_type)
    if not content.strip():
        raise SourceError(f"{address} has no text. It may be made by a script in the browser.")
    return {"url": address, "title": title or address, "content": content}

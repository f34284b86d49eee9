"""A search of the web by the package ddgs, which asks several search engines in turn. It needs no key."""
from agent_steps import CourseError
from agent_steps.classroom.pages.addresses import plain_address
from agent_steps.classroom.pages.page_text import one_line
from agent_steps.classroom.pages.problems import RateLimited, SourceError

TOO_MANY_REQUESTS = (202, 429)   # DuckDuckGo says 202
HOW_TO_GET = "Searching the web needs the package ddgs. Run: pip install -r requirements-web.txt"


def search_engines(query: str, num_results: int) -> list[dict]:
    """Return what search engines find: a list of dicts with title, url and snippet, empty if they find nothing.

    Raises RateLimited if they refuse further searches, SourceError if they could not be asked, CourseError if ddgs is
    not installed.
    """
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError:
        raise CourseError(HOW_TO_GET) from None
    searcher, statuses = DDGS(), []
    _listen(searcher, statuses)
    try:
        found = searcher.text(query, max_results=num_results)
    except RatelimitException:
        raise _refused() from None
    except TimeoutException:
        raise SourceError("The search engines did not answer in time.") from None
    except DDGSException as error:
        _check(statuses)
        if "No results found" not in str(error):
            raise SourceError(f"The search failed: {_short(error)}.") from None
        return []
    except Exception as error:   # ddgs reads pages that change, so it may fail in any way
        raise SourceError(f"The search failed: {type(error).__name__}: {_short(error)}.") from None
    return [result for row in found if (result := _result(row))][:num_results]


def _listen(searcher, statuses: list) -> None:
    """Have a DDGS write down the statuses of the answers that it gets.

    ddgs 9 takes every answer but 200 for an empty one: of engines that refuse further searches it says "No results
    found". Its RatelimitException exists, but is not raised. Of a later version without _get_engines nothing is written
    down.
    """
    get_engines = getattr(searcher, "_get_engines", None)

    def listening(*arguments, **options):
        engines = get_engines(*arguments, **options)
        for engine in engines:
            engine.http_client.request = _writing_down(engine.http_client.request, statuses)
        return engines

    if get_engines:
        searcher._get_engines = listening


def _writing_down(request, statuses: list):
    def wrapped(*arguments, **options):
        response = request(*arguments, **options)
        statuses.append(response.status_code)
        return response
    return wrapped


def _check(statuses: list) -> None:
    """Raise SourceError if nothing was found because the engines did not search."""
    if any(status in TOO_MANY_REQUESTS for status in statuses):
        raise _refused()
    if statuses and 200 not in statuses:
        raise SourceError(f"The search engines answer {', '.join(map(str, sorted(set(statuses))))}.")


def _refused() -> RateLimited:
    return RateLimited("The search engines get too many requests. They do not say how long to wait.")


def _result(row: dict) -> dict | None:
    """A row of ddgs in the course's form, None if it has no title or no address."""
    title, address = one_line(row.get("title") or ""), row.get("href") or ""
    if not title or not address.lower().startswith(("http://", "https://")):
        return None
    try:
        return {"title": title, "url": plain_address(address), "snippet": one_line(row.get("body") or "")}
    except SourceError:
        return None


def _short(error: Exception) -> str:
    return one_line(str(error))[:200].rstrip(".")

"""The two SDK clients. Imported late, because loading an SDK takes up to a second; built once and kept."""
import email.utils
import functools
import time

LONGEST_WAIT = 60   # seconds: a server that asks for a longer pause gets no retry, the person is told instead


def asked_wait(headers) -> float:
    """The seconds that an answer asks to wait before the next try, 0 if it asks for nothing. Read as both SDKs read it."""
    for name, seconds in (("retry-after-ms", 0.001), ("retry-after", 1)):
        try:
            return float(headers[name]) * seconds
        except (KeyError, ValueError):
            pass
    try:   # it may also be a date
        date = email.utils.parsedate_tz(headers.get("retry-after"))
        return email.utils.mktime_tz(date) - time.time() if date else 0
    except (ValueError, OverflowError):
        return 0


def judge_retry(response) -> None:
    """Stop the SDKs from trying again where that is of no use.

    They would obey a Retry-After without end (anthropic 2 has no upper limit of its own), and take a 429 that says that the
    account is empty for one that passes.
    """
    if asked_wait(response.headers) > LONGEST_WAIT or (response.status_code == 429 and b"insufficient_quota" in response.read()):
        response.headers["x-should-retry"] = "false"


def practice_client(wire: str, transport, base_url: str, max_retries: int):
    """Return a real client whose requests are answered inside this process. No socket is opened."""
    import httpx2

    http_client = httpx2.Client(transport=transport, event_hooks={"response": [judge_retry]})
    return _client(wire, api_key="practice", base_url=base_url, http_client=http_client, max_retries=max_retries)


@functools.lru_cache(maxsize=None)
def live_client(wire: str, base_url: str, api_key: str, timeout: float, max_retries: int):
    """Return the client for an address and key: one for the whole process, so that connections are reused."""
    if wire == "anthropic":
        from anthropic import DefaultHttpxClient as HttpClient
    else:
        from openai import DefaultHttpx2Client as HttpClient
    http_client = HttpClient(event_hooks={"response": [judge_retry]})
    return _client(wire, api_key=api_key, base_url=base_url, timeout=timeout, max_retries=max_retries, http_client=http_client)


def _client(wire: str, **settings):
    if wire == "anthropic":
        from anthropic import Anthropic

        return Anthropic(**settings)
    from openai import OpenAI

    return OpenAI(**settings)

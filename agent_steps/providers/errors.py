"""Every way a request can fail, said in one sentence that tells what to do. A key never appears in it."""
import math
from urllib.parse import urlsplit

from agent_steps import CourseError
from agent_steps.providers.clients import asked_wait

MOST_WORDS = 300   # characters of an API's own text that are shown


class ModelError(CourseError):
    """The model could not be reached or did not answer. The text is one sentence for a person.

    status: the HTTP status of the answer, or None where there was none. may_pass: whether the same request may work later.
    stop_reason: what a run that it ends says of its end.
    """

    stop_reason = "error"

    def __init__(self, sentence: str, status: int | None = None, may_pass: bool = False):
        super().__init__(sentence)
        self.status, self.may_pass = status, may_pass


def explain(error: Exception, model) -> ModelError:
    """Turn an error of either client into a ModelError. Both clients name and number their errors alike.

    model: the Model that made the request.
    """
    status = getattr(error, "status_code", None)
    if status == 200 or type(error).__name__ == "APIError":   # said in the middle of a stream that had begun well
        return ModelError(f"{model.provider.name} broke the reply off: {_words_of(error, model)}. Try again.", may_pass=True)
    if status is not None:
        return ModelError(_refusal(error, status, model), status, may_pass=_passes(error, status))
    name, address = model.provider.name, shown_address(model.base_url)
    if _timed_out(error):
        return ModelError(f"{name} did not answer within {model.timeout:g} seconds. Try again, or pass timeout=.", may_pass=True)
    if name == "ollama":
        return ModelError(f"Ollama is not running at {address.removesuffix('/v1')}. Start it with `ollama serve`, "
                          f"then fetch a model with `ollama pull {model.name}`.")
    return ModelError(f"Could not reach {name} at {address}: the connection failed or broke off. "
                      "Check the network, then try again.", may_pass=True)


def no_chat_reply(model) -> ModelError:
    """What came back is no reply: a web page in place of JSON, or JSON of another shape."""
    return ModelError(f"{model.provider.name} answered with something that is not a chat reply. Try again; "
                      f"if it stays so, check the address: base_url is {shown_address(model.base_url)!r}.")


def broken_off(model) -> ModelError:
    """A streamed reply that has no end."""
    return ModelError(f"The reply of {model.provider.name} broke off before its end. Try again.", may_pass=True)


def _refusal(error, status: int, model) -> str:
    provider = model.provider
    if status in (401, 403):
        where = f"in {provider.key_variable}" if provider.key_variable else "that was sent"
        return f"{provider.name} refused the key {where}. Check it, or get a new one at {provider.key_page or 'its web page'}."
    if _is_about_money(error, status):
        return f"{provider.name} says that this account has no credit left. Add some, or use another provider."
    if status == 404:
        return f"{provider.name} has no model called {model.name!r} at {shown_address(model.base_url)}. {_other_model(model)}"
    if status == 429:
        return f"{provider.name} is getting too many requests from you.{_wait(error)} Nothing is lost: try again later."
    if status >= 500:
        return f"{provider.name} is overloaded or out of order (status {status}). Nothing is lost: try again later."
    return f"{provider.name} refused the request (status {status}): {_words_of(error, model)}"


def _is_about_money(error, status: int) -> bool:
    """A 429 can mean that the account is empty, which no waiting mends."""
    return status == 402 or "insufficient_quota" in (getattr(error, "code", None), getattr(error, "type", None))


def _passes(error, status: int) -> bool:
    return status in (408, 409, 429) and not _is_about_money(error, status) or status >= 500


def _other_model(model) -> str:
    if model.provider.name == "ollama":
        return f"Fetch it with `ollama pull {model.name}`, or pass model= with one that `ollama list` shows."
    return "Pass a name that it knows: model=..."


def _words_of(error, model) -> str:
    """What the API itself said about a bad request, on one line, without the key if it repeats it."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else {}
    words = str(inner.get("message", error) if isinstance(inner, dict) else inner)
    words = " ".join(words.replace(model.client.api_key, "(the key)").split())
    return words if len(words) <= MOST_WORDS else words[:MOST_WORDS] + " ..."


def _wait(error) -> str:
    seconds = asked_wait(error.response.headers)
    seconds = math.ceil(seconds) if 1 < seconds < math.inf else seconds
    return f" It asks to wait {seconds} seconds." if 0 < seconds < math.inf else ""


def _timed_out(error: BaseException | None) -> bool:
    while error is not None:
        if "Timeout" in type(error).__name__:
            return True
        error = error.__cause__
    return False


def shown_address(base_url: str) -> str:
    """The address without a user name, a password or a key that somebody may have put into it."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"

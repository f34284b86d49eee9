"""Where the network would be: an HTTP transport inside the real clients. No socket, no thread, no sleep."""
import json
import re

import httpx2

from agent_steps.practice import anthropic_wire, openai_wire
from agent_steps.practice.faults import check_faults, fault_for, strike_network, strike_reply
from agent_steps.practice.mind import decide
from agent_steps.practice.replies import think_aloud
from agent_steps.practice.request import Refused, Reply, Request

MODEL = "practice"


def practice_transport(faults=None, seed: int = 0, script: list[str] | None = None) -> httpx2.MockTransport:
    """Return a transport for ``httpx2.Client``: every request is answered by the practice model.

    faults, seed: see ``faults``. script: texts to answer with, the n-th on the n-th turn, for a demonstration or a test.
    Raises ValueError for a fault that there is not.
    """
    check_faults(faults)
    return httpx2.MockTransport(lambda http_request: answer(http_request, faults, seed, script))


def answer(http_request: httpx2.Request, faults=None, seed: int = 0, script: list[str] | None = None) -> httpx2.Response:
    """Answer one HTTP request in the format of the address that it was sent to."""
    wire = anthropic_wire if http_request.url.path.endswith("/messages") else openai_wire
    try:
        body, request = _read(http_request, wire)
        fault = fault_for(request, faults, seed)
        strike_network(fault)
        reply = strike_reply(fault, _scripted(request, script) or decide(request), request)
        reply = think_aloud(reply, request) if request.thinks else reply
        return _respond(wire, body, request, _limit(reply, request), fault)
    except Refused as refused:
        return httpx2.Response(refused.status, json=wire.write_error(refused), headers=refused.headers)


def _read(http_request: httpx2.Request, wire) -> tuple[dict, Request]:
    """The JSON that was sent, as it is and as a Request. Raises Refused for what is not of this format."""
    try:
        body = json.loads(http_request.content)
        if body.get("model") != MODEL:
            raise Refused(f"the model {body.get('model')!r} does not exist; this is the model {MODEL!r}", 404, "not_found_error")
        return body, wire.read_request(body, attempt=int(http_request.headers.get("x-stainless-retry-count", 0)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"the request is not of this format: {type(error).__name__} {error}") from None


def _scripted(request: Request, script: list[str] | None) -> Reply | None:
    if not script:
        return None
    return Reply(script[min(request.turn, len(script)) - 1])


def _limit(reply: Reply, request: Request) -> Reply:
    """Cut the text at a stop sequence or at the limit on its length, as the real APIs do. What would follow is not written.

    What was thought counts against the limit too, so there may be no room for an answer.
    """
    found = [(reply.text.find(sequence), sequence) for sequence in request.stop if sequence in reply.text]
    place, sequence = min(found, default=(len(reply.text), None))
    limit = max(4 * request.max_tokens - len(reply.thinking), 0) if request.max_tokens else len(reply.text)
    if limit < place or reply.thinking and not limit:
        thinking = reply.thinking[:4 * request.max_tokens]
        return Reply(reply.text[:limit], stop_reason="length", thinking=thinking)
    return Reply(reply.text[:place], stop_reason="stop_sequence", stopped_by=sequence, thinking=reply.thinking) if found else reply


def _respond(wire, body: dict, request: Request, reply: Reply, fault: str | None) -> httpx2.Response:
    usage = fault != "missing_usage"
    if not body.get("stream"):
        return httpx2.Response(200, json=wire.write_reply(reply, request, MODEL, usage))
    pieces = re.findall(r"\S*\s*", reply.text)[:-1]
    events = wire.write_stream(reply, request, MODEL, pieces, body, usage)
    headers = {"content-type": "text/event-stream"}
    if fault == "cut_stream":
        return httpx2.Response(200, headers=headers, stream=_CutStream(events[:len(events) // 2]))
    return httpx2.Response(200, headers=headers, content="".join(events).encode())


class _CutStream(httpx2.SyncByteStream):
    """A connection that breaks in the middle of a reply."""

    def __init__(self, events: list[str]):
        self.events = events

    def __iter__(self):
        for event in self.events:
            yield event.encode()
        raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")

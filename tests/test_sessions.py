"""Lesson 17: replies, sessions, and streams that are put together from their pieces, in two formats."""
import asyncio
import copy
import json
import threading
import time

import httpx2
import pytest
from loopback import Loopback, changed, refuse

from agent_steps.native_tools import anthropic_calls, anthropic_results, openai_calls, openai_results
from agent_steps.providers import ModelError, connect
from agent_steps.providers.clients import practice_client
from agent_steps.providers.formats import text_of, thinking_of
from agent_steps.sessions import ChatSession, Reply, Session, anthropic_pieces, ask, make_reply, openai_pieces

WIRES = ("openai", "anthropic")
PIECES = {"openai": openai_pieces, "anthropic": anthropic_pieces}
both_wires = pytest.mark.parametrize("wire", WIRES)
HELLO = "Hello. I am the practice model. Ask me what the lesson asks."
FILES = "How do I list the files in a folder in Python?"
QUESTION = {"role": "user", "content": "Hello"}
TASK = {"role": "user", "content": "List the files in data."}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = {"openai": [{"type": "function", "function": {"name": "list_files", "parameters": SCHEMA}}],
         "anthropic": [{"name": "list_files", "input_schema": SCHEMA}]}


EVENT_STREAM = {"content-type": "text/event-stream"}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """No proxy of the machine comes between the tests and the loopback server."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")


def session_with(wire, system_prompt="", **options):
    return ChatSession(connect("practice", wire=wire, **options), system_prompt)


def silent(*pieces, **how):
    """A `show` that shows nothing."""


def answering(wire, *responses):
    """A model whose real client gets these responses, one after another, and the list of what it sends."""
    model, waiting, sent = connect("practice", wire=wire), list(responses), []

    def respond(request):
        sent.append(json.loads(request.content))
        return waiting.pop(0)

    model.client = practice_client(wire, httpx2.MockTransport(respond), model.base_url, 0)
    return model, sent


def sse(*events):
    """A response that streams these: dicts, or texts as they are."""
    lines = []
    for event in events:
        kind = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        lines.append(f"{kind}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return httpx2.Response(200, headers=EVENT_STREAM, content="".join(lines).encode())


def chunk(finish_reason=None, **delta):
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def part(index, arguments="", **more):
    return {"index": index, **more, "function": {"arguments": arguments, **more.get("function", {})}}


def event(type, **fields):
    return {"type": type, **fields}


def anthropic_events(*blocks, stop_reason="end_turn"):
    """The events of a message. blocks: pairs of how a block begins and its deltas."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events = [event("message_start", message=message)]
    for index, (begin, deltas) in enumerate(blocks):
        events += [event("content_block_start", index=index, content_block=begin), *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
                   event("content_block_stop", index=index)]
    return [*events, event("message_delta", delta={"stop_reason": stop_reason, "stop_sequence": None}, usage={"output_tokens": 7}), event("message_stop")]


def text_block(*pieces):
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]


def call_block(id, name, *pieces):
    return {"type": "tool_use", "id": id, "name": name, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def put_together(wire, chunks):
    """The pieces of text, and the message."""
    message = {}
    return list(PIECES[wire](iter(chunks), message)), message


def in_pieces(text, *places):
    bounds = [0, *places, len(text)]
    return [text[start:end] for start, end in zip(bounds, bounds[1:])]


# ---- replies ----

@both_wires
def test_a_reply_says_what_a_text_does_not(wire):
    reply = session_with(wire).chat("Hello")
    assert isinstance(reply, Reply)
    assert (reply.content, reply.thinking, reply.finish_reason, reply.model) == (HELLO, "", "stop", "practice")
    assert (reply.usage["input_tokens"], reply.usage["output_tokens"]) == (2, 15)
    assert str(reply) == HELLO
    assert [message["role"] for message in reply.history] == ["user", "assistant"]


@pytest.mark.parametrize(("wire", "theirs", "ours"), [
    ("openai", "stop", "stop"), ("openai", "length", "length"), ("openai", "tool_calls", "tool"), ("openai", "content_filter", "filter"), ("openai", "tired", "other"),
    ("openai", None, "other"), ("anthropic", "end_turn", "stop"), ("anthropic", "stop_sequence", "stop"), ("anthropic", "max_tokens", "length"),
    ("anthropic", "tool_use", "tool"), ("anthropic", "refusal", "filter"), ("anthropic", "pause_turn", "other"), ("anthropic", None, "other"),
])
def test_every_finish_reason_becomes_one_word(wire, theirs, ours):
    def change(whole):
        if wire == "openai":
            whole["choices"][0]["finish_reason"] = theirs
        else:
            whole["stop_reason"] = theirs
    with Loopback() as server:
        server.queue(changed(change))
        assert ask(connect(wire, "m", api_key="k", base_url=server.base_url(wire)), "Hello").finish_reason == ours


@both_wires
def test_a_streamed_reply_has_the_same_finish_reason(wire):
    for options, reason in [({}, "stop"), ({"max_tokens": 8}, "length"), ({"stop": "practice"}, "stop")]:
        session = session_with(wire, **options)
        session.stream("Hello", show=silent)
        assert session.last_reply.finish_reason == session.chat("Hello").finish_reason == reason


@pytest.mark.parametrize("message", [
    {"role": "assistant", "content": "4", "reasoning_content": "2 and 2", "reasoning": "not this"}, {"role": "assistant", "content": "4", "reasoning": "2 and 2"},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "2 and 2", "signature": "s"}, {"type": "text", "text": "4"}]},
    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "thinking", "thinking": "2 and 2"}, {"type": "text", "text": "4"}]},
])
def test_thinking_is_read_from_all_three_places_and_is_no_part_of_the_answer(message):
    reply = make_reply(connect(), message, [])
    assert (reply.content, reply.thinking) == ("4", "2 and 2")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_comes_through_the_real_client(field):
    with Loopback() as server:
        server.queue(changed(lambda whole: whole["choices"][0]["message"].update({field: "A greeting."})))
        reply = ask(connect("openai", "m", api_key="k", base_url=server.base_url("openai")), "Hello")
    assert (reply.content, reply.thinking) == (HELLO, "A greeting.")


def test_thinking_blocks_come_through_the_real_client():
    block = {"type": "thinking", "thinking": "A greeting.", "signature": "s"}
    with Loopback() as server:
        server.queue(changed(lambda whole: whole["content"].insert(0, block)))
        reply = ask(connect("anthropic", "m", api_key="k", base_url=server.base_url("anthropic")), "Hello")
    assert (reply.content, reply.thinking, reply.history[-1]["content"][0]) == (HELLO, "A greeting.", block)


@both_wires
def test_one_question_alone_takes_a_system_prompt_and_parameters(wire):
    reply = ask(connect("practice", wire=wire), "Hello", "Write in capitals.", max_tokens=8)
    assert (reply.content, reply.finish_reason, len(reply.history)) == (HELLO.upper()[:32], "length", 2)


# ---- sessions ----

@both_wires
def test_a_session_remembers_and_sends_the_system_prompt_every_time(wire):
    session = session_with(wire, "Write in capitals.")
    assert session.chat("My name is Ada.").content == "NICE TO MEET YOU, ADA."
    assert session.chat("What is my name?").content == "YOUR NAME IS ADA."
    assert [message["role"] for message in session.history] == ["user", "assistant"] * 2
    assert session.last_reply.history is session.history


@both_wires
def test_the_last_turn_is_none_before_the_first_and_the_answer_after_it(wire):
    session = session_with(wire)
    assert session.last_turn is None and session.last_reply is None
    session.chat("Hello")
    assert session.last_turn == {"role": "assistant", "text": HELLO}


@both_wires
def test_clear_forgets_all_but_the_system_prompt(wire):
    session = session_with(wire, "Write in capitals.")
    before = session.chat("My name is Ada.")
    session.clear()
    assert (session.history, session.last_turn, session.last_reply) == ([], None, None)
    assert session.chat("What is my name?").content == "YOU HAVE NOT TOLD ME YOUR NAME, AS FAR AS I CAN SEE."
    assert len(before.history) == 2   # what was said stays with the Reply


@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@both_wires
def test_parameters_reach_the_request(wire, way):
    session = session_with(wire)
    assert say(session, way, "Hello", max_tokens=8) == HELLO[:32]
    assert session.last_reply.finish_reason == "length"


def say(session, way, text, **parameters):
    """Say something in one of the four ways, and return the text of the reply."""
    async def pieces():
        return "".join([piece async for piece in session.stream_async(text, **parameters)])

    if way == "chat":
        return session.chat(text, **parameters).content
    if way == "stream":
        return session.stream(text, show=silent, **parameters)
    if way == "chat_async":
        return asyncio.run(session.chat_async(text, **parameters)).content
    return asyncio.run(pieces())


@both_wires
def test_all_four_ways_say_and_remember_the_same(wire):
    sessions = {way: session_with(wire) for way in ("chat", "stream", "chat_async", "stream_async")}
    for text in ("My name is Ada.", FILES, "What is my name?"):
        assert len({say(session, way, text) for way, session in sessions.items()}) == 1
    for session in sessions.values():
        assert [(message["role"], text_of(message)) for message in session.history] == [
            (message["role"], text_of(message)) for message in sessions["chat"].history]
        assert session.last_reply.usage == sessions["chat"].last_reply.usage
        assert session.model.usage == sessions["chat"].model.usage


def test_a_stream_is_printed_as_it_comes_and_its_line_is_ended(capsys):
    shown = []
    text = session_with("openai").stream("Hello", show=lambda *pieces, **how: shown.append((*pieces, how)))
    assert shown[:2] == [("Hello. ", {"end": "", "flush": True}), ("I ", {"end": "", "flush": True})]
    assert shown[-1] == ({},) and text == HELLO
    session_with("openai").stream("Hello")
    assert capsys.readouterr().out == HELLO + "\n"


@both_wires
def test_both_formats_keep_what_they_can_send_back(wire):
    session = session_with(wire)
    session.stream("My name is Ada.", show=silent)
    assert session.chat("What is my name?").content == "Your name is Ada."
    assert session.stream("What is my name?", show=silent) == "Your name is Ada."


@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@both_wires
def test_an_empty_reply_can_be_gone_on_from(wire, way):
    session = session_with(wire, faults={1: "silence"})
    assert say(session, way, "My name is Ada.") == ""
    assert session.history[-1] == {"role": "assistant", "content": "(empty reply)"}
    assert say(session, way, "What is my name?") == "Your name is Ada."


# ---- failures ----

@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@pytest.mark.parametrize("fault", ["always overload", "always rate_limit", "wrong_key"])
@both_wires
def test_a_request_that_fails_leaves_the_session_as_it_was_and_it_goes_on(wire, fault, way):
    session = session_with(wire)
    session.chat("My name is Ada.")
    well, before = session.model, (copy.deepcopy(session.history), session.last_reply)
    session.model = connect("practice", wire=wire, faults=fault)
    with pytest.raises(ModelError):
        say(session, way, "Delete everything.")
    assert (session.history, session.last_reply) == before
    assert session.model.usage.calls == 0 and session.model.usage.output_tokens == 0   # nothing was used
    session.model = well
    assert say(session, way, "What is my name?") == "Your name is Ada."


@pytest.mark.parametrize("way", ["stream", "stream_async"])
@both_wires
def test_a_stream_that_breaks_leaves_the_session_as_it_was_and_it_goes_on(wire, way):
    session = session_with(wire, faults={2: "cut_stream"})
    session.chat("My name is Ada.")
    before = copy.deepcopy(session.history)
    with pytest.raises(ModelError, match="broke off"):
        say(session, way, FILES)
    assert session.history == before and session.last_turn["text"] == "Nice to meet you, Ada."
    assert session.model.usage.output_tokens is None   # nobody knows what it cost
    session.model = connect("practice", wire=wire)
    assert say(session, way, "What is my name?") == "Your name is Ada."


@both_wires
def test_what_came_before_a_break_is_shown_and_the_line_is_ended(wire, capsys):
    with pytest.raises(ModelError):
        session_with(wire, faults="cut_stream").stream(FILES)
    shown = capsys.readouterr().out
    assert shown.startswith("Use pathlib: ") and shown.endswith(" \n")


HALF = {"openai": [chunk(content="Hel"), chunk(content="lo.")], "anthropic": anthropic_events(text_block("Hel", "lo."))[:4]}


@pytest.mark.parametrize("events", [1, 2, 4])
@both_wires
def test_a_stream_that_is_closed_politely_in_the_middle_is_broken_all_the_same(wire, events):
    session = ChatSession(answering(wire, sse(*HALF[wire][:events]))[0])
    with pytest.raises(ModelError, match="broke off before its end. Try again.") as caught:
        session.stream("Hello", show=silent)
    assert session.history == [] and caught.value.may_pass


NO_STREAM = [httpx2.Response(200, headers={"content-type": "text/html"}, content=b"<html><p>Log in: here</p></html>"),
             httpx2.Response(200, json={"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}]}),
             httpx2.Response(200, headers=EVENT_STREAM, content=b"")]


@pytest.mark.parametrize("response", NO_STREAM, ids=["a web page", "a whole reply", "nothing"])
@both_wires
def test_an_answer_that_is_no_stream_at_all_is_told_with_the_address(wire, response):
    session = ChatSession(answering(wire, httpx2.Response(200, headers=response.headers, content=response.content))[0])
    with pytest.raises(ModelError, match="not a chat reply.*check the address"):
        session.stream("Hello", show=silent)
    assert session.history == [] and session.model.usage.calls == 1


def odd_delta(delta):
    return event("content_block_delta", index=0, delta=delta)


ODD = [("openai", chunk(content=[{"type": "text", "text": "Hello."}])), ("openai", chunk(tool_calls=[part(0, function={"name": "f", "arguments": {"path": "a"}})])),
       ("openai", chunk(reasoning=["A greeting."])), ("openai", chunk(tool_calls=["f"])), ("openai", chunk(tool_calls=[part(0), part("a")])),
       ("anthropic", odd_delta({"type": "text_delta", "text": "Hel"})), ("anthropic", event("content_block_start", index=0)),
       ("anthropic", event("content_block_start", index=0, content_block="text"))]


@pytest.mark.parametrize(("wire", "odd"), ODD)
def test_a_chunk_of_another_shape_is_a_model_error_and_leaves_the_session_as_it_was(wire, odd):
    whole = WHOLE[wire]
    for way in ("stream", "stream_async"):
        session = ChatSession(answering(wire, sse(whole[0], odd, *whole[1:]))[0])
        with pytest.raises(ModelError, match="not a chat reply"):
            say(session, way, "Hello")
        assert session.history == [] and session.last_reply is None


def test_a_delta_without_its_text_changes_nothing():
    odd = [odd_delta({"type": "text_delta"}), odd_delta({"type": "text_delta", "text": None}), odd_delta({"type": "input_json_delta", "partial_json": None})]
    events = anthropic_events(text_block("Hel", "lo."))
    pieces, message = put_together("anthropic", [*events[:3], *odd, *events[3:]])
    assert (pieces, text_of(message)) == (["Hel", "lo."], "Hello.")


@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@both_wires
def test_a_parameter_that_the_client_does_not_know_is_not_blamed_on_the_reply(wire, way):
    with pytest.raises(TypeError, match="colour"):
        say(session_with(wire), way, "Hello", colour="red")


@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@both_wires
def test_tools_are_refused_in_a_session_and_it_goes_on(wire, way):
    session = session_with(wire)
    with pytest.raises(TypeError, match="call_with_tools"):
        say(session, way, "List the files in data.", tools=TOOLS[wire])
    with pytest.raises(TypeError, match="stream="):
        session.chat("Hello", stream=True)
    assert session.history == [] and session.model.usage.calls == 0
    assert say(session, way, "Hello") == HELLO


@both_wires
def test_one_question_alone_may_come_with_tools_and_keeps_the_call(wire):
    model = connect("practice", wire=wire)
    reply = ask(model, TASK["content"], tools=TOOLS[wire])
    read = {"openai": openai_calls, "anthropic": anthropic_calls}[wire]
    assert reply.finish_reason == "tool" and [call.name for call in read(reply.history[-1], set())] == ["list_files"]
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"openai": {"role": "assistant", "content": None, "tool_calls": [call]},
               "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]}}[wire]
    model.stop_reason, session = "tool_calls", Session(model)
    assert session.keep(model, "Hello", message).history[-1] == message   # no text, but not empty


def test_a_refusal_is_a_filter_whatever_the_service_calls_it():
    events = [chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"), "[DONE]"]
    session = ChatSession(answering("openai", sse(*events))[0])
    assert list(session.pieces("Hello")) == [] and session.last_reply.finish_reason == "filter"


@pytest.mark.parametrize("wire, error", [
    ("openai", {"error": {"message": "Overloaded", "type": "server_error", "code": 500}}),
    ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
])
def test_an_error_that_a_service_sends_in_the_middle_is_told_in_its_own_words(wire, error):
    session = ChatSession(answering(wire, sse(*HALF[wire], error))[0])
    with pytest.raises(ModelError, match="^practice broke the reply off: Overloaded. Try again.$") as caught:
        session.stream("Hello", show=silent)
    assert session.history == [] and caught.value.may_pass


@pytest.mark.parametrize("rubbish", ["{broken", "[1]", "7", "null"])
@both_wires
def test_rubbish_in_the_middle_is_a_model_error(wire, rubbish):
    data = f"event: content_block_delta\ndata: {rubbish}\n\n" if wire == "anthropic" else f"data: {rubbish}\n\n"
    response = sse(*HALF[wire])
    response = httpx2.Response(200, headers=EVENT_STREAM, content=response.content + data.encode())
    session = ChatSession(answering(wire, response)[0])
    with pytest.raises(ModelError):
        session.stream("Hello", show=silent)
    assert session.history == []


@both_wires
def test_ctrl_c_in_the_middle_of_a_stream_leaves_the_session_as_it_was(wire):
    session = session_with(wire)
    session.chat("My name is Ada.")
    before = copy.deepcopy(session.history)

    def show(piece="", **how):
        if piece == "`sorted(path.name ":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.stream(FILES, show=show)
    assert session.history == before
    assert session.stream("What is my name?", show=silent) == "Your name is Ada."


@both_wires
def test_a_reader_who_stops_early_leaves_the_history_as_it_was(wire):
    session = session_with(wire)
    pieces = session.pieces("Hello")
    assert next(pieces) == "Hello. "
    pieces.close()
    assert session.history == [] and session.model.usage.calls == 1   # what was sent is counted
    assert session.chat("Hello").content == HELLO
    assert session.model.usage.output_tokens is None   # the total is unknown for good


@both_wires
def test_a_reader_who_leaves_after_the_last_piece_has_not_let_it_be_remembered(wire):
    session, shown = session_with(wire), ""
    for piece in session.pieces("Hello"):
        shown += piece
        if shown == HELLO:
            break
    assert shown == HELLO and session.history == []


@both_wires
def test_an_app_that_stops_reading_early_leaves_the_history_as_it_was(wire):
    session = session_with(wire)

    async def read_a_little():
        stream = session.stream_async("Hello")
        async for piece in stream:
            break
        await stream.aclose()
        await asyncio.sleep(0.05)
        return piece

    assert asyncio.run(read_a_little()) == "Hello. " and session.history == []
    assert say(session, "stream_async", "Hello") == HELLO


class Slowly(httpx2.SyncByteStream):
    """A body that takes its time before each event."""

    def __init__(self, body, seconds):
        self.body, self.seconds = body, seconds

    def __iter__(self):
        for line in self.body.splitlines(keepends=True):
            time.sleep(self.seconds if line.startswith(b"data") else 0)
            yield line


WHOLE = {"openai": [*HALF["openai"], chunk("stop"), "[DONE]"], "anthropic": anthropic_events(text_block("Hel", "lo."))}


@pytest.mark.parametrize("way", ["chat_async", "stream_async"])
@both_wires
def test_an_app_that_gives_up_waiting_leaves_the_history_as_it_was_for_good(wire, way):
    session = session_with(wire)
    release = threading.Event()
    name = "native_reply" if way == "chat_async" else "native_chunks"
    real = getattr(session.model, name)

    def late(*given, **parameters):
        release.wait(5)
        return real(*given, **parameters)

    setattr(session.model, name, late)

    async def give_up():
        stream = session.stream_async("Hello")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.chat_async("Hello") if way == "chat_async" else anext(stream), 0.05)
        release.set()
        await asyncio.sleep(0.1)

    asyncio.run(give_up())
    assert session.history == []


@both_wires
def test_an_app_that_gives_up_during_the_end_leaves_the_history_as_it_was_for_good(wire):
    ended = threading.Event()

    class LateEnd(httpx2.SyncByteStream):
        def __iter__(self):
            *lines, end = sse(*WHOLE[wire]).content.strip().rsplit(b"\n\n", 2 if wire == "anthropic" else 1)
            yield b"\n\n".join(lines) + b"\n\n"
            ended.wait(5)
            yield end + b"\n\n"

    session, read = ChatSession(answering(wire, httpx2.Response(200, headers=EVENT_STREAM, stream=LateEnd()))[0]), []
    real, over = session.model.native_chunks, threading.Event()

    def watched(*given, **parameters):
        yield from real(*given, **parameters)
        over.set()

    session.model.native_chunks = watched

    async def read_all():
        async for piece in session.stream_async("Hello"):
            read.append(piece)

    async def give_up():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(read_all(), 0.5)
        ended.set()
        assert await asyncio.to_thread(over.wait, 5)   # the thread has read the stream to its end
        await asyncio.sleep(0.05)

    asyncio.run(give_up())
    assert read == ["Hel", "lo."] and session.history == [] and session.last_reply is None


@both_wires
def test_others_work_while_an_app_waits_for_a_piece(wire):
    whole = sse(*WHOLE[wire])
    session = ChatSession(answering(wire, httpx2.Response(200, headers=EVENT_STREAM, stream=Slowly(whole.content, 0.05)))[0])

    async def main():
        ticks, done = 0, asyncio.create_task(read())
        while not done.done():
            await asyncio.sleep(0.005)
            ticks += 1
        return ticks, await done

    async def read():
        return [piece async for piece in session.stream_async("Hello")]

    ticks, pieces = asyncio.run(main())
    assert pieces == ["Hel", "lo."] and ticks > 5


# ---- several at once ----

@both_wires
def test_two_streams_of_one_model_do_not_mix(wire):
    model = connect("practice", wire=wire)
    short, long = ChatSession(model), ChatSession(model)
    first, second = short.pieces("Hello", max_tokens=8), long.pieces(FILES)
    shown = ([], [])
    for _ in range(20):
        shown[0].extend([next(first, "")])
        shown[1].extend([next(second, "")])
    assert "".join(shown[0]) == HELLO[:32] == short.last_turn["text"] and "".join(shown[1]) == long.last_turn["text"]
    assert (short.last_reply.finish_reason, long.last_reply.finish_reason) == ("length", "stop")
    assert (short.last_reply.usage["input_tokens"], short.last_reply.usage["output_tokens"]) == (2, 8)
    assert (long.last_reply.usage["input_tokens"], long.last_reply.usage["output_tokens"]) == (12, 26)
    assert (model.usage.calls, model.usage.output_tokens) == (2, 34)


@both_wires
def test_sessions_that_wait_at_the_same_time_keep_apart(wire):
    model = connect("practice", wire=wire)
    names = ["Ada", "Bob", "Cleo", "Dan"]
    sessions = [ChatSession(model) for _ in names]

    async def both():
        await asyncio.gather(*(session.chat_async(f"My name is {name}.") for session, name in zip(sessions, names)))
        return await asyncio.gather(*(say_stream(session) for session in sessions))

    async def say_stream(session):
        return "".join([piece async for piece in session.stream_async("What is my name?")])

    assert asyncio.run(both()) == [f"Your name is {name}." for name in names]
    assert [len(session.history) for session in sessions] == [4] * 4
    assert model.usage.calls == 8


# ---- usage ----

@both_wires
def test_the_usage_of_a_stream_is_that_of_the_whole_reply(wire):
    for text in ("Hello", FILES):
        streamed, whole = session_with(wire), session_with(wire)
        streamed.stream(text, show=silent)
        assert streamed.last_reply.usage == whole.chat(text).usage
        assert streamed.model.usage == whole.model.usage


@pytest.mark.parametrize("way", ["chat", "stream"])
@both_wires
def test_usage_that_nobody_reports_is_unknown_and_not_0(wire, way):
    session = session_with(wire, faults="missing_usage")
    say(session, way, "Hello")
    assert session.last_reply.usage["input_tokens"] is session.last_reply.usage["cost"] is None
    assert (session.model.usage.calls, session.model.usage.input_tokens, session.model.usage.output_tokens) == (1, None, None)


# ---- pieces ----

@both_wires
def test_the_pieces_are_the_whole_and_several(wire):
    pieces, message = put_together(wire, connect("practice", wire=wire).native_chunks([QUESTION]))
    assert len(pieces) > 5 and "".join(pieces) == text_of(message) == HELLO


@pytest.mark.parametrize("fault", [None, "two_calls"])
@both_wires
def test_a_streamed_message_with_calls_is_the_whole_one_and_can_be_sent_back(wire, fault):
    model = connect("practice", wire=wire, faults={1: fault} if fault else None)
    whole = model.native_reply([TASK], TOOLS[wire])
    pieces, message = put_together(wire, model.native_chunks([TASK], TOOLS[wire]))
    assert message == {name: value for name, value in whole.items() if value is not None}
    assert "".join(pieces) == text_of(whole) != ""
    read, results = {"openai": (openai_calls, openai_results), "anthropic": (anthropic_calls, anthropic_results)}[wire]
    calls = read(message, set())
    assert len(calls) == (2 if fault else 1) and not any(call.problem for call in calls)
    answers = results([(call, "data/penguins.csv") for call in calls])
    assert "penguins.csv" in text_of(model.native_reply([TASK, message, *answers], TOOLS[wire]))


def with_the_helper(wire, response, tools):
    """What the SDK's own helper puts together: the text and the calls."""
    model, _ = answering(wire, response)
    if wire == "openai":
        with model.client.chat.completions.stream(model="m", messages=[TASK], tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        return message.content or "", [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
    with model.client.messages.stream(model="m", max_tokens=100, messages=[TASK], tools=tools) as stream:
        content = stream.get_final_message().content
    return "".join(block.text for block in content if block.type == "text"), [(block.id, block.name, block.input) for block in content if block.type == "tool_use"]


def by_hand(wire, response):
    """The same of what this lesson puts together."""
    model, _ = answering(wire, response)
    _, message = put_together(wire, model.native_chunks([TASK]))
    read = {"openai": openai_calls, "anthropic": anthropic_calls}[wire]
    return text_of(message), [(call.id, call.name, call.arguments) for call in read(message, set())]


ARGUMENTS = '{"path": "d\\u00e4ta \\"a\\".csv", "content": "é {}"}'


@pytest.mark.parametrize("place", range(len(ARGUMENTS) + 1))
@both_wires
def test_arguments_may_be_torn_anywhere_as_the_sdks_helper_has_it(wire, place):
    torn = in_pieces(ARGUMENTS, place)
    if wire == "openai":
        first = part(0, torn[0], id="call_1", type="function", function={"name": "write_file"})
        events = [chunk(role="assistant", content="I look."), chunk(tool_calls=[first]), chunk(tool_calls=[part(0, torn[1])]), chunk("tool_calls"), "[DONE]"]
    else:
        events = anthropic_events(text_block("I ", "look."), call_block("call_1", "write_file", *torn), stop_reason="tool_use")
    assert by_hand(wire, sse(*events)) == with_the_helper(wire, sse(*events), TOOLS[wire]) == (
        "I look.", [("call_1", "write_file", {"path": 'däta "a".csv', "content": "é {}"})])


def test_two_calls_in_turns_are_told_apart_by_their_index():
    begin = [part(index, id=f"c{index}", type="function", function={"name": name}) for index, name in enumerate(("read_file", "list_files"))]
    turns = [chunk(tool_calls=[part(index, piece)]) for pieces in zip(in_pieces('{"path": "a"}', 3, 7), in_pieces('{"path": "b"}', 1, 9)) for index, piece in enumerate(pieces)]
    both = [chunk(role="assistant", content=None), *(chunk(tool_calls=[each]) for each in begin), *turns, chunk("tool_calls"), "[DONE]"]
    expected = ("", [("c0", "read_file", {"path": "a"}), ("c1", "list_files", {"path": "b"})])
    assert by_hand("openai", sse(*both)) == with_the_helper("openai", sse(*both), TOOLS["openai"]) == expected
    backwards = [chunk(tool_calls=[begin[1]]), chunk(tool_calls=[begin[0]]), *turns, chunk("tool_calls"), "[DONE]"]
    assert by_hand("openai", sse(*backwards)) == expected


@pytest.mark.parametrize("index", [0, None])
def test_calls_that_share_an_index_or_have_none_are_told_apart_by_their_ids(index):
    parts = [part(index, '{"path": "a"}', id="c1", function={"name": "read_file"}), part(index, '{"path"', id="c2", function={"name": "list_files"}),
             part(index, ': "b"}'), part(index, "", id="c2"), part(index, "{}", id="c3", function={"name": "f"})]
    if index is None:
        parts = [{name: value for name, value in each.items() if name != "index"} for each in parts]
    for chunks in ([chunk(tool_calls=[each]) for each in parts], [chunk(tool_calls=parts)]):
        _, message = put_together("openai", chunks)
        assert [(call.id, call.name, call.arguments) for call in openai_calls(message, set())] == [
            ("c1", "read_file", {"path": "a"}), ("c2", "list_files", {"path": "b"}), ("c3", "f", {})]


def test_text_before_between_and_after_calls_is_kept_in_its_place():
    blocks = [text_block("a", "b"), call_block("c1", "f", '{"x"', ": 1}"), text_block("c"), call_block("c2", "g"), text_block("d")]
    pieces, message = put_together("anthropic", anthropic_events(*blocks))
    assert pieces == ["a", "b", "c", "d"]
    assert message["content"] == [{"type": "text", "text": "ab"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}, {"type": "text", "text": "c"},
                                  {"type": "tool_use", "id": "c2", "name": "g", "input": {}}, {"type": "text", "text": "d"}]
    call = chunk(tool_calls=[part(0, "{}", id="c1", function={"name": "f"})])
    pieces, message = put_together("openai", [chunk(content="a"), call, chunk(content="b")])
    assert pieces == ["a", "b"] and message["content"] == "ab" and len(message["tool_calls"]) == 1


@pytest.mark.parametrize("odd", [
    {"choices": []}, {"choices": None}, {}, {"choices": [{"index": 0, "delta": {}}]}, {"choices": [{"index": 0, "delta": None}]}, {"choices": [{"index": 0}]},
    {"choices": [{"delta": {"content": None, "tool_calls": None}}]}, {"choices": [{"delta": {"content": "", "tool_calls": []}}]},
    {"choices": [{"delta": {"role": "assistant"}}]},
])
def test_chunks_without_anything_new_change_nothing(odd):
    chunks = [odd, chunk(content="Hel"), odd, chunk(content="lo."), odd]
    assert put_together("openai", chunks) == (["Hel", "lo."], {"role": "assistant", "content": "Hello."})


def test_events_without_anything_new_change_nothing():
    events = anthropic_events(text_block("", "Hel", "lo.", ""))
    odd = [event("ping"), event("news"), event("content_block_delta", index=0, delta={"type": "citations_delta", "citation": {}})]
    assert put_together("anthropic", [*events[:3], *odd, *events[3:]]) == (["Hel", "lo."], {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]})


def test_an_id_and_a_name_may_come_late_or_never():
    parts = [part(0, "{", function={"name": None}), part(0, id="c1", function={"name": "list_"}), part(0, function={"name": "files"}),
             {"index": 0, "id": "c1"}, {"index": 0, "function": None}, part(None, "}")]
    _, message = put_together("openai", [chunk(tool_calls=[each]) for each in parts])
    assert message["tool_calls"] == [{"id": "c1", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}]
    _, message = put_together("openai", [chunk(tool_calls=[part(0, "{}")])])
    assert [(call.id, call.problem is None) for call in openai_calls(message, set())] == [("call_1", False)]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_comes_in_pieces_too_and_is_not_shown(field):
    events = [chunk(**{field: "A "}), chunk(**{field: "greeting."}), chunk(content="Hello."), chunk("stop"), "[DONE]"]
    session = ChatSession(answering("openai", sse(*events))[0])
    assert list(session.pieces("Hello")) == ["Hello."]
    assert (session.last_reply.content, session.last_reply.thinking) == ("Hello.", "A greeting.")


def test_thinking_blocks_come_in_pieces_and_keep_their_signature():
    deltas = [{"type": "thinking_delta", "thinking": "A "}, {"type": "thinking_delta", "thinking": "greeting."}, {"type": "signature_delta", "signature": "abc"}]
    events = anthropic_events(({"type": "thinking", "thinking": "", "signature": ""}, deltas), ({"type": "redacted_thinking", "data": "x"}, []), text_block("Hello."))
    model, sent = answering("anthropic", sse(*events), sse(*events))
    session = ChatSession(model)
    assert list(session.pieces("Hello")) == ["Hello."]
    assert thinking_of(session.history[-1]) == session.last_reply.thinking == "A greeting."
    list(session.pieces("Hello"))
    assert sent[1]["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "A greeting.", "signature": "abc"}, {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hello."}]


def test_putting_events_together_changes_none_of_them():
    events = anthropic_events(text_block("Hel", "lo."), call_block("c1", "f", '{"x": 1}'))
    before = copy.deepcopy(events)
    assert put_together("anthropic", events) == put_together("anthropic", events)
    assert events == before


@pytest.mark.parametrize("written", ['{"path": "a.t', '{"path": ', "[1]", "{} {}"])
def test_a_call_that_was_cut_off_does_not_break_the_stream_and_is_told_to_the_model(written):
    events = anthropic_events(call_block("c1", "read_file", written), stop_reason="max_tokens")
    _, message = put_together("anthropic", answering("anthropic", sse(*events))[0].native_chunks([TASK]))
    [call] = anthropic_calls(message, set())
    assert call.problem and message["content"][0]["input"] == {}


@both_wires
def test_half_a_character_in_a_stream_is_mended_before_it_is_shown_or_sent_back(wire):
    pieces = ("a\ud83d", " b")
    events = [chunk(content=pieces[0]), chunk(content=pieces[1]), chunk("stop"), "[DONE]"] if wire == "openai" else anthropic_events(text_block(*pieces))
    session = ChatSession(answering(wire, sse(*events))[0])
    assert session.stream("Hello", show=silent) == "a? b"
    json.dumps(session.history, ensure_ascii=False).encode()


# ---- over a real connection ----

@pytest.mark.parametrize("way", ["chat", "stream", "chat_async", "stream_async"])
@both_wires
def test_a_session_over_a_real_connection(wire, way):
    with Loopback() as server:
        session = ChatSession(connect(wire, "m", api_key="k", base_url=server.base_url(wire), max_retries=0), "Be kind.")
        assert say(session, way, "My name is Ada.") == "Nice to meet you, Ada."
        server.queue(refuse(500))
        with pytest.raises(ModelError):
            say(session, way, "Delete everything.")
        assert say(session, way, "What is my name?") == "Your name is Ada."
        sent = server.requests[-1].body
    assert ("stream" in sent) == way.startswith("stream")
    assert [message["content"] for message in sent["messages"] if message["role"] == "user"] == ["My name is Ada.", "What is my name?"]
    assert "Be kind." in json.dumps(sent)


def test_a_session_that_only_chats_has_the_same_memory():
    session = Session(connect())
    session.chat("My name is Ada.")
    assert session.chat("What is my name?").content == "Your name is Ada."

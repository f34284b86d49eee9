"""The exercises of lesson 17."""
import copy
import itertools
import json
from types import SimpleNamespace

from agent_steps.classroom.checks import NotYet, want


def _reply(content, finish_reason, thinking=""):
    return SimpleNamespace(content=content, thinking=thinking, finish_reason=finish_reason, model="practice", usage={}, history=[])


def exercise_1(is_whole):
    """is_whole(reply): whether the text of a Reply can be taken for a complete answer."""
    for reply, right, why in [
        (_reply("Hello.", "stop"), True, "A reply that ended by itself and says something is complete."),
        (_reply("Hello", "stop"), True, "Its text need not end with a full stop."),
        (_reply("Hello. I am the practice model. ", "length"), False, "It was cut off at the limit."),
        (_reply("I look.", "tool"), False, "It stopped for a tool call: the answer is still to come."),
        (_reply("I", "filter"), False, "A filter held it back."),
        (_reply("Hello.", "other"), False, "Nobody knows why it ended."),
        (_reply("", "stop"), False, "It says nothing."),
        (_reply(" \n", "stop", "2 and 2."), False, "It says nothing: space is no answer, and a thought is none."),
    ]:
        came = is_whole(reply)
        want(came is not None and came is not ..., "is_whole gave back nothing. Return True or False.")
        want(isinstance(came, bool), f"is_whole gave back {came!r}. Return True or False.")
        want(came is right, f"For the content {reply.content!r} and the finish reason {reply.finish_reason!r} it says {came}. {why}")


TEXT = "Use pathlib: it gives the names in the current folder.\nThen sort them, and print one name on each line, please."


def exercise_2(in_lines):
    """in_lines(pieces): lines of 40 characters, each as soon as it is full."""
    right = [TEXT[:40], TEXT[40:80], TEXT[80:]]
    for size, what in [(5, "short"), (40, "40 characters long"), (100, "longer than a line"), (1, "single characters")]:
        _compare(in_lines, [TEXT[start:start + size] for start in range(0, len(TEXT), size)], right, f"pieces that are {what}")
    _compare(in_lines, ["a" * 30, "", "a" * 50], ["a" * 40, "a" * 40], "80 characters and an empty piece")
    _compare(in_lines, [], [], "a stream without pieces")
    _at_once(in_lines, [TEXT[:30], TEXT[30:60], TEXT[60:]], 2)
    _at_once(in_lines, [TEXT[:40], TEXT[40:]], 1)


def _at_once(in_lines, pieces, needed):
    taken = []
    first = next(iter(in_lines(taken.append(piece) or piece for piece in pieces)), None)
    want(first == TEXT[:40], f"The first line is {first!r}, not {TEXT[:40]!r}.")
    lengths = " and ".join(str(len(piece)) for piece in pieces[:needed])
    want(len(taken) == needed, f"After pieces of {lengths} characters the first line is full, but {len(taken)} pieces were taken before it came. "
                               "Yield a line as soon as it is full.")


def _compare(in_lines, pieces, right, what):
    came = in_lines(iter(pieces))
    want(came is not None and came is not ..., "in_lines gave back nothing. yield makes it a generator.")
    want(hasattr(came, "__iter__") and not isinstance(came, str), f"in_lines gave back {came!r}. yield makes it a generator.")
    came = list(itertools.islice(came, 500))   # a generator may never end
    want(all(isinstance(line, str) for line in came), "A line is a text.")
    long = [line for line in came if len(line) > 40]
    want(not long, f"From {what}: a line has {len(long[0]) if long else 0} characters. 40 is the most.")
    want("".join(came) == "".join(right), f"From {what}: the lines together are {''.join(came)!r}, but the pieces are {''.join(right)!r}.")
    want(came == right, f"From {what}: the lines are {came}. Each has 40 characters, but for the last, and none is empty.")


def _chunk(**delta):
    return {"choices": [{"index": 0, "delta": delta}]}


def _part(index, arguments, **more):
    return {"index": index, "function": {"arguments": arguments, **more.pop("function", {})}, **more}


CALLS = [("write_file", {"path": "a.txt", "content": 'He said: "{}"'}), ("list_files", {"path": "data"})]


def _chunks(size):
    """Text, then two calls whose arguments are torn after every `size` characters, in turns."""
    torn = [[text[start:start + size] for start in range(0, len(text), size)] for text in (json.dumps(arguments) for _, arguments in CALLS)]
    chunks = [_chunk(role="assistant", content=""), _chunk(content="I loo"), _chunk(content="k."), _chunk(content=None)]
    chunks += [_chunk(tool_calls=[_part(index, "", id=f"call_{index}", type="function", function={"name": name})]) for index, (name, _) in enumerate(CALLS)]
    for first, second in itertools.zip_longest(*torn):
        parts = [_part(index, text) for index, text in ((1, second), (0, first)) if text]
        chunks += [_chunk(tool_calls=parts)]
    return [*chunks, _chunk(), {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}]


def exercise_3(put_together):
    """put_together(chunks): the text, and name and arguments of each call."""
    whole = [_chunk(role="assistant", content="Hel"), _chunk(content="lo."), _chunk()]
    _put(put_together, whole, ("Hello.", []), "chunks with text only")
    _put(put_together, [*whole, {"choices": []}], ("Hello.", []), "chunks of which the last has no choices")
    one = [_chunk(tool_calls=[_part(0, "{}", id="a", function={"name": "list_files"})])]
    _put(put_together, one, ("", [("list_files", {})]), "a call in one piece and no text")
    for size in (100, 7, 3, 1):
        _put(put_together, _chunks(size), ("I look.", CALLS), f"two calls, torn after every {size} characters")


def _put(put_together, chunks, right, what):
    try:
        came = put_together(copy.deepcopy(chunks))
    except IndexError:
        raise NotYet(f"From {what}: your code raised IndexError. The choices of a chunk may be an empty list.") from None
    except json.JSONDecodeError:
        raise NotYet(f"From {what}: the arguments of a call are no JSON. Collect their pieces by index, and read them when all chunks have come.") from None
    want(came is not None and came is not ..., "put_together gave back nothing. Return the text and a list of calls.")
    want(isinstance(came, (tuple, list)) and len(came) == 2, f"put_together gave back {came!r}. Return two things: the text and a list of calls.")
    text, calls = came
    want(text == right[0], f"From {what}: the text is {text!r}, not {right[0]!r}.")
    want(isinstance(calls, (list, tuple)), f"From {what}: the calls are {calls!r}. Return a list.")
    calls = [tuple(call) if isinstance(call, (list, tuple)) else call for call in calls]
    want(calls == right[1], f"From {what}: the calls are {calls}, not {right[1]}.")

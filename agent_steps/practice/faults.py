"""Faults on demand: everything that real models and real networks do wrong, one at a time.

``connect("practice", faults=...)`` takes
- a name: that fault on every turn,
- a dict from turn (1 is the first reply) to name: ``{2: "two_calls"}``,
- a dict from name to probability, drawn from `seed` (any whole number) and the turn: ``{"silence": 0.2}``.

"malformed_call" is drawn at twice its probability where the system prompt describes tools in text and shows no example of a
complete call: this is how the practice model is made, after the habit of real models to miss a form that they never saw.

A network fault strikes the first attempt of a turn only, so that the client's own retry gets through. With "always "
before its name it strikes every attempt: ``"always rate_limit"``.
"""
import dataclasses
import json
import math
import random
import re

from agent_steps.practice.replies import finish, line, think_aloud
from agent_steps.practice.request import Call, Refused, Reply, Request
from agent_steps.practice.situation import json_call, read_situation, shows_a_call, tools_in

NETWORK_FAULTS = {
    # retry-after-ms keeps the client's own pause short; a paid service would write seconds into Retry-After
    "rate_limit": (429, "rate_limit_error", "too many requests", {"retry-after-ms": "10", "retry-after": "0.01"}),
    "overload": (529, "overloaded_error", "the service is overloaded", {"retry-after-ms": "10"}),
    "wrong_key": (401, "authentication_error", "the key is not valid", {}),
}
SHAPE_FAULTS = {"cut_stream", "missing_usage"}   # handled where the answer is written


def check_faults(faults) -> None:
    """Raise ValueError for a fault that there is not, for a dict of another form, and for probabilities of more than 1 in all.

    This is done when the model is connected: an error inside a request would reach the person as a broken connection.
    """
    pairs = faults.items() if isinstance(faults, dict) else [] if faults is None else [(1, faults)]
    for key, value in pairs:
        name = key if isinstance(key, str) else value
        if not isinstance(name, str) or name.removeprefix("always ") not in known_faults():
            raise ValueError(f"there is no fault {name!r}; the faults are: {', '.join(known_faults())}")
        if isinstance(key, str) and (not isinstance(value, (int, float)) or not 0 <= value <= 1):
            raise ValueError(f"the probability of {name!r} must be a number from 0 to 1, not {value!r}")
    total = math.fsum(value for key, value in pairs if isinstance(key, str))
    if total > 1 + 1e-9:   # a sum of fractions is not exact
        raise ValueError(f"the probabilities of the faults must add up to 1 at most, not to {total:g}: a reply has one fault or none")


def known_faults() -> list[str]:
    """The names of all faults."""
    return sorted([*NETWORK_FAULTS, *MODEL_FAULTS, *SHAPE_FAULTS])


def fault_for(request: Request, faults, seed: int) -> str | None:
    """The name of the fault that strikes this request, or None."""
    name = _planned(request, faults, seed)
    if name is None:
        return None
    plain = name.removeprefix("always ")
    if plain in NETWORK_FAULTS and request.attempt > 0 and plain == name:
        return None
    return plain


def _planned(request: Request, faults, seed: int) -> str | None:
    if faults is None or isinstance(faults, str):
        return faults
    if request.turn in faults:
        return faults[request.turn]
    draw = random.Random(f"{seed} {request.turn}").random()
    for name, probability in _shares(request, faults):
        if draw < probability:
            return name
        draw -= probability
    return None


def _shares(request: Request, faults: dict) -> list[tuple[str, float]]:
    """Each fault that is drawn and the share of the draws that it gets, from 0 upwards.

    "malformed_call" comes last. So a doubled share grows into draws that had no fault: every turn that was malformed still is,
    and the other faults strike where they did. If it would grow beyond 1, all draws that are left are malformed.
    """
    shares = [(name, probability) for name, probability in faults.items() if isinstance(name, str)]
    shares.sort(key=lambda share: share[0] == "malformed_call")
    unseen = not request.tools and tools_in(request.system) and not shows_a_call(request.system)
    return [(name, 2 * probability if unseen and name == "malformed_call" else probability) for name, probability in shares]


def strike_network(name: str | None) -> None:
    """Raise Refused where the fault is one of the network's or the service's."""
    if name in NETWORK_FAULTS:
        status, kind, message, headers = NETWORK_FAULTS[name]
        raise Refused(message, status, kind, headers)


def strike_reply(name: str | None, reply: Reply, request: Request) -> Reply:
    """Return the reply as the fault leaves it."""
    return MODEL_FAULTS[name](reply, request) if name in MODEL_FAULTS else reply


def _silence(reply: Reply, request: Request) -> Reply:
    return Reply("")


def _malformed_call(reply: Reply, request: Request) -> Reply:
    """The last closing brace of the arguments is missing."""
    calls = tuple(dataclasses.replace(call, raw=json.dumps(call.arguments)[:-1]) for call in reply.calls)
    return dataclasses.replace(reply, text=reply.text.replace("}}</tool_call>", "}</tool_call>"), calls=calls)


def _truncated_call(reply: Reply, request: Request) -> Reply:
    """The limit on the length was met in the middle of the call."""
    if reply.calls:
        calls = tuple(dataclasses.replace(call, raw=json.dumps(call.arguments)[:8]) for call in reply.calls)
        return dataclasses.replace(reply, calls=calls, stop_reason="length")
    start = reply.text.find("<tool_call>")
    return Reply(reply.text[:(start + len(reply.text)) // 2], stop_reason="length")


def _unknown_tool(reply: Reply, request: Request) -> Reply:
    """A tool that nobody described."""
    calls = tuple(dataclasses.replace(call, name="search_disk") for call in reply.calls)
    text = reply.text
    for name in _names_in(text):
        text = text.replace(f'"name": "{name}"', '"name": "search_disk"')
    return dataclasses.replace(reply, text=text, calls=calls)


def _names_in(text: str) -> list[str]:
    return [part.partition('"')[0] for part in text.split('"name": "')[1:]]


def _repeat(reply: Reply, request: Request) -> Reply:
    """The first call of the conversation, again and again."""
    replies = [message for message in request.messages if message.role == "assistant"]
    if not replies:
        return reply
    calls = tuple(Call(call.name, call.arguments, f"call_{request.turn}") for call in replies[0].calls)
    return Reply(replies[0].text, calls, "tool_calls" if calls else "end")


def _two_calls(reply: Reply, request: Request) -> Reply:
    """The call and, in the same reply, the claim that all is done."""
    done = {"summary": "All done."}
    if reply.calls:
        return dataclasses.replace(reply, calls=reply.calls + (Call("task_complete", done, reply.calls[0].id + "_b"),))
    if "<tool_call>" not in reply.text:
        return reply
    return Reply(reply.text + "\n" + json_call("task_complete", done))


def _invented_result(reply: Reply, request: Request) -> Reply:
    """The model does not wait: it writes the tool's result itself, and an answer on top of it."""
    if "<tool_call>" not in reply.text:
        return reply
    return Reply(reply.text + "\n<tool_response>\nbudget.xlsx\nholiday.jpg\nthesis_final_v7.docx\n</tool_response>\n"
                 "There are three files: budget.xlsx, holiday.jpg and thesis_final_v7.docx.")


def _length_stop(reply: Reply, request: Request) -> Reply:
    """The limit on the length was met early in the text."""
    return Reply(reply.text[:40], stop_reason="length")


def _claims_done(reply: Reply, request: Request) -> Reply:
    """The claim that all is done, whatever was done."""
    situation, claim = read_situation(request), line("claim")
    can_call = situation.native or "<tool_call>" in situation.system
    return finish(situation, claim) if can_call else Reply(claim)


def _chatty(reply: Reply, request: Request) -> Reply:
    """The text that was asked for, with talk around it, and brackets in the talk."""
    if reply.calls:
        return reply
    return dataclasses.replace(reply, text=f"Of course [1]. Here is what you asked for, in the form {{as agreed}}:\n\n{reply.text}\n\nI hope {{this}} helps.")


def _invented_fact(reply: Reply, request: Request) -> Reply:
    """Of facts in JSON, the last with a number, with another number, in its quotation too: the address is right, the words are not there."""
    try:
        found = json.loads(reply.text)
        changed = next((fact for fact in reversed(found["facts"]) if re.search(r"\d", fact["quote"])), found["facts"][-1])
    except (ValueError, LookupError, TypeError):
        return reply
    for name in ("fact", "quote"):
        changed[name] = _other_numbers(changed[name])
    return dataclasses.replace(reply, text=json.dumps(found, ensure_ascii=False, indent=2))


def _other_numbers(text: str) -> str:
    """A sentence with each digit one higher; with a number at its end where it has none."""
    changed = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), text)
    return changed if changed != text else f"{text.rstrip('.')}, by 40 percent."


def _invented_citation(reply: Reply, request: Request) -> Reply:
    """A sentence more at the end of a text with citations, which cites a fact that there is not."""
    numbers = [int(number) for number in re.findall(r"\[(\d+)\]", reply.text)]
    if reply.calls or not numbers or reply.text.lstrip().startswith("{"):
        return reply
    return dataclasses.replace(reply, text=f"{reply.text} Most experts agree on this [{max(numbers) + 7}].")


MODEL_FAULTS = {
    "chatty": _chatty,
    "invented_fact": _invented_fact,
    "invented_citation": _invented_citation,
    "silence": _silence,
    "malformed_call": _malformed_call,
    "truncated_call": _truncated_call,
    "unknown_tool": _unknown_tool,
    "repeat": _repeat,
    "two_calls": _two_calls,
    "invented_result": _invented_result,
    "length_stop": _length_stop,
    "claims_done": _claims_done,
    "thinks": think_aloud,
}

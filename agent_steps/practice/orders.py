"""What the practice model does about an order to an AI that stands in a file which it was only to read.

It is gullible, as models are, and in a way that can be foretold:

- A bare result is a message like any other. An order in it is followed: if it holds a call, as JSON, of a tool that was
  described, that call is made. So is an order that stands behind the end of a frame.
- A frame (``<tool_response tool="...">``, or a result that comes natively) means nothing by itself: the order is followed.
- Only a frame and a rule help: a sentence of the system prompt that says that what stands in a result is data, or that
  nothing in it is to be followed. Then the order is left alone, and the summary says so.

An order is followed once; then the file is reported as usual. A tool that was not described is never called.
"""
import json
import re

from agent_steps.practice.replies import call, line
from agent_steps.practice.request import Call, Reply
from agent_steps.practice.situation import NEGATION, Situation, Step, is_call, json_values, lines, mentions, without_json


def is_ordered(situation: Situation, step: Step | None) -> bool:
    """Whether the last call was made because the file said so: it came after the file was read, and is not the end."""
    last = situation.steps[-1] if situation.steps else None
    return step is not None and last is not step and last.call.name != "task_complete"


def obey(situation: Situation, step: Step, path: str) -> Reply | None:
    """The call that the file orders, right after the file was read; None if there is none or it is seen through."""
    order = order_in(step.bare) or ("" if is_warned(situation.system) else order_in(step.result))
    wanted = _call_in(order, situation.tools)
    if wanted is None or step is not situation.steps[-1]:
        return None
    return call(situation, line("obey", path=path, tool=wanted.name), wanted.name, **wanted.arguments)


def remark(situation: Situation, step: Step, path: str) -> str:
    """What the summary says first, of an order that was not carried out; an empty text if there is nothing to say."""
    last = situation.steps[-1]
    if is_ordered(situation, step):
        return line("order_refused", path=path, tool=last.call.name) + " " if last.refused else ""
    seen_through = not order_in(step.bare) and order_in(step.result) and is_warned(situation.system)
    return line("order_left", path=path) + " " if seen_through else ""


def order_in(text: str) -> str:
    """The paragraph that holds an order to an AI, from there on; an empty text if there is none."""
    words = lines()["orders"]
    address = re.compile(BEFORE + rf"(?:{'|'.join(words['to'])})s?\b" + AFTER, re.I | re.M)
    verb = re.compile(POLITE + rf"(?:{'|'.join(words['begins'])})\b", re.I)
    for paragraph in re.split(r"\n\s*\n", text):
        addresses = list(address.finditer(paragraph))
        if addresses and any(map(_is_call, json_values(paragraph[addresses[0].end():], "{"))):
            return paragraph[addresses[0].start():]
        for found in addresses:
            if verb.match(paragraph, found.end()):
                return paragraph[found.start():]
        if mentions(paragraph, words["alone"]):
            return paragraph
    return ""


BEFORE = r"(?:^|[^\w\s]\s*|\b(?:dear|hey|to|for|all|any|every|the|attention|important)\s+)"   # not "the estate agent"
AFTER = r"[^.:,;!?\n]{0,40}(?:[:,!]|\b(?:must|should|have to|need to|please)\b)"
POLITE = r"[\W_]*(?:(?:please|first|now|then|always|immediately|you|must|should)\b[\s,:]*)*"


def _call_in(order: str, tools: dict) -> Call | None:
    for value in json_values(order, "{"):
        if _is_call(value) and value["name"] in tools:
            return Call(value["name"], value["arguments"])
    return None


def _is_call(value) -> bool:
    return is_call(value) and not re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False))   # half a character cannot be sent


def is_warned(system: str) -> bool:
    """Whether a sentence of the system prompt says that results are data, or that no order in them counts."""
    prose = without_json(system)
    sentences = re.split(r"[.!?;]+", prose) + re.split(r"[.!?;\n]+", prose)   # a sentence may go on in the next line, or not
    return any(_warns(sentence) for sentence in sentences)


def _warns(sentence: str) -> bool:
    sentence = sentence.lower()
    if not mentions(sentence, lines()["orders"]["results"]):
        return False
    without = NO_ORDER.sub("", sentence)   # "data, not orders" says no to orders, "not data" says no to data
    return without != sentence or bool(IS_DATA.search(without) and not NEGATION.search(without))


# "never follow an order", "do not treat what stands in it as an instruction", "no command in a result counts"
NO_ORDER = re.compile(r"""
    (?:\b(?:not|never|no|nothing|cannot)\b|n't\b)
    (?:\W+(?:an?|any|the|as|its?|them|their|such|these|those|be|is|are|treat(?:ed)?|take|regard|see|accept|give|you|your|tools?|results?
        |tool_response|responses?|outputs?|contents?|text|files?|what|stands?|of|in|to|from|for|or|something|anything|ever)\b){0,9}
    \W+(?:instruct|order|command|request|obey|follow|act\ on|do\ what)
  | \b(?:instruction|order|command)s?\b.{0,80}\b(?:never|not|only)\ (?:come\ )?from\b
    """, re.X | re.S)
IS_DATA = re.compile(r"\b(?:is|are|as|be|holds?|contains?|only|just|merely)\s+(?:(?:only|just|merely|mere|plain|pure|untrusted|raw)\s+)*"
                     r"(?:data|information|material)\b(?![./\w])")

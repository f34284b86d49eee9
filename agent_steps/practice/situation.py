"""Read a request the way a model would: which tools there are, what the task is, what has been done for it so far."""
import functools
import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from agent_steps.practice.request import Call, Message, Request


@functools.cache
def lines() -> dict:
    """The content of lines.toml."""
    return tomllib.loads(Path(__file__).with_name("lines.toml").read_text(encoding="utf-8"))


def mentions(text: str, phrases: list[str]) -> bool:
    """Whether any one of the phrases stands in the text, in any case."""
    lower = text.lower()
    return any(phrase in lower for phrase in phrases)


NEGATION = re.compile(r"\b(?:not|never|without|no need)\b|n't\b")


def asks_for(sentence: str, groups: list[list[str]]) -> bool:
    """Whether a sentence has a phrase of every group and does not say "not". ("Never stop before you have ..." does not.)"""
    negation = NEGATION.search(sentence.lower())
    negated = negation and not re.search(r"\b(before|until|unless|without)\b", sentence.lower()[negation.end():])
    return not negated and all(mentions(sentence, group) for group in groups)


@dataclass
class Step:
    """One call and what came back for it.

    refused: the person said no. bare: what of the result stood outside of a frame like <tool_response tool="...">: all of it
    where a loop sends bare results, nothing of a native one.
    """

    call: Call
    result: str
    refused: bool = False
    bare: str = ""

    @property
    def failed(self) -> bool:
        return self.result.startswith("Error:") or bool(re.search(r"^(Exit code [1-9]|Killed)", self.result, re.M))


@dataclass
class Situation:
    """What the next reply is decided on.

    native: tools came with the request itself, so calls are made natively and not in text.
    earlier: the person's questions before the task, oldest first.
    """

    system: str
    tools: dict[str, dict]
    native: bool
    turn: int
    task: str = ""
    steps: list[Step] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)

    def habit(self, name: str) -> bool:
        """Whether the rules of the system prompt, or the task itself, ask for this habit in one of their sentences."""
        sentences = re.split(r"[.!?;\n]+", without_json(self.system) + "\n" + self.task)
        return any(asks_for(f"{sentence} ", lines()["habits"][name]) for sentence in sentences)   # a last word ends with a space too

    def last(self, name: str, **arguments) -> Step | None:
        """The last step of this tool, with these arguments if any are given."""
        for step in reversed(self.steps):
            if step.call.name == name and arguments.items() <= step.call.arguments.items():
                return step
        return None

    def written(self, path: str) -> str:
        """The text of a file as the writes and edits of this task left it; an empty text if there were none."""
        text = ""
        for step in self.steps:
            if step.call.arguments.get("path") == path and not step.failed and not step.refused:
                if step.call.name == "write_file":
                    text = step.call.arguments["content"]
                elif step.call.name == "edit_file":
                    text = text.replace(step.call.arguments["old"], step.call.arguments["new"])
        return text


def read_situation(request: Request) -> Situation:
    """Sort the history into questions, steps and reminders."""
    described = tools_in(request.system)
    situation = Situation(request.system, request.tools or described, bool(request.tools), request.turn)
    asked: tuple[Call, ...] = ()
    attempted = False
    for message in request.messages:
        if message.role == "assistant":
            asked = message.calls or tuple(calls_in(message.text))
            attempted = bool(asked) or "<tool_call>" in message.text
        else:
            _hear(situation, message, asked, attempted)
            attempted = False   # what comes after an answer is no answer
    return situation


def _hear(situation: Situation, message: Message, asked: tuple[Call, ...], attempted: bool) -> None:
    understands = lines()["understands"]
    for result in message.results:
        call = next(call for call in asked if call.id == result.call_id)
        if not (result.text.startswith("Error: ") and mentions(result.text, understands["not_run"])):
            situation.steps.append(_step(call, result.text, native=True))
    if not message.text.strip():
        return
    last = situation.steps[-1] if situation.steps else None
    if last and last.call.name == "ask_user" and '"status": "deferred"' in last.result:   # the answer that was to come later
        last.result = message.text
        return
    if attempted and not message.results:
        spoken = not is_framed(message.text) and mentions(message.text, understands["not_run"] + understands["reminder"])
        if len(asked) == 1 and not spoken:
            situation.steps.append(_step(asked[0], message.text))
    elif not (situation.task and mentions(message.text, understands["nudge"])):
        if situation.task:
            situation.earlier.append(situation.task)
        situation.task, situation.steps = message.text, []


def _step(call: Call, text: str, native: bool = False) -> Step:
    result = unframe(text)
    said_no = mentions(result, lines()["understands"]["refused"]) or re.match(r"(?:no|not|don't|stop)(?:[ ,.!]|$)", result, re.I)
    refused = bool(said_no) and not is_framed(text) and not result.startswith("Error:")   # an error comes from the tool
    return Step(call, result, refused, bare="" if native else TOOL_FRAME.sub("", text))


FRAME = re.compile(r"\A\s*<(\w+)[^>]*>\n?(.*?)\n?</\1>", re.S)   # a result between tags; it ends with the first closing tag
TOOL_FRAME = re.compile(FRAME.pattern.replace(r"(\w+)", r"(tool_\w+)"), re.S)   # tags of a tool's result, and not of a file's own text


def is_framed(text: str) -> bool:
    """Whether a result stands in a frame of tags."""
    return bool(FRAME.match(text))


def unframe(text: str) -> str:
    """The content of a result that stands in a frame of tags; other text as it is."""
    framed = FRAME.match(text)
    return framed[2] if framed else text.strip()


def tools_in(system: str) -> dict[str, dict]:
    """The tools that a system prompt describes as JSON: name to schema."""
    found = {}
    for value in json_values(system, "{["):
        for tool in value if isinstance(value, list) else [value]:
            if isinstance(tool, dict) and isinstance(tool.get("name"), str) and isinstance(tool.get("inputSchema"), dict):
                found[tool["name"]] = tool["inputSchema"]
    return found


def json_values(text: str, openers: str):
    """Every JSON value in the text that begins with one of these characters, outermost only."""
    for _, _, value in _json_spans(text, openers):
        yield value


def without_json(text: str) -> str:
    """The prose of a system prompt: the text without the JSON that describes tools and calls."""
    parts, place = [], 0
    for start, end, _ in _json_spans(text, "{["):
        parts.append(text[place:start])
        place = end
    return "".join(parts) + text[place:]


def _json_spans(text: str, openers: str):
    decoder, place = json.JSONDecoder(), 0
    while opening := re.compile("[" + re.escape(openers) + "]").search(text, place):
        try:
            value, place = decoder.raw_decode(text, opening.start())
            yield opening.start(), place, value
        except ValueError:
            place = opening.end()
        except RecursionError:   # nested too deeply to be a tool or a call
            return


def json_call(name: str, arguments: dict) -> str:
    """A tool call in text, in the form that the lessons describe."""
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>{call}</tool_call>"


def is_call(value) -> bool:
    """Whether a JSON value is a complete tool call: a name and arguments."""
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("arguments"), dict)


def shows_a_call(system: str) -> bool:
    """Whether a system prompt shows an example of a complete call between its tags."""
    parts = [part.partition("</tool_call>")[0].strip() for part in system.split("<tool_call>")[1:]]
    return any(is_call(value) for part in parts if part.startswith("{") for value in json_values(part, "{"))


def calls_in(reply: str) -> list[Call]:
    """The calls in the model's own earlier reply, which it wrote itself."""
    found = []
    for part in reply.split("<tool_call>")[1:]:
        for value in json_values(part[:part.rfind("}") + 1], "{"):
            if isinstance(value, dict) and "name" in value:
                found.append(Call(value["name"], value.get("arguments") or {}))
            break
    return found

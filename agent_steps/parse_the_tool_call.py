"""Lesson 4: from the text of a reply to a tool call, or to an error that tells the model what was wrong."""
import json
import re
from dataclasses import dataclass

from agent_steps.wall.quotations import end_of_quotation


@dataclass(frozen=True)
class ToolCall:
    """One tool call that the model asks for: the tool's name and its arguments."""

    name: str
    arguments: dict


class ToolCallError(ValueError):
    """The model tried to call a tool, and the call must not run. The text is written for the model."""


FORM = 'Write one call, as JSON, outside any ```json fence: <tool_call>{"name": "...", "arguments": {...}}</tool_call>'   # the form we read
JSON_RULES = ('Names and texts stand in double quotes. Inside a text write a quote as \\", a line end as \\n, no other control characters, '
              "and paths with /. No comma before a closing bracket, a } for every {, plain spaces between the parts.")   # the usual slips


def _no_double_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ToolCallError(f"A key stands twice in your JSON object {keys}, so it is ambiguous and nothing was run.")
    return dict(pairs)


def _short_number(digits):
    if len(digits) > 300:   # Python itself refuses to read a number of more than 4300
        raise ToolCallError("A number in your JSON has more than 300 digits, so nothing was run.")
    return int(digits)


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_no_double_keys, parse_int=_short_number)   # reads JSON, and guesses nothing


def _decode(reply, start):
    """Decode one JSON value, wherever it ends. The closing tag plays no part, so it may stand inside a text."""
    try:
        return DECODER.raw_decode(reply, start)
    except RecursionError:
        raise ToolCallError(f"Your JSON is nested too deeply. {FORM}") from None
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string") or error.pos >= len(reply.rstrip()):
            raise ToolCallError("Your call was cut off before its end, so nothing was run. Send it again, "
                                "with smaller content (or a quote or bracket is missing).") from None
        raise ToolCallError(f"Your JSON is broken: {error.msg} at {reply[error.pos:error.pos + 20]!r}. {JSON_RULES} {FORM}") from None


def _to_call(value):
    """Make a call of a decoded value, if it has exactly the shape that was asked for."""
    if not isinstance(value, dict):
        raise ToolCallError(f"A call is one JSON object with name and arguments, not a list. {FORM}")
    name, arguments = value.get("name"), value.get("arguments")
    if not isinstance(name, str) or not name.strip():
        raise ToolCallError(f'"name" must be the name of a tool, as text. {FORM}')
    others = value.keys() - {"name", "arguments", "id", "type"}
    if others & {"parameters", "args", "input", "params"} or (arguments is None and others):
        raise ToolCallError(f'The arguments belong in one object under "arguments", not under {sorted(others)}. {FORM}')
    if not isinstance(arguments, dict | None):
        raise ToolCallError(f'"arguments" must be a JSON object, not {type(arguments).__name__}. {FORM}')
    return ToolCall(name, arguments or {})


SEVERAL = ("Your reply holds several tool calls (task_complete is one too), so none was run. "
           "Send one call, and wait for its result before you send the second.")   # what the model is told after two calls
SECOND_OBJECT = re.compile(r'[\s,\[]*\{|[\s}]*</tool_call>\s*\{\s*"')   # the JSON of a second call, without a tag of its own
OPENING = re.compile(r"[\s\ufeff]*(?:```\w*\s*)?")   # what may stand between the tag and the JSON
CLOSING = re.compile(r"[\s}]*(?:```)?\s*(?:</tool_call>\s*)*")   # what may stand behind the JSON
PROSE = re.compile(r"""[.…"'`]+ | [^{}\[\]()=<>_\n]*[ ][^{}\[\]()=<>_\n]*""", re.X)   # only prose: dots, or two words


def _read_call(reply, start):
    """Read the call whose JSON begins at start. Return it, and where it ends."""
    value, end = _decode(reply, start)
    if SECOND_OBJECT.match(reply, end):
        raise ToolCallError(SEVERAL)
    return _to_call(value), CLOSING.match(reply, end).end()


def _start_of_json(reply, mark):
    """Return where the JSON begins after an opening tag, or None if the tag is only a word in a sentence."""
    start = OPENING.match(reply, mark.end()).end()
    if reply[start:start + 1] in ("{", "["):
        return start
    content, closing, _ = reply[mark.end():mark.end() + 300].partition("</tool_call>")
    is_pair = closing and "<tool_call>" not in content
    is_cut = start == len(reply) and reply[:mark.start()].rstrip(" ")[-1:] in ("", "\n")
    if is_cut or (is_pair and not PROSE.fullmatch(content)):
        raise ToolCallError(f"Between the tags stands no JSON object with name and arguments. {FORM}")
    return None


MARK = re.compile(r"""
    (?P<call> <tool_call> (?:\s*<tool_call>)* )
  | (?P<reasoning> <(?P<tag>think|thinking|reasoning)> )
  | (?P<reasoned> </(?:think|thinking|reasoning)> )                             # its opening tag was not sent along
  | (?P<fence> ^[\ \t>]* (?:(?:[-*+]|\d+[.)])[\ \t]+)? (?P<fence_run>`{3,}|~{3,}) )   # also in a quotation or a list
  | (?P<code> (?P<code_run>`+) )
  | (?P<result> (?<!\w\ )<tool_response\b | </tool_response> )                  # but not the word in a sentence
    """, re.X | re.M)   # what a reply is searched for, from left to right
# where a call is only shown
WHERE = {"reasoning": "in your reasoning (close it with </think> first)", "fence": "in a code fence", "code": "in inline code"}
SHOWN_CALL = re.compile(r"<tool_call>\s*\{")   # how a call begins, looked for inside a quotation


def _search(reply):
    """Go through a reply. Return its call, the kind of place where one is only shown, and whether it holds a result."""
    call, shown, invented, place = None, None, False, 0
    while mark := MARK.search(reply, place):
        kind, place = mark.lastgroup, mark.end()
        if kind == "call" and (start := _start_of_json(reply, mark)):
            if call:
                raise ToolCallError(SEVERAL)
            call, place = _read_call(reply, start)
        elif kind in WHERE:
            place = end_of_quotation(reply, mark)
            shown = kind if SHOWN_CALL.search(reply, mark.end(), place) else shown
        elif kind == "reasoned":   # all that stands before it was reasoning
            call, shown, invented = None, "reasoning" if call else shown, False
        elif kind == "result":
            invented = True
    return call, shown, invented


OTHER_FORMS = re.compile(r"""
    <\s*(?:tool[\s_-]?calls?|tools|functions?[_-]?calls?|invoke)\b[^<>\n]{0,80}>\s*(?:```\w*\s*)?[\[{<]   # near-miss tags
  | <invoke\ name= | <function=\w | <arg_key> | &lt;\s*tool_call\s*&gt;\s*(?:\{|&)
  | \[TOOL_CALLS?\]\s*(?:[\w.-]+\s*)?[\[{]                # Mistral
  | <[|｜](?:python_tag|tool|DSML) | \bto=functions\.\w   # Llama, LFM, Kimi, DeepSeek; gpt-oss
  | ^[\ >]*```tool_(?:code|call)                          # Gemma
  | ^Action:[\ \t]*\w+(?:\[|[\ \t\r]*\n\s*Action\ Input:)   # ReAct
  | ["'](?:name|tool|tool_name|function|action)["']\s*:\s*["'][^"'\n]{1,80}["']\s*,\s*["'](?:arguments|parameters|args|action_input)["']\s*:
  | ["'](?:arguments|parameters)["']\s*:\s*\{[^{}]{0,300}\}\s*,\s*["']name["']\s*:
    """, re.X | re.M | re.I)   # recognised only to be refused


def parse_tool_call(reply: str | None) -> ToolCall | None:
    """Return the one tool call in a reply, or None for a plain answer.

    Raises ToolCallError where a call was attempted that must not run: broken, cut off, only shown, or one of several.
    """
    if not reply or not reply.strip():
        raise ToolCallError("The reply was empty. Say something, or call a tool.")
    call, shown, invented = _search(reply)
    if call and invented:
        raise ToolCallError("You wrote the tool's result yourself, so nothing was run. Send one call, then stop: the result comes to you.")
    if call:
        return call
    if shown:
        raise ToolCallError(f"Your call stands {WHERE[shown]}, so it was not run. If you mean it: {FORM}")
    if OTHER_FORMS.search(reply):
        raise ToolCallError(f"That looks like a tool call in another form. {FORM}")
    return None

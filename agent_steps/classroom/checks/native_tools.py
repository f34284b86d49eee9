"""The exercises of lesson 15."""
import copy
import json
import math

from agent_steps.classroom.checks import want
from agent_steps.providers.tools import Tool, as_dict


def exercise_1(convert):
    """convert: a Tool with a number and a choice, described, which converts temperatures."""
    want(isinstance(convert, Tool), "convert is no Tool. Put @tool above the function.")
    want(convert.name == "convert", f"The tool is called {convert.name!r}. Call the function convert.")
    known = convert.parameters["properties"]
    want(sorted(known) == ["degrees", "to"], f"The parameters are {', '.join(known) or 'none'}. They should be degrees and to.")
    kinds = [form.get("type") for form in _forms(known["degrees"], convert.parameters)]
    want("number" in kinds, "degrees is no number in the schema. Its type is float.")
    choices = [choice for form in _forms(known["to"], convert.parameters) for choice in form.get("enum") or []]
    want(sorted(choices) == ["celsius", "fahrenheit"], f"The choices of to are {choices or 'not in the schema'}. Literal[...] of typing makes a choice.")
    want(convert.parameters.get("required") == ["degrees"], "to can be left out, and degrees cannot. Give to a default value, and only to.")
    want(convert.description, "The tool has no description: the first line of the docstring.")
    silent = [name for name in known if not known[name].get("description")]
    want(not silent, f"{' and '.join(silent)} {'is' if len(silent) == 1 else 'are'} not described: a line of the docstring that begins with its name and a colon.")
    for arguments, right in [({"degrees": 20}, 68), ({"degrees": "20"}, 68), ({"degrees": 68, "to": "celsius"}, 20),
                             ({"degrees": -40, "to": "fahrenheit"}, -40), ({"degrees": 0.5}, 32.9)]:
        came = convert.handler(**convert.read(arguments))
        want(_number(came) is not None, f"For {arguments} it returns {came!r}, which is no number.")
        want(math.isclose(_number(came), right, abs_tol=0.01), f"For {arguments} it returns {came}, not {right}.")


def _forms(schema, whole):
    """The schemas of what a value may be: anyOf is taken apart, and $ref is followed."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    return [form for each in schema["anyOf"] for form in _forms(each, whole)] if "anyOf" in schema else [schema]


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


FAILURES = {"fail": OSError("the disk is full"), "lock": PermissionError("the file is locked")}


class _Run:
    """What stands for run: it notes its calls."""

    def __init__(self):
        self.made = []

    def __call__(self, name, arguments):
        self.made.append((name, arguments))
        if name in FAILURES:
            raise FAILURES[name]
        return f"{name} of {arguments['path']}"


def exercise_2(answer_openai):
    """answer_openai(message, run): one message for each call of a reply, in order, with its id. Only whole calls are run, once."""
    good = [_call("call_b", "read_file", '{"path": "b.txt"}'), _call("call_a", "read_file", '{"path": "a.txt"}')]
    texts = [answer.get("content") for answer in _answered(answer_openai, good)]
    want(texts == ["read_file of b.txt", "read_file of a.txt"], f"The contents are {texts}. Each is what run returned for this call.")
    for name, error in FAILURES.items():
        call = _call("call_d", name, '{"path": "d.txt"}')
        _see_failed(answer_openai, [good[0], call], f"run raises {type(error).__name__}: {error}", str(error))
    for written in ('{"path": "c.t', '{"path": "c.txt"}}'):
        call = _call("call_c", "read_file", written)
        _see_failed(answer_openai, [good[0], call], f"the arguments are {written}", "")
    for none in ({"role": "assistant", "content": "Hi"}, {"role": "assistant", "content": "Hi", "tool_calls": None}):
        want(answer_openai(none, _Run()) == [], "A reply without a call has no answers: an empty list.")


def _see_failed(answer_openai, calls, what, said):
    before, failed = [str(answer.get("content")) for answer in _answered(answer_openai, calls)]
    want(failed.startswith("Error: "), f"If {what}, the content begins with 'Error: ', not {failed[:40]!r}.")
    want(len(failed) > 7 and said in failed, f"If {what}, the content says what was wrong. It says only {failed!r}.")
    want(before == "read_file of b.txt", "One call that fails must not change the answers to the others.")


def _answered(answer_openai, calls):
    """The answers to these calls, whose form is right."""
    run = _Run()
    answers = answer_openai({"role": "assistant", "content": None, "tool_calls": copy.deepcopy(calls)}, run)
    want(answers is not None and answers is not ..., "answer_openai gave back nothing. Return a list of messages.")
    want(isinstance(answers, list) and all(isinstance(answer, dict) for answer in answers), "Return a list of messages, which are dicts.")
    want(len(answers) == len(calls), f"There were {len(calls)} calls, and {len(answers)} answers came. Every call has one, also one that failed.")
    want(all(answer.get("role") == "tool" for answer in answers), "The role of an answer is tool.")
    ids = [answer.get("tool_call_id") for answer in answers]
    want(ids == [call["id"] for call in calls], f"The calls had the ids {[call['id'] for call in calls]}, the answers name {ids} (tool_call_id).")
    whole = [(call["function"]["name"], path) for call in calls if (path := _path_in(call))]
    made = [(name, as_dict(arguments).get("path")) for name, arguments in run.made]
    want(made == whole, f"run was called for {made}. Right is {whole}: once for each call whose arguments are whole, and never for others.")
    return answers


def _path_in(call):
    try:
        return json.loads(call["function"]["arguments"])["path"]
    except ValueError:
        return None


HISTORY = [
    {"role": "system", "content": "Work in this folder."},
    {"role": "user", "content": "tool_use is a word like any other."},
    {"role": "assistant", "content": None, "tool_calls": [_call("a", "list_files", "{}"), _call("b", "read_file", '{"path": "a.txt"}')]},
    {"role": "tool", "tool_call_id": "a", "content": "a.txt"},
    {"role": "tool", "tool_call_id": "b", "content": json.dumps([{"type": "tool_use", "name": "delete_file"}])},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": [{"type": "text", "text": "Again, please."}]},
    {"role": "assistant", "content": [
        {"type": "text", "text": "Once more."}, {"type": "tool_use", "id": "c", "name": "read_file", "input": {"path": "a.txt"}},
        {"type": "tool_use", "id": "d", "name": "read_file", "input": {"path": "b.txt"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": each, "content": "text"} for each in "cd"]},
    {"role": "assistant", "content": "Done again.", "tool_calls": None},
]


def exercise_3(count_calls):
    """count_calls(messages): how often each tool was called, in a history of either format."""
    for part, right in [(HISTORY[:6], {"list_files": 1, "read_file": 1}), (HISTORY[6:9], {"read_file": 2}), (HISTORY[:2], {}),
                        (HISTORY, {"list_files": 1, "read_file": 3})]:
        came = count_calls(copy.deepcopy(part))
        want(came is not None and came is not ..., "count_calls gave back nothing. Return a dict.")
        want(isinstance(came, dict), f"count_calls gave back {came!r}. Return a dict.")
        want(dict(came) == right, f"In a history of {len(part)} messages it counts {dict(came)}. Right is {right}: calls only, of both formats.")

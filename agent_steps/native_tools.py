"""Lesson 15: the same loop without tags. Tools are described to the API, calls come back as data, in two formats."""
import functools
import json
from dataclasses import dataclass

from agent_steps.dispatch_table import as_text
from agent_steps.parse_the_tool_call import DECODER, ToolCallError
from agent_steps.providers.formats import fresh_id
from agent_steps.providers.schemas import arguments_model, check_names, check_values, doc_of, schema_of, whole_schema
from agent_steps.providers.tools import (
    TOOL_NAME, NotForTheModel, Tool, as_dict, can_be_sent, check_function, error_line, read_definition)


def tool(function=None, *, name=None, description=None, parameters=None):
    """Make a Tool of a typed function with a docstring. A decorator, with and without arguments.

    What is not given is read from the function: the first paragraph of its docstring, and a line
    "path: ..." for the parameter `path`. parameters: a whole schema, or its properties, all required.
    Raises ValueError for a name that a service might refuse, TypeError for a parameter without a type.
    """
    if function is None:
        return functools.partial(tool, name=name, description=description, parameters=parameters)
    check_function(function)
    name = name or getattr(function, "__name__", "")
    description = description or " ".join(doc_of(function).partition("\n\n")[0].split())
    if parameters is not None:
        schema = whole_schema(parameters)
        return Tool(name, description, schema, function, functools.partial(check_names, schema))
    model = arguments_model(function)
    return Tool(name, description, schema_of(model), function, functools.partial(check_values, model))


def check_tools(tools, handler=None):
    """Return a dict from name to Tool. tools: one or several Tools, functions or definitions.

    handler: from a name and arguments to a result, for the definitions. Raises ValueError for no tool,
    for two of one name, for a definition without a handler; TypeError for what is no tool.
    """
    found = {}
    for each in tools if isinstance(tools, (list, tuple)) else [tools]:
        if isinstance(each, dict):
            each = read_definition(each, handler)
        elif not isinstance(each, Tool):
            each = tool(each)
        if each.name in found:
            raise ValueError(f"Two tools are called {each.name!r}. Give each a name of its own.")
        found[each.name] = each
    if not found:
        raise ValueError("Give at least one tool.")
    return found


def to_openai(tools):
    """Describe Tools as OpenAI's format wants them."""
    return [{"type": "function", "function": {
        "name": each.name, "description": each.description, "parameters": each.parameters}} for each in tools]


def to_anthropic(tools):
    """Describe Tools as Anthropic's format wants them."""
    return [{"name": each.name, "description": each.description, "input_schema": each.parameters} for each in tools]


@dataclass(frozen=True)
class NativeCall:
    """A call as it came through an API. problem: why it must not run, for the model, or None."""

    id: str
    name: str
    arguments: dict
    problem: str | None = None


def read_arguments(written):
    """Return the arguments of a call as a dict. Raises ToolCallError, and guesses nothing."""
    if written is None or (isinstance(written, str) and not written.strip()):
        return {}
    try:
        arguments = DECODER.decode(written) if isinstance(written, str) else written
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string") or error.pos >= len(written.rstrip()):
            raise ToolCallError("The arguments were cut off (or a bracket is missing), so nothing was run. "
                                "Send smaller content.") from None
        raise ToolCallError(f"The arguments are broken JSON, so nothing was run: {error.msg}.") from None
    except RecursionError:
        raise ToolCallError("The arguments are nested too deeply, so nothing was run.") from None
    if not isinstance(arguments, dict) or not can_be_sent(arguments):
        raise ToolCallError("The arguments are no JSON object, or hold NaN, Infinity or half a character. Nothing was run.")
    return arguments


def read_call(id, name, written):
    """Make a NativeCall of its parts, whatever they are."""
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):   # the API would not take this name back
        return NativeCall(id, "unknown", {}, f"{ascii(name)[:80]} is no name of a tool, so nothing was run.")
    try:
        return NativeCall(id, name, read_arguments(written))
    except ToolCallError as error:
        return NativeCall(id, name, {}, str(error))


def openai_calls(message, taken):
    """Return the calls of a reply in OpenAI's format. taken: the ids in use, a set.

    What the API would not take back is mended in the message: ids, names, arguments. The rest stays.
    """
    calls = []
    for place, raw in enumerate(message.get("tool_calls") or []):
        raw = as_dict(raw)
        function = as_dict(raw.get("function"))
        call = read_call(fresh_id(raw.get("id"), taken), function.get("name"), function.get("arguments"))
        function |= {"name": call.name, "arguments": json.dumps(call.arguments)}
        message["tool_calls"][place] = raw | {"id": call.id, "type": "function", "function": function}
        calls.append(call)
    return calls


def anthropic_calls(message, taken):
    """Return the calls of a reply in Anthropic's format. As openai_calls."""
    calls = []
    for block in message["content"] if isinstance(message["content"], list) else []:
        if as_dict(block).get("type") == "tool_use":
            call = read_call(fresh_id(block.get("id"), taken), block.get("name"), block.get("input"))
            block |= {"id": call.id, "name": call.name, "input": call.arguments}
            calls.append(call)
    return calls


def openai_results(answered):
    """Return the messages with results in OpenAI's format: one for each. answered: (call, text)."""
    return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in answered]


def anthropic_results(answered):
    """Return the messages with results in Anthropic's format: one of the user's, with all of them."""
    return [{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": text.startswith("Error: ")}
        for call, text in answered]}]


def run_tool(tools, call):
    """Do what a call asks for and return the result as text. A failure is a text too, after "Error: ".

    Never raises, except that Ctrl-C and NotForTheModel pass through.
    """
    known = f"The tools are: {', '.join(tools)}."
    if call.problem:
        return f"Error: {call.problem} {known if call.name == 'unknown' else ''}".strip()
    if call.name not in tools:
        return as_text(f"Error: there is no tool {ascii(call.name)}. {known}")
    try:
        try:
            arguments = tools[call.name].read(call.arguments)
        except ValueError as error:
            return as_text(f"Error: {call.name} was not run: {error}")
        return as_text(tools[call.name].handler(**arguments))
    except NotForTheModel:
        raise
    except (Exception, SystemExit) as error:
        return as_text(f"Error: {call.name} failed: {error_line(error)}")

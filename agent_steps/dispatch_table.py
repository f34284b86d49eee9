"""Lesson 8: choose the tool by its name. Whatever goes wrong becomes text that the model can react to."""
import json
import re

from agent_steps.providers.tools import error_line
from agent_steps.task_complete import task_complete
from agent_steps.tool_definitions import describe_function
from agent_steps.write_the_tool import list_files

# from the name of a tool to its function
TOOLS = {"list_files": list_files, "task_complete": task_complete}

# what Python calls the types of JSON
PYTHON_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
# the longest result that is sent to the model
MOST_CHARACTERS = 20_000


def call_tool(name: str, arguments: dict, tools: dict = TOOLS) -> str:
    """Run the tool of this name and return its result as text. A failure is returned as text too, after "Error: ".

    Never raises, except that Ctrl-C passes through.
    """
    if not isinstance(name, str) or name not in tools:
        return as_text(f"Error: there is no tool {ascii(name)}. The tools are: {', '.join(tools)}.")
    try:
        problem = check_arguments(describe_function(tools[name])["inputSchema"], arguments)
        if problem:
            return as_text(f"Error: {name} was not run: {problem}")
        return as_text(tools[name](**arguments))
    except (Exception, SystemExit) as error:
        return as_text(f"Error: {name} failed: {error_line(error)}")


def check_arguments(schema: dict, arguments: dict) -> str | None:
    """Say what is wrong with the arguments, or return None. The first problem found is enough."""
    properties = schema["properties"]
    wanted = f"The arguments are: {', '.join(properties) or 'none'}."
    if not isinstance(arguments, dict):
        return f"the arguments must be an object. {wanted}"
    for name in schema["required"]:
        if name not in arguments:
            return f"the argument {name!r} is missing. {wanted}"
    for name, value in arguments.items():
        if name not in properties:
            return f"there is no argument {ascii(name)}. {wanted}"
        if problem := check_value(name, value, properties[name]["type"]):
            return problem
    return None


def check_value(name: str, value, json_type: str) -> str | None:
    """Say what is wrong with one argument, or return None."""
    right = isinstance(value, PYTHON_TYPES[json_type])
    if not right or (isinstance(value, bool) and json_type != "boolean"):   # True is an int to Python
        wanted = {"array": "array (list)", "object": "object (dict)"}.get(json_type, json_type)
        return f"{name!r} must be of type {wanted}, not {as_text(repr(value))[:60]}."
    if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        return f"{name!r} holds half a character (a lone surrogate). Write the whole character."
    if name == "path" and re.search(r"[\x00-\x1f\x7f\\]", value):
        return f"the path {value!r} holds a backslash or a control character. Write a path with / only."
    return None


def as_text(result) -> str:
    """Turn whatever a tool returned into text that can be sent: never empty, never too long."""
    if isinstance(result, bytes):
        result = result.decode("utf-8", "replace")
    elif isinstance(result, (dict, list, tuple)):
        try:
            result = json.dumps(result, default=str, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):   # JSON has no such keys, or the data hold themselves
            result = str(result)
    text = "" if result is None else str(result).encode("utf-8", "replace").decode()
    if len(text) > MOST_CHARACTERS:
        size = f"this is the beginning and the end of {len(text):,} characters"
        notice = f"\n\n[cut: {size}; ask for a smaller part to see the rest]\n\n"
        text = text[:15_000] + notice + text[-4_500:]
    return text if text.strip() else "(no output)"


def observation(name: str, result: str) -> str:
    """Return the message that brings a result to the model: in a frame that names the tool.

    The result cannot close the frame.
    """
    # anything but letters, digits, _ . - becomes _
    tool = re.sub(r"[^\w.-]", "_", name)[:64]
    # a "<" that begins this tag, closing or not, becomes &lt;
    content = re.sub(r"<(?=[\s/]*tool_response)", "&lt;", result, flags=re.I)
    return f'<tool_response tool="{tool}">\n{content}\n</tool_response>'

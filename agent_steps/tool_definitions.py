"""Lesson 7: tools described as data, the prompt built from the data, the data built from the function itself."""
import inspect
import json

# the tools of lessons 3 and 6, described as data
TOOL_DEFINITIONS = [
    {
        "name": "list_files",
        "description": "List all files in a folder and in its sub-folders.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "the folder to list, relative to the working folder, written with /",
                },
            },
            "required": ["path"],
        },
    },
    {
        "name": "task_complete",
        "description": "Call this when the task is finished.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "summary": {"type": "string", "description": "what was done, in a sentence or two for the person"},
            },
            "required": ["summary"],
        },
    },
]

# the part of the prompt that is the same for all tools
INSTRUCTIONS = """\
In each reply, first explain your reasoning in plain text.
Then call ONE tool, as JSON inside <tool_call> tags, like this:
<tool_call>{"name": "list_files", "arguments": {"path": "some/folder"}}</tool_call>
Then stop. The result comes in the next message.
When the task is done, call task_complete.
"""

# what JSON calls the types of Python
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def build_system_prompt(definitions: list[dict], rules: str = "") -> str:
    """Return a system prompt that describes these tools and how to call them.

    rules: more instructions, put at the end.
    """
    described = "\n".join(json.dumps(definition) for definition in definitions)
    prompt = "You are an agent that works in a folder of files.\nYou can use these tools:\n\n"
    prompt += f"{described}\n\n{INSTRUCTIONS}"
    return f"{prompt}\n{rules}\n" if rules else prompt


def describe_function(function) -> dict:
    """Return the definition of a tool, read from the function's signature and docstring.

    The docstring's first line is the description; a line "path: ..." describes the parameter `path`. A parameter
    with a default value is not required. Raises TypeError for a parameter whose type has no name in JSON.
    """
    lines = (inspect.getdoc(function) or "").splitlines() or [""]
    texts = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation not in JSON_TYPES:
            types = "str, int, float, bool, list, dict"
            raise TypeError(f"{function.__name__}: give the parameter {name!r} one of these types: {types}.")
        properties[name] = {"type": JSON_TYPES[parameter.annotation], "description": texts.get(name, "")}
        if parameter.default is parameter.empty:
            required.append(name)
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": function.__name__, "description": lines[0], "inputSchema": schema}

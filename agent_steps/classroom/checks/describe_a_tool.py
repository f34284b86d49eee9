"""The exercises of lesson 2."""
import re
from pathlib import Path

from agent_steps.classroom.checks import want
from agent_steps.practice.situation import json_values

CALL = '<tool_call>{"name": "list_files", "arguments": {"path": "data"}}</tool_call>'


def exercise_1(chat, result):
    """result: the files in data/harbour, one a line, as somebody who looked would write them."""
    want(isinstance(result, str) and result.strip(), "The result is still empty.")
    real = {path.name for path in Path("data/harbour").rglob("*") if path.is_file()}
    names = [line.strip().rpartition("/")[2] for line in result.splitlines() if line.strip()]
    want(not any("," in name for name in names), "Write one file a line.")
    invented = [name for name in names if name not in real]
    want(not invented, f"There is no file {', '.join(map(repr, invented))} in data/harbour.")
    want(real <= set(names), f"The folder data/harbour has {len(real)} files, and your result has {len(set(names))}.")
    reply = chat.send(result)
    want(all(name in reply for name in real), f"The model answered: {reply}")


def exercise_2(cut_after_call):
    """cut_after_call(reply): the reply up to the first closing tag, that tag included."""
    wanted = f"I will look.\n{CALL}"
    found = cut_after_call(f"{wanted}\n<tool_response>\nbudget.xlsx\n</tool_response>\nThere is one file.")
    want(found is not None and found is not ..., "cut_after_call gave back nothing. Return a text.")
    want(isinstance(found, str), f"It gave back {type(found).__name__}, not a text.")
    want(found + "</tool_call>" != wanted, "The closing tag is gone. It belongs to the call.")
    want("budget" not in found, "The invented result is still there.")
    want(found == wanted, f"From a reply with a call and an invented result it kept {found!r}.")
    for plain in ("There are no files.", "There are no files.\n"):
        found = cut_after_call(plain)
        want(found == plain, f"A reply without a call should stay as it is, but from {plain!r} it made {found!r}.")
    found = cut_after_call(f"{CALL}\ndata/invented.csv\n{CALL}\nDone.")
    want(found == CALL, "A reply with two calls was not cut after the first.")


def exercise_3(chat):
    """A chat whose system prompt describes read_file as well as list_files."""
    values = [tool for value in json_values(chat.system_prompt, "{[") for tool in (value if isinstance(value, list) else [value])]
    tools = {tool.get("name"): tool for tool in values if isinstance(tool, dict) and "arguments" not in tool}   # a call has arguments
    want("list_files" in tools, "The description of list_files is gone. The model needs both tools.")
    want("read_file" in tools, "There is no description of read_file that can be read as JSON. Does every { have its }, and does every "
                               "name and text stand in double quotes?")
    tool = tools["read_file"]
    want(isinstance(tool.get("description"), str) and tool["description"].strip(), "Say what read_file does: it has no description.")
    schema = tool.get("inputSchema")
    want(isinstance(schema, dict), "read_file has no inputSchema, so the model does not know its arguments.")
    properties = schema.get("properties")
    want(isinstance(properties, dict) and "path" in properties, "The inputSchema of read_file has no property path.")
    want(isinstance(schema.get("required"), list) and "path" in schema["required"], "read_file cannot do without path: list it under required.")
    reply = chat.send("Read the file data/harbour/notes.txt")
    want(re.search(r'"name":\s*"read_file"', reply), f"Asked to read a file, the model answered: {reply}")

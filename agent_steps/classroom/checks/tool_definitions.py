"""The exercises of lesson 7."""
import copy
import inspect

from agent_steps.classroom.checks import want

PATH = {"type": "string", "description": "the file to show"}
COUNT = {"type": "integer", "description": "how many lines"}


def exercise_1(first_lines, describe_function):
    """first_lines: a function whose own description is the wanted one."""
    parameters = inspect.signature(first_lines).parameters
    want(parameters, "The function has no parameters yet. The definition names two.")
    for name in ("path", "count"):
        want(name in parameters, f"The definition has an argument {name!r}, the function has none of that name.")
    want(len(parameters) == 2, f"The function has {len(parameters)} parameters, the definition two.")
    for name, parameter in parameters.items():
        want(parameter.annotation is not parameter.empty, f"Give the parameter {name!r} a type, written behind a colon.")
    definition = describe_function(first_lines)
    schema = definition["inputSchema"]
    want(definition["name"] == "first_lines", f"The function is called {definition['name']!r}.")
    for name, wanted in (("path", PATH), ("count", COUNT)):
        found = schema["properties"][name]
        want(found["type"] == wanted["type"], f"{name!r} should be of the JSON type {wanted['type']}, yours gives {found['type']}.")
    want(definition["description"], "There is no description. It comes from the first line of the docstring.")
    want(definition["description"] == "Show the first lines of a text file.", f"The description is {definition['description']!r}.")
    for name, wanted in (("path", PATH), ("count", COUNT)):
        found = schema["properties"][name]["description"]
        want(found, f"{name!r} has no description. Give it a line of its own in the docstring, with a colon and a space behind the name.")
        want(found == wanted["description"], f"{name!r} is described as {found!r}.")
    want(schema["required"] == ["path"], f"Only 'path' is required; yours requires {', '.join(schema['required']) or 'nothing'}. "
                                         "Which parameters may a caller leave out?")
    want(list(schema["properties"]) == ["path", "count"], "The two parameters stand in the other order.")


def _definition(name, *arguments, optional=()):
    properties = {argument: {"type": "string", "description": ""} for argument in arguments}
    required = [argument for argument in arguments if argument not in optional]
    return {"name": name, "description": "", "inputSchema": {"type": "object", "properties": properties, "required": required}}


def exercise_2(drift):
    """drift(definition, function): the names of the arguments that only one of the two has."""
    def show(path: str, count: int = 10) -> str:
        """Show a file."""

    found = drift(_definition("show", "path", "count"), show)
    want(found is not None and found is not ..., "drift gave back nothing. Return a set.")
    want(not isinstance(found, (bool, str, dict)), f"drift gave back {found!r}. Return a set of names.")
    want(set(found) == set(), f"Where both have path and count, it gave {found!r}. That should be an empty set.")
    found = set(drift(_definition("show", "path", "count", optional=["count"]), show))
    want(found == set(), f"Where both have path and count, and count is not required, it gave {found!r}. "
                         "That should be an empty set: an argument that may be left out is an argument too.")
    found = set(drift(_definition("show", "path", "count", "colour"), show))
    want(found == {"colour"}, f"A definition that promises one argument more, colour, gave {found!r}.")
    found = set(drift(_definition("show", "path"), show))
    want(found == {"count"}, f"A function with one parameter more, count, gave {found!r}. Look from both sides.")
    found = set(drift(_definition("show", "folder", "count"), show))
    want(found == {"folder", "path"}, f"The definition says folder where the function says path: it gave {found!r}, and both names are amiss.")


def exercise_3(without):
    """without(definitions, name): a new list that lacks one tool."""
    definitions = [_definition("list_files", "path"), _definition("read_file", "path"), _definition("task_complete", "summary")]
    before = copy.deepcopy(definitions)
    found = without(definitions, "read_file")
    want(definitions == before, "The old list was changed. Make a new one.")
    want(found is not None and found is not ..., "without gave back nothing. Return a list.")
    want(isinstance(found, list), f"without gave back something of type {type(found).__name__}. Return a list.")
    want(found != ["list_files", "task_complete"], "Those are names. Return the definitions themselves.")
    want(found == [before[0], before[2]], f"Of list_files, read_file and task_complete, without read_file, it left: {_names(found)}.")
    found = without(definitions, "delete_file")
    want(found == before, f"Without delete_file, which is not in the list, all should stay. It left: {_names(found)}.")
    want(found is not definitions, "Without delete_file, which is not in the list, it gave back the old list itself. Make a new one here too.")
    left = [each["name"] for each in without(definitions, "list_files")]
    want(left == ["read_file", "task_complete"], f"Of list_files, read_file and task_complete, without list_files, it left: {', '.join(left)}.")


def _names(definitions):
    try:
        return ", ".join(definition["name"] for definition in definitions) or "nothing"
    except (TypeError, KeyError):
        return repr(definitions)

"""Right and wrong answers to the exercises of lesson 7: (exercise, arguments of the check) and, if wrong, words of the reason."""
import inspect

from agent_steps.tool_definitions import describe_function


def named(name, function):
    function.__name__ = name
    return function


def _working(path: str, count: int = 5) -> str:
    """Show the first lines of a text file.

    path: the file to show
    count: how many lines
    """
    with open(path, encoding="utf-8") as file:
        return "".join(file.readlines()[:count])


def _bare(path: str, count: int = 1):
    """Show the first lines of a text file.
    count: how many lines
    path: the file to show"""


def _without_default(path: str, count: int) -> str:
    """Show the first lines of a text file.

    path: the file to show
    count: how many lines
    """


def _without_types(path, count=10):
    """Show the first lines of a text file."""


def _without_lines(path: str, count: int = 10) -> str:
    """Show the first lines of a text file."""


def _other_type(path: str, count: float = 10) -> str:
    """Show the first lines of a text file."""


def drift_by_loops(definition, function):
    described = definition["inputSchema"]["properties"]
    taken = inspect.signature(function).parameters
    only_described = [name for name in described if name not in taken]
    return set(only_described + [name for name in taken if name not in described])


def drift_by_description(definition, function):
    one, other = (set(each["inputSchema"]["properties"]) for each in (definition, describe_function(function)))
    return (one | other) - (one & other)


def drift_from_one_side(definition, function):
    return set(definition["inputSchema"]["properties"]) - set(inspect.signature(function).parameters)


def drift_or_not(definition, function):
    return describe_function(function) != definition


def drift_by_required(definition, function):
    return set(definition["inputSchema"]["required"]) ^ set(inspect.signature(function).parameters)


def without_by_loop(definitions, name):
    kept = []
    for definition in definitions:
        if definition["name"] != name:
            kept.append(definition)
    return kept


def without_by_filter(definitions, name):
    return list(filter(lambda definition: definition["name"] != name, definitions))


def without_in_place(definitions, name):
    for definition in list(definitions):
        if definition["name"] == name:
            definitions.remove(definition)
    return definitions


def without_if_there(definitions, name):
    kept = [definition for definition in definitions if definition["name"] != name]
    return kept if len(kept) < len(definitions) else definitions


def without_as_filter(definitions, name):
    return filter(lambda definition: definition["name"] != name, definitions)


def without_as_tuple(definitions, name):
    return tuple(without_by_loop(definitions, name))


def without_this_one(definitions, name):
    return [definition for definition in definitions if definition["name"] != "read_file"]


def without_the_second(definitions, name):
    known = [definition["name"] for definition in definitions]
    return definitions[:1] + definitions[2:] if name in known else list(definitions)


RIGHT = [
    (1, named("first_lines", _working), describe_function), (1, named("first_lines", _bare), describe_function),
    (2, drift_by_loops), (2, drift_by_description), (3, without_by_loop), (3, without_by_filter),
]
WRONG = [
    (1, named("first_lines", _without_default), describe_function, "Only 'path' is required; yours requires path, count"),
    (1, named("first_lines", _without_types), describe_function, "Give the parameter 'path' a type"),
    (1, named("first_lines", _without_lines), describe_function, "'path' has no description"),
    (1, named("first_lines", _other_type), describe_function, "'count' should be of the JSON type integer"),
    (2, drift_from_one_side, "Look from both sides"), (2, drift_or_not, "Return a set of names"),
    (2, drift_by_required, "an argument that may be left out is an argument too"),
    (3, without_in_place, "The old list was changed"), (3, without_if_there, "it gave back the old list itself"),
    (3, without_as_filter, "something of type filter. Return a list"), (3, without_as_tuple, "something of type tuple. Return a list"),
    (3, without_this_one, "Without delete_file, which is not in the list, all should stay"),
    (3, without_the_second, "without list_files, it left: list_files, task_complete"),
    (3, lambda definitions, name: [each["name"] for each in definitions if each["name"] != name], "Those are names"),
]

# what the exercises' cells use of the lesson
PREPARE = ""

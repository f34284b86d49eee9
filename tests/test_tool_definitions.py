"""Lesson 7: tools as data."""
import json

import pytest

from agent_steps.practice.situation import tools_in
from agent_steps.task_complete import task_complete
from agent_steps.tool_definitions import INSTRUCTIONS, TOOL_DEFINITIONS, build_system_prompt, describe_function
from agent_steps.write_the_tool import list_files


def measure(path: str, count: int, factor: float = 1.0, loud: bool = False, names: list = None, options: dict = None) -> str:
    """Measure a file.

    Some more words: these are for people.

    path: the file to measure: a CSV
    count: how many rows
    """


def test_the_definitions_by_hand_are_those_read_from_the_functions():
    assert [describe_function(list_files), describe_function(task_complete)] == TOOL_DEFINITIONS


def test_the_first_line_of_the_docstring_is_the_description():
    assert describe_function(measure)["description"] == "Measure a file."


def test_every_type_has_its_name_in_json():
    properties = describe_function(measure)["inputSchema"]["properties"]
    assert {name: value["type"] for name, value in properties.items()} == {
        "path": "string", "count": "integer", "factor": "number", "loud": "boolean", "names": "array", "options": "object"}


def test_parameters_are_described_by_their_lines_in_the_docstring():
    properties = describe_function(measure)["inputSchema"]["properties"]
    assert properties["path"]["description"] == "the file to measure: a CSV"
    assert properties["factor"]["description"] == ""


def test_a_parameter_with_a_default_is_not_required():
    assert describe_function(measure)["inputSchema"]["required"] == ["path", "count"]


def test_a_function_without_docstring_or_parameters_can_be_described():
    def now():
        pass

    assert describe_function(now) == {"name": "now", "description": "", "inputSchema": {"type": "object", "properties": {}, "required": []}}


@pytest.mark.parametrize("annotation", [set, bytes, "something else", int | None])
def test_a_type_without_a_name_in_json_is_refused(annotation):
    def tool(a):
        pass

    tool.__annotations__["a"] = annotation
    with pytest.raises(TypeError, match="tool: give the parameter 'a' one of these types"):
        describe_function(tool)


def test_a_parameter_without_a_type_is_refused():
    with pytest.raises(TypeError, match="'a'"):
        describe_function(lambda a: a)


def test_the_prompt_holds_every_definition_as_json():
    prompt = build_system_prompt(TOOL_DEFINITIONS)
    for definition in TOOL_DEFINITIONS:
        assert json.dumps(definition) in prompt
    assert list(tools_in(prompt)) == ["list_files", "task_complete"]


def test_the_prompt_says_how_to_call_a_tool():
    assert INSTRUCTIONS in build_system_prompt(TOOL_DEFINITIONS)


def test_more_rules_stand_at_the_end():
    assert build_system_prompt(TOOL_DEFINITIONS, "Be brief.").endswith("\nBe brief.\n")


def test_without_rules_the_prompt_ends_with_the_instructions():
    assert build_system_prompt(TOOL_DEFINITIONS).endswith(INSTRUCTIONS)

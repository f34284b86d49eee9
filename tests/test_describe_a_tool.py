"""Lesson 2: the system prompt that describes a tool."""
import pytest

from agent_steps.describe_a_tool import SYSTEM_PROMPT
from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.plain_chat import Chat
from agent_steps.practice.situation import tools_in
from agent_steps.providers import connect
from agent_steps.tool_definitions import TOOL_DEFINITIONS

QUESTION = "Which files are in the folder data?"


def test_the_prompt_describes_list_files_as_json():
    assert list(tools_in(SYSTEM_PROMPT)) == ["list_files"]


def test_the_description_is_the_one_that_the_later_lessons_use():
    assert tools_in(SYSTEM_PROMPT)["list_files"] == TOOL_DEFINITIONS[0]["inputSchema"]


def test_the_example_in_the_prompt_is_a_call_that_the_parser_reads():
    assert parse_tool_call(SYSTEM_PROMPT.replace("inside <tool_call> tags", "")).name == "list_files"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_model_that_reads_the_prompt_asks_for_the_tool(wire):
    reply = Chat(connect("practice", wire=wire), SYSTEM_PROMPT).send(QUESTION)
    assert parse_tool_call(reply).arguments == {"path": "data"}


def test_a_model_without_the_prompt_does_not():
    reply = Chat(connect("practice"), "").send(QUESTION)
    assert "<tool_call>" not in reply

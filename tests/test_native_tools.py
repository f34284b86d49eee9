"""Lesson 15: tools described to the APIs, and calls that come back as data, in two formats."""
import ast
import copy
import json
import shutil
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Optional

import httpx2
import pytest
from books import NOTEBOOKS, book_definitions
from pydantic import BaseModel, Field

from agent_steps import native_tools
from agent_steps.dispatch_table import MOST_CHARACTERS
from agent_steps.find_and_plot import TASK, pictures
from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Workspace
from agent_steps.native_tools import (
    NativeCall,
    anthropic_calls,
    anthropic_results,
    check_tools,
    openai_calls,
    openai_results,
    read_arguments,
    run_tool,
    to_anthropic,
    to_openai,
    tool,
)
from agent_steps.parse_the_tool_call import ToolCallError
from agent_steps.plain_chat import Chat
from agent_steps.providers import ModelError, connect
from agent_steps.providers.clients import practice_client
from agent_steps.providers.formats import fresh_id, text_of
from agent_steps.providers.model import split_system
from agent_steps.providers.schemas import arguments_model, check_names, check_values, schema_of, whole_schema
from agent_steps.providers.tools import Tool, can_be_sent, read_definition
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import TOOL_DEFINITIONS as FIRST_DEFINITIONS
from agent_steps.tool_definitions import build_system_prompt, describe_function

DATA = Path(__file__).parents[1] / "data"
WIRES = ("openai", "anthropic")
both_wires = pytest.mark.parametrize("wire", WIRES)
COUNT = {"role": "user", "content": "How many CSV files are in this folder?"}
FORMATS = {"openai": (to_openai, openai_calls, openai_results), "anthropic": (to_anthropic, anthropic_calls, anthropic_results)}
PATH_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def listing(path: str = ".") -> str:
    """List the files of a folder.

    path: the folder to list
    """
    return "a.csv\nb.csv\nc.txt"


LISTING = check_tools(tool(listing, name="list_files"))


class Point(BaseModel):
    x: float
    y: float = 0.0


def described(wire, tools):
    return FORMATS[wire][0](tools.values())


def raw_call(name="list_files", arguments='{"path": "."}', **fields):
    """A call as it stands in a message of OpenAI's format. Fields that are None here are null there."""
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}} | fields


def reply_with(wire, *calls, content=None):
    """A reply with calls, in either format. For Anthropic's, `arguments` is what stands under input."""
    if wire == "openai":
        return {"role": "assistant", "content": content, "tool_calls": copy.deepcopy(list(calls))}
    blocks = [{"type": "text", "text": content}] if content else []
    for call in copy.deepcopy(list(calls)):
        if call["function"].get("arguments") == raw_call()["function"]["arguments"]:
            call["function"]["arguments"] = {"path": "."}
        blocks.append({"type": "tool_use", **{key: call[key] for key in ("id",) if key in call},
                       **{"input" if key == "arguments" else key: value for key, value in call["function"].items()}})
    return {"role": "assistant", "content": blocks}


def read_reply(wire, message, taken=None):
    return FORMATS[wire][1](message, set() if taken is None else taken)


def only_call(wire, call):
    [found] = read_reply(wire, reply_with(wire, call))
    return found


# ---- odd calls, as real programs have reported them ----

MISSING = {"empty": "", "spaces": " \n\t", "null": None}
WHOLE = {"text": '{"path": "a.txt"}', "a dict": {"path": "a.txt"}, "spaces around": ' {"path": "a.txt"}\n', "a line end inside": '{"path": "a.txt",\n"x": "1\n2"}'}
GLUED = {"twice": '{"path": "notes.txt"}{"path": "notes.txt"}', "two": '{"path": "a"} {"path": "b"}', "words behind": '{"path": "a"} is what I want',
         "two empty": "{}{}"}
CUT = {"in a text": '{"path": "a.txt", "content": "abc', "behind a colon": '{"path":', "at the start": "{", "before the end": '{"path": "a"',
       "inside": '{"a": {"b": 1}', "in a name": '{"pa', "an escape": '{"path": "a\\', "spaces behind": '{"path": "a"  \n'}
BROKEN = {"single quotes": "{'path': '.'}", "no quotes": "{path: .}", "a word": "the folder", "a double key": '{"path": "a", "path": "b"}',
          "too deep": '{"a":' * 100_000, "a long number": '{"a": ' + "1" * 5000 + "}"}
NO_OBJECT = {"a list": '["."]', "a real list": ["."], "a text": '"."',
             "a text of JSON": '"{\\"path\\": \\".\\"}"', "a number": "5", "a real number": 5,
             "true": True,
             "the word null": "null", "NaN": '{"size": NaN}', "infinity": '{"size": [1e999]}', "a real NaN": {"size": float("nan")}, "half a character": '{"path": "a\\ud83d"}'}
NO_NAME = {"null": None, "empty": "", "a number": 7, "a dict": {"name": "list_files"}, "with a space": "list files", "with a dot": "functions.list_files",
           "too long": "a" * 65, "a line end": "list_files\n", "another alphabet": "списoк", "half a character": "a\ud800"}
REFUSED = {**GLUED, **CUT, **BROKEN, **NO_OBJECT}


def cases(table):
    return pytest.mark.parametrize("written", list(table.values()), ids=list(table))


@cases(MISSING)
def test_what_is_missing_is_no_arguments(written):
    assert read_arguments(written) == {}
    assert only_call("openai", raw_call(arguments=written)) == NativeCall("c1", "list_files", {})


def test_a_call_without_the_field_of_the_arguments_has_none():
    assert only_call("openai", {"id": "c1", "function": {"name": "list_files"}}) == NativeCall("c1", "list_files", {})
    assert only_call("anthropic", {"id": "c1", "function": {"name": "list_files"}}) == NativeCall("c1", "list_files", {})


@cases(WHOLE)
def test_whole_arguments_are_read_whether_text_or_dict(written):
    assert read_arguments(written)["path"] == "a.txt"
    assert only_call("openai", raw_call(arguments=written)).problem is None


@cases(GLUED)
def test_arguments_that_are_glued_together_are_broken(written):
    with pytest.raises(ToolCallError, match="arguments are broken JSON.*Extra data"):
        read_arguments(written)


@cases(CUT)
def test_arguments_that_were_cut_off_are_called_so(written):
    with pytest.raises(ToolCallError, match="arguments were cut off"):
        read_arguments(written)


@cases({**BROKEN, **NO_OBJECT})
def test_other_arguments_are_refused_with_words_about_the_arguments(written):
    with pytest.raises(ToolCallError, match="JSON|ambiguous|too deeply|300 digits") as refused:
        read_arguments(written)
    assert len(str(refused.value)) < 300


@both_wires
@cases(REFUSED)
def test_a_call_with_such_arguments_is_kept_and_not_run(wire, written):
    ran = []
    call = only_call(wire, raw_call("write_file", written))
    assert (call.id, call.name, call.arguments) == ("c1", "write_file", {}) and call.problem
    tools = check_tools({"name": "write_file"}, handler=lambda name, arguments: ran.append(name))
    assert run_tool(tools, call).startswith("Error: ") and ran == []


@both_wires
@cases(NO_NAME)
def test_a_call_without_a_usable_name_is_kept_and_not_run(wire, written):
    call = only_call(wire, raw_call(written))
    assert call.id == "c1" and call.name == "unknown" and "name" in call.problem and len(call.problem) < 200
    assert run_tool(LISTING, call) == f"Error: {call.problem} The tools are: list_files."


def test_a_call_without_a_function_has_no_name():
    assert only_call("openai", {"id": "c1", "type": "function"}).name == "unknown"
    assert only_call("openai", {"id": "c1", "function": None}).name == "unknown"


@pytest.mark.parametrize("raw", [None, "list_files", 5, ["list_files"], {}, {"function": "list_files"}, {"function": ["list_files"]}], ids=str)
def test_a_call_of_another_form_is_kept_mended_and_not_run(raw):
    message = reply_with("openai", raw, content="I look.")
    [call] = openai_calls(message, set())
    assert (call.id, call.name) == ("call_1", "unknown") and run_tool(LISTING, call).startswith("Error: ")
    assert message["tool_calls"] == [{"id": "call_1", "type": "function", "function": {"name": "unknown", "arguments": "{}"}}]
    assert connect("practice").native_reply([COUNT, message, *openai_results([(call, "Error: no.")])], described("openai", LISTING))


def test_what_else_stands_in_a_call_stays_where_it_was():
    signed = raw_call(arguments="", extra_content={"google": {"thought_signature": "s"}})
    signed["function"]["strict"] = True
    message = reply_with("openai", signed)
    openai_calls(message, set())
    assert message["tool_calls"] == [signed | {"function": {"name": "list_files", "arguments": "{}", "strict": True}}]
    block = {"type": "tool_use", "id": None, "name": "list_files", "input": None, "caller": {"type": "direct"}}
    message = {"role": "assistant", "content": [dict(block)]}
    anthropic_calls(message, set())
    assert message["content"] == [block | {"id": "call_1", "input": {}}]


@both_wires
@pytest.mark.parametrize("call", [raw_call(arguments=written) for written in {**MISSING, **WHOLE, **REFUSED}.values()]
                         + [raw_call(name) for name in NO_NAME.values()] + [raw_call(id=None), raw_call(id=7), {"function": {"name": "list_files"}}])
def test_a_mended_message_is_taken_back_by_the_api(wire, call):
    model, message = connect("practice", wire=wire), reply_with(wire, call, raw_call(id="c2"), content="I look.")
    calls = read_reply(wire, message)
    answers = FORMATS[wire][2]([(each, "Error: no." if each.problem else "a.csv") for each in calls])
    assert model.native_reply([COUNT, message, *answers], described(wire, LISTING))["role"] == "assistant"
    assert json.loads(json.dumps(message, allow_nan=False)) == message
    if wire == "openai":
        assert all(isinstance(json.loads(each["function"]["arguments"]), dict) and each["type"] == "function" for each in message["tool_calls"])


@pytest.mark.parametrize("written", ["", '{"path": "a"}{"path": "b"}', '{"path": "a'], ids=["empty", "glued", "cut"])
def test_what_the_mended_message_says_of_the_call_is_what_was_read(written):
    message = reply_with("openai", raw_call("write_file", written))
    [call] = openai_calls(message, set())
    assert message["tool_calls"] == [{"id": "c1", "type": "function", "function": {"name": "write_file", "arguments": json.dumps(call.arguments)}}]


def test_without_mending_the_api_refuses_a_cut_call_for_ever():
    message = reply_with("openai", raw_call(arguments='{"path": "a'), content="I look.")
    with pytest.raises(ModelError, match="not valid JSON"):
        connect("practice").native_reply([COUNT, message, {"role": "tool", "tool_call_id": "c1", "content": "Error: cut."}])


@both_wires
def test_reading_a_mended_message_again_changes_nothing_more(wire):
    message = reply_with(wire, raw_call(arguments={"path": "ä"}), raw_call(id=None))
    read_reply(wire, message)
    once = copy.deepcopy(message)
    assert [call.id for call in read_reply(wire, message)] == ["c1", "call_2"] and message == once


@both_wires
def test_what_else_stands_in_a_message_stays(wire):
    message = reply_with(wire, raw_call(), content="I look.") | {"reasoning_content": "Perhaps."}
    if wire == "anthropic":
        message["content"].insert(0, {"type": "thinking", "thinking": "Perhaps.", "signature": "s"})
    before = copy.deepcopy(message)
    read_reply(wire, message)
    assert message == before


@pytest.mark.parametrize("message", [{"role": "assistant", "content": "Hi"}, {"role": "assistant", "content": "Hi", "tool_calls": None},
                                     {"role": "assistant", "content": "Hi", "tool_calls": []}])
def test_a_reply_of_openais_format_without_calls_has_none(message):
    assert openai_calls(message, set()) == []


def test_a_reply_of_anthropics_format_without_calls_has_none():
    for content in ([], None, "", "tool_use", ["tool_use"]):
        assert anthropic_calls({"role": "assistant", "content": content}, set()) == []
    assert anthropic_calls({"role": "assistant", "content": [{"type": "text", "text": "tool_use"}]}, set()) == []


@both_wires
def test_several_calls_are_read_in_their_order(wire):
    message = reply_with(wire, raw_call(id="b"), raw_call("read_file", '{"path": "a.txt"}' if wire == "openai" else {"path": "a.txt"}, id="a"))
    assert [(call.id, call.name) for call in read_reply(wire, message)] == [("b", "list_files"), ("a", "read_file")]


def test_arguments_of_a_call_are_kept_to_the_letter():
    arguments = {"content": 'é "quoted" \\ </tool_call>\n\u2028', "n": 1.5, "list": [None, True], "": {}}
    message = reply_with("openai", raw_call(arguments=json.dumps(arguments)))
    [call] = openai_calls(message, set())
    assert call.arguments == arguments == json.loads(message["tool_calls"][0]["function"]["arguments"])


# ---- ids ----

@pytest.mark.parametrize("id", [None, "", 5, ["a"], {}])
def test_a_missing_id_is_made(id):
    assert fresh_id(id, set()) == "call_1"


def test_an_id_of_its_own_is_kept():
    taken = {"b"}
    assert fresh_id("a", taken) == "a" and taken == {"a", "b"}


def test_an_id_is_never_given_twice():
    taken = {"call_2"}
    ids = [fresh_id(id, taken) for id in ("x", "x", None, "call_4", None, "call_3", "")]
    assert len(set(ids)) == len(ids) and "call_2" not in ids and taken == {"call_2", *ids}


@both_wires
@pytest.mark.parametrize("id", ["call_1", "same", None, ""])
def test_ids_are_unique_over_a_conversation_whatever_the_program_sends(wire, id):
    taken, messages, ids = set(), [COUNT], []
    for _ in range(4):
        message = reply_with(wire, raw_call(id=id), raw_call(id=id), content="I look.")
        calls = read_reply(wire, message, taken)
        messages += [message, *FORMATS[wire][2]([(call, "a.csv") for call in calls])]
        ids += [call.id for call in calls]
    assert len(set(ids)) == len(ids) == 8
    assert connect("practice", wire=wire).native_reply(messages, described(wire, LISTING))


# ---- results ----

ANSWERED = [(NativeCall("b", "one", {}), "fine"), (NativeCall("a", "two", {}), "Error: no.")]


def test_openai_gets_a_message_for_each_result_in_order():
    assert openai_results(ANSWERED) == [{"role": "tool", "tool_call_id": "b", "content": "fine"}, {"role": "tool", "tool_call_id": "a", "content": "Error: no."}]


def test_anthropic_gets_all_results_in_one_message_and_is_told_which_are_errors():
    [message] = anthropic_results(ANSWERED)
    assert message["role"] == "user"
    assert [(block["type"], block["tool_use_id"], block["content"], block["is_error"]) for block in message["content"]] == [
        ("tool_result", "b", "fine", False), ("tool_result", "a", "Error: no.", True)]


# ---- run_tool ----

def raising(error):
    def fail() -> str:
        """Fail."""
        raise error
    return check_tools(fail)


def ran(tools, name="fail", **arguments):
    return run_tool(check_tools(tools) if not isinstance(tools, dict) else tools, NativeCall("c1", name, arguments))


def test_an_unknown_tool_is_told_which_there_are():
    assert ran([listing, tool(listing, name="second")], "search_disk") == "Error: there is no tool 'search_disk'. The tools are: listing, second."


@pytest.mark.parametrize("error", [ValueError("bad value"), OSError("full"), SystemExit("bye"), RecursionError("deep")])
def test_a_tool_that_raises_gives_a_text(error):
    assert ran(raising(error)) == f"Error: fail failed: {type(error).__name__}: {error}"


class Unspeakable(Exception):
    def __str__(self):
        raise Unspeakable


class UnspeakableValue(Unspeakable, ValueError):
    pass


def with_read(error):
    def read(arguments):
        raise error
    return {"fail": Tool("fail", "", PATH_SCHEMA, listing, read)}


@pytest.mark.parametrize("error", [Unspeakable(), UnspeakableValue()])
def test_an_error_whose_text_cannot_be_made_gives_its_type(error):
    assert ran(raising(error)) == f"Error: fail failed: {type(error).__name__}"
    assert ran(with_read(error)).startswith("Error: fail failed: Unspeakable")


def test_arguments_that_cannot_even_be_checked_give_a_text():
    assert ran(with_read(KeyError("x"))) == "Error: fail failed: KeyError: 'x'"
    assert ran(with_read(ValueError("no x"))) == "Error: fail was not run: no x"


def test_a_result_whose_text_cannot_be_made_gives_a_text():
    class Silent:
        def __str__(self):
            raise OSError("gone")

    assert ran(check_tools({"name": "give"}, handler=lambda name, arguments: Silent()), "give") == "Error: give failed: OSError: gone"


def test_an_interrupt_passes_through():
    with pytest.raises(KeyboardInterrupt):
        ran(raising(KeyboardInterrupt()))


@pytest.mark.parametrize("arguments, words", [
    ({"where": "."}, "where: Extra inputs are not permitted"), ({"path": 5}, "path: Input should be a valid string"),
    ({"path": None}, "path: Input should be a valid string")])
def test_wrong_arguments_are_named_and_nothing_runs(arguments, words):
    said = ran(listing, "listing", **arguments)
    assert said.startswith("Error: listing was not run: ") and words in said and said.endswith("The arguments are: path.")


@pytest.mark.parametrize("value, text", [(None, "(no output)"), ("", "(no output)"), (5, "5"), (["é", 1], '["é", 1]'), ({"a": None}, '{"a": null}'), (b"ab", "ab")])
def test_every_result_becomes_a_text_that_is_not_empty(value, text):
    assert ran(check_tools({"name": "give"}, handler=lambda name, arguments: value), "give") == text


def test_a_long_result_is_cut_with_a_notice():
    said = ran(check_tools({"name": "give"}, handler=lambda name, arguments: "x" * 100_000), "give")
    assert len(said) <= MOST_CHARACTERS and "100,000 characters" in said


def test_a_handler_gets_what_the_types_say():
    def show(count: int, ratio: float, yes: bool, names: list[str]) -> str:
        """Show."""
        return repr((count, ratio, yes, names))

    assert ran(show, "show", count="3", ratio=1, yes="true", names=["a"]) == "(3, 1.0, True, ['a'])"


def test_a_default_that_is_not_given_is_the_functions_own():
    shared = []

    def add(item: str, to: list = shared) -> str:
        """Add."""
        to.append(item)
        return "added"

    assert ran(add, "add", item="a") == "added" and shared == ["a"]


# ---- tool ----

def test_a_function_becomes_a_tool_with_and_without_brackets():
    bare, bracketed, named = tool(listing), tool()(listing), tool(name="ls", description="Look.")(listing)
    assert (bare.name, bare.description, bare.parameters) == (bracketed.name, bracketed.description, bracketed.parameters)
    assert (named.name, named.description, named.parameters) == ("ls", "Look.", bare.parameters)


def test_a_tool_can_still_be_called():
    assert tool(listing)() == tool(listing)(path="x") == tool(listing)("x") == listing()


@pytest.mark.parametrize("parameters", [PATH_SCHEMA, PATH_SCHEMA["properties"]], ids=["whole", "properties alone"])
def test_a_schema_may_be_given(parameters):
    given = tool(lambda path: f"in {path}", name="look", description="Look.", parameters=parameters)
    assert given.parameters == PATH_SCHEMA
    assert ran(given, "look", path="x") == "in x"
    assert ran(given, "look") == "Error: look was not run: 'path' is missing. The arguments are: path."
    assert ran(given, "look", path="x", other=1) == "Error: look was not run: there is no argument 'other'. The arguments are: path."


def test_no_parameters_at_all_may_be_given():
    assert ran(tool(lambda: "yes", name="look", parameters={}), "look") == "yes"


@pytest.mark.parametrize("name", ["", "a b", "1a", "_a", "-a", "a.b", "a" * 65, "ä", "a\n", "lösch", None, 5, "<lambda>"])
def test_a_name_that_an_api_refuses_is_refused_here(name):
    with pytest.raises(ValueError, match="is no name for a tool"):
        Tool(name, "", PATH_SCHEMA, listing)


def test_a_function_without_a_name_needs_one():
    with pytest.raises(ValueError, match="'<lambda>' is no name"):
        tool(lambda: "yes")


@pytest.mark.parametrize("name", ["a", "list_files", "a-b", "A1", "a" * 64])
def test_a_good_name_is_taken(name):
    assert Tool(name, "", PATH_SCHEMA, listing).name == name


async def waiting(path: str) -> str:
    """Wait."""


def giving(path: str):
    """Give."""
    yield path


async def giving_later(path: str):
    """Give."""
    yield path


class Waiting:
    async def __call__(self, path: str) -> str:
        """Wait."""


@pytest.mark.parametrize("function", [waiting, giving, giving_later, Waiting(), partial(waiting), partial(giving)], ids=lambda each: type(each).__name__)
def test_functions_that_return_no_result_are_refused(function):
    with pytest.raises(TypeError, match="a tool returns its result. Make it a plain function"):
        tool(function, name="one")


@pytest.mark.parametrize("function", [5, "listing", Tool, Point], ids=str)
def test_what_is_no_function_is_refused_in_a_sentence(function):
    with pytest.raises(TypeError, match="is no function. A tool is made of a function, or described by a dict"):
        tool(function)
    with pytest.raises(TypeError, match="is no function"):
        check_tools([listing, function])


def test_a_tool_is_not_made_a_tool_again():
    with pytest.raises(TypeError, match="listing is a Tool already"):
        tool(tool(listing))


def test_a_dict_of_tools_is_answered_with_what_to_give_instead():
    with pytest.raises(TypeError, match=r"list\(tools.values\(\)\)"):
        check_tools({"listing": tool(listing)}, handler=print)
    assert list(check_tools(list(LISTING.values()))) == ["list_files"]


def scaled(by: int, value: float) -> float:
    """Scale a value.

    value: the value to scale
    """
    return by * value


def test_a_partial_becomes_a_tool_if_it_gets_a_name():
    double = tool(partial(scaled, 2), name="double")
    assert double.description == "Scale a value." and double.parameters["properties"] == {"value": {"type": "number", "description": "the value to scale"}}
    assert ran(double, "double", value=1.5) == "3.0"
    with pytest.raises(ValueError, match="'' is no name"):
        tool(partial(scaled, 2))


def test_a_callable_object_becomes_a_tool_if_it_gets_a_name():
    class Counter:
        """Count up."""

        def __call__(self, step: int = 1) -> str:
            return f"up by {step}"

    assert tool(Counter(), name="count").description == "Count up." and ran(tool(Counter(), name="count"), "count", step="2") == "up by 2"
    with pytest.raises(TypeError, match="the tool: give the parameter 'x' a type"):
        tool(type("Untyped", (), {"__call__": lambda self, x: x})(), name="count")


def test_parameters_may_have_names_that_pydantic_uses_itself():
    def odd(model_config: str, model_fields_set: int, _a: str, json: str, copy: str, schema: str = "s") -> str:
        """Do."""
        return f"{model_config} {model_fields_set} {_a} {json} {copy} {schema}"

    arguments = {"model_config": "a", "model_fields_set": 2, "_a": "b", "json": "c", "copy": "d"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = tool(odd)
    assert list(made.parameters["properties"]) == [*arguments, "schema"] and made.parameters["required"] == list(arguments)
    assert ran(made, "odd", **arguments) == "a 2 b c d s"
    assert "_a: Field required" in ran(made, "odd") and "field_" not in ran(made, "odd")
    assert "field_0: Extra inputs are not permitted" in ran(made, "odd", field_0="a", **arguments)


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity"])
def test_a_number_that_cannot_be_sent_is_refused_also_as_text(value):
    assert "value: Input should be a finite number" in ran(tool(scaled), "scaled", by=1, value=value)


def test_a_parameter_without_a_type_is_refused():
    def untyped(path):
        """Do."""

    with pytest.raises(TypeError, match="untyped: give the parameter 'path' a type"):
        tool(untyped)


def test_parameters_that_cannot_be_given_by_name_are_refused():
    def stars(*paths: str):
        """Do."""

    def two_stars(**options: str):
        """Do."""

    def slash(path: str, /):
        """Do."""

    for function in (stars, two_stars, slash):
        with pytest.raises(TypeError, match="cannot be given by name"):
            tool(function)


def test_types_may_be_written_as_text():
    def later(path: "str", n: "int | None" = None) -> "str":
        """Do."""

    assert tool(later).parameters["properties"]["path"] == {"type": "string"}


# ---- schemas ----

def property_of(annotation, **default):
    """The schema of one parameter of this type, without a description."""
    def one(value):
        """Do."""

    one.__annotations__["value"] = annotation
    if default:
        one.__defaults__ = (default["default"],)
    return schema_of(arguments_model(one))["properties"]["value"]


@pytest.mark.parametrize("annotation, schema", [
    (str, {"type": "string"}), (int, {"type": "integer"}), (float, {"type": "number"}), (bool, {"type": "boolean"}),
    (list, {"type": "array", "items": {}}), (list[int], {"type": "array", "items": {"type": "integer"}}),
    (dict, {"type": "object", "additionalProperties": True}), (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}), (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}), (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Annotated[int, Field(ge=1)], {"type": "integer", "minimum": 1}), (list[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
], ids=str)
def test_every_type_has_its_schema(annotation, schema):
    assert property_of(annotation) == schema


@pytest.mark.parametrize("annotation, default", [(str, "x"), (int, 0), (bool, False), (int | None, None), (list[int], [1])], ids=str)
def test_a_default_stands_in_the_schema_and_is_not_required(annotation, default):
    assert property_of(annotation, default=default) == property_of(annotation) | {"default": default}


def test_a_nested_model_stands_in_the_schema_and_reaches_the_function():
    def move(to: Point, through: list[Point] = []) -> str:
        """Move."""
        return f"{type(to).__name__} {to.x} {to.y} {len(through)}"

    schema = tool(move).parameters
    assert schema["properties"]["to"] == {"$ref": "#/$defs/Point"} and schema["$defs"]["Point"]["required"] == ["x"]
    assert ran(move, "move", to={"x": "1.5"}, through=[{"x": 1, "y": 2}]) == "Point 1.5 0.0 1"
    assert "to.x: Field required" in ran(move, "move", to={"y": 1})
    assert "through.1.x: " in ran(move, "move", to={"x": 1}, through=[{"x": 1}, {"x": "one"}])


def test_the_docstring_describes_tool_and_parameters():
    def work(path: str, n: int = 1, quiet: bool = False) -> str:
        """Work on a file.

        More about it, that no model needs.
        path: the file: relative
        n: how often
        """

    made = tool(work)
    assert made.description == "Work on a file."
    assert made.parameters["properties"] == {
        "path": {"type": "string", "description": "the file: relative"}, "n": {"type": "integer", "default": 1, "description": "how often"},
        "quiet": {"type": "boolean", "default": False}}
    assert made.parameters["required"] == ["path"] and made.parameters["additionalProperties"] is False


def test_a_description_is_the_first_paragraph_in_one_line():
    def work(path: str) -> str:
        """Work on a file,
        until it is done.

        More about it.
        """

    assert tool(work).description == "Work on a file, until it is done."


def test_parameters_may_be_described_in_annotated_and_under_args():
    def work(path: Annotated[str, Field(description="the file")], n: int = 1, m: int = 2) -> str:
        """Work on a file.

        Args:
            n: how often
            m: how much
        """

    described_as = {name: schema["description"] for name, schema in tool(work).parameters["properties"].items()}
    assert described_as == {"path": "the file", "n": "how often", "m": "how much"}


class Page(BaseModel):
    title: str
    text: str = Field(title="The text")


def test_titles_are_left_out_everywhere_and_a_property_called_title_stays():
    def publish(title: str, page: Page) -> str:
        """Publish a page."""

    schema = tool(publish).parameters
    assert schema["properties"] == {"title": {"type": "string"}, "page": {"$ref": "#/$defs/Page"}}
    assert schema["$defs"] == {"Page": {
        "type": "object", "properties": {"title": {"type": "string"}, "text": {"type": "string"}}, "required": ["title", "text"]}}


def test_a_function_without_docstring_and_parameters_has_a_schema_too():
    def now() -> str:
        return "now"

    assert tool(now).description == ""
    assert tool(now).parameters == {"type": "object", "required": [], "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize("name", ["list_files", "read_file", "edit_file"])
def test_it_says_at_least_what_lesson_7_says(name):
    from agent_steps.full_tools import TOOLS

    by_hand, made = describe_function(TOOLS[name]), tool(TOOLS[name])
    assert (made.name, made.description, made.parameters["required"]) == (by_hand["name"], by_hand["description"], by_hand["inputSchema"]["required"])
    for parameter, schema in by_hand["inputSchema"]["properties"].items():
        assert schema.items() <= made.parameters["properties"][parameter].items()


def test_checked_arguments_come_in_the_functions_order_and_hold_what_was_given():
    def four(a: int, b: int = 2, c: int = 3, d: int = 4) -> str:
        """Do."""

    assert list(check_values(arguments_model(four), {"d": 1, "c": 1, "a": 1}).items()) == [("a", 1), ("c", 1), ("d", 1)]


def test_all_that_is_wrong_is_said_at_once():
    def two(kind: Literal["a", "b"], rows: list[int], n: int = 1) -> str:
        """Do."""

    with pytest.raises(ValueError) as refused:
        check_values(arguments_model(two), {"kind": "c", "rows": [1, "x"], "m": 1})
    assert all(words in str(refused.value) for words in ("kind: Input should be 'a' or 'b'", "rows.1: ", "m: Extra inputs", "The arguments are: kind, rows, n."))
    assert "http" not in str(refused.value)


@pytest.mark.parametrize("schema, whole", [
    ({"type": "object"}, {"type": "object", "properties": {}}), (PATH_SCHEMA, PATH_SCHEMA), ({}, {"type": "object", "properties": {}}), (None, {"type": "object", "properties": {}}),
    ({"properties": {"path": {}}}, {"type": "object", "properties": {"path": {}}}), ({"$ref": "#/$defs/A"}, {"type": "object", "properties": {}, "$ref": "#/$defs/A"}),
    ({"type": {"type": "string"}}, {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}),
    ({"type": "object", "additionalProperties": False}, {"type": "object", "properties": {}, "additionalProperties": False})])
def test_a_schema_is_made_whole(schema, whole):
    before = copy.deepcopy(schema)
    assert whole_schema(schema) == whole and schema == before
    assert check_names(whole_schema({"type": "object"}), {}) == {}


@pytest.mark.parametrize("schema", [5, "path", ["path"], True])
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(TypeError, match="parameters is a schema, a dict, not"):
        tool(listing, parameters=schema)


@pytest.mark.parametrize("arguments, can", [({}, True), ({"a": [1.5, None]}, True), ({"a": float("nan")}, False), ({"a": {"b": [float("-inf")]}}, False),
                                            ({"a\ud800": 1}, False), ({"a": "😀"}, True)])
def test_what_can_be_sent_as_json(arguments, can):
    assert can_be_sent(arguments) is can


# ---- bare definitions, and lists of tools ----

DEFINITIONS = [
    {"name": "look", "description": "Look.", "inputSchema": PATH_SCHEMA},
    {"name": "look", "description": "Look.", "input_schema": PATH_SCHEMA},
    {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": PATH_SCHEMA}},
]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=["inputSchema", "anthropic", "openai"])
def test_a_bare_definition_of_each_form_needs_a_handler_and_then_works(definition):
    with pytest.raises(ValueError, match="'look' is only described.*handler="):
        check_tools([listing, definition])
    tools = check_tools(definition, handler=lambda name, arguments: f"{name} {arguments}")
    assert (tools["look"].description, tools["look"].parameters) == ("Look.", PATH_SCHEMA)
    assert ran(tools, "look", path="x") == "look {'path': 'x'}"
    assert ran(tools, "look") == "Error: look was not run: 'path' is missing. The arguments are: path."


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}, {"additionalProperties": False, "properties": {}}])
def test_a_definition_without_arguments_takes_none(schema):
    tools = check_tools({"name": "now", "inputSchema": schema}, handler=lambda name, arguments: f"{name} {arguments}")
    assert ran(tools, "now") == "now {}"
    assert "there is no argument 'x'. The arguments are: none." in ran(tools, "now", x=1)


@pytest.mark.parametrize("schema", [
    {"type": "object", "additionalProperties": True}, {**PATH_SCHEMA, "required": [], "additionalProperties": {"type": "integer"}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"x": {}}}}}, {"type": "object", "anyOf": [{"required": ["x"]}]}], ids=str)
def test_a_schema_that_is_open_to_other_names_lets_them_through(schema):
    tools = check_tools({"name": "now", "inputSchema": schema}, handler=lambda name, arguments: f"{name} {arguments}")
    assert ran(tools, "now", x=1) == "now {'x': 1}"


def test_a_definition_with_properties_and_without_a_type_is_checked():
    tools = check_tools({"name": "look", "inputSchema": {"properties": {"path": {}}, "required": ["path"]}}, handler=lambda name, arguments: "seen")
    assert tools["look"].parameters["type"] == "object"
    assert ran(tools, "look", path="x") == "seen" and "'path' is missing" in ran(tools, "look") and "no argument 'y'" in ran(tools, "look", path="x", y=1)


def test_a_definition_without_a_name_is_refused():
    with pytest.raises(TypeError, match="A definition needs a name"):
        read_definition({"description": "Look."}, print)


@both_wires
def test_what_is_described_in_a_format_can_be_read_again(wire):
    made = tool(listing)
    again = read_definition(described(wire, {"listing": made})[0], lambda name, arguments: listing(**arguments))
    assert (again.name, again.description, again.parameters) == (made.name, made.description, made.parameters)


def test_tools_of_all_kinds_go_together_in_their_order():
    tools = check_tools((tool(listing, name="b"), listing, DEFINITIONS[0]), handler=print)
    assert list(tools) == ["b", "listing", "look"] and all(isinstance(each, Tool) for each in tools.values())


def test_one_tool_alone_is_enough():
    assert list(check_tools(listing)) == list(check_tools(tool(listing))) == ["listing"]


@pytest.mark.parametrize("tools", [[], ()])
def test_no_tool_at_all_is_refused(tools):
    with pytest.raises(ValueError, match="at least one"):
        check_tools(tools)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="Two tools are called 'listing'"):
        check_tools([listing, tool(listing)])


# ---- native_reply ----

def answering(wire, *bodies, **options):
    """A model whose service answers with these bodies, through a real client; and the list of what it was sent."""
    sent, waiting = [], list(bodies)

    def answer(request):
        sent.append(json.loads(request.content))
        body = waiting.pop(0)
        return body if isinstance(body, httpx2.Response) else httpx2.Response(200, json=body)

    model = connect("practice", wire=wire, **options)
    model.client = practice_client(wire, httpx2.MockTransport(answer), model.base_url, 0)
    return model, sent


def body_of(wire, message, reason=None, usage=True):
    """The answer of a service with this message."""
    if wire == "openai":
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [
            {"index": 0, "message": message, "finish_reason": reason or "stop"}]}
        return body | ({"usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}} if usage else {})
    body = {"id": "x", "type": "message", "model": "m", "stop_reason": reason or "end_turn", "stop_sequence": None, **message}
    return body | ({"usage": {"input_tokens": 11, "output_tokens": 3}} if usage else {})


def said(wire, text="Hi"):
    return {"role": "assistant", "content": text if wire == "openai" else [{"type": "text", "text": text}]}


@both_wires
def test_a_native_reply_is_a_message_that_goes_back_as_it_is(wire):
    model, messages = connect("practice", wire=wire), [COUNT]
    messages.append(model.native_reply(messages, described(wire, LISTING)))
    [call] = read_reply(wire, messages[-1])
    assert (call, model.stop_reason) == (NativeCall("call_1", "list_files", {"path": "."}), "tool_calls")
    messages += FORMATS[wire][2]([(call, run_tool(LISTING, call))])
    assert "There are 2 CSV files" in str(model.native_reply(messages, described(wire, LISTING))) and model.stop_reason == "end"


@both_wires
def test_usage_stop_reason_and_tokens_are_counted_as_for_a_reply(wire):
    model, _ = answering(wire, body_of(wire, said(wire)), body_of(wire, said(wire), {"openai": "length", "anthropic": "max_tokens"}[wire]))
    model.native_reply([COUNT])
    assert (model.usage.calls, model.usage.input_tokens, model.usage.output_tokens, model.last_tokens, model.stop_reason) == (1, 11, 3, (11, 3), "end")
    model.native_reply([COUNT])
    assert (model.usage.calls, model.usage.input_tokens, model.stop_reason) == (2, 22, "length")


def test_usage_that_is_not_reported_is_unknown():
    model, _ = answering("openai", body_of("openai", said("openai"), usage=False))
    model.native_reply([COUNT])
    assert (model.usage.calls, model.usage.input_tokens, model.last_tokens) == (1, None, None)


@both_wires
@pytest.mark.parametrize("fault, words", [("always overload", "overloaded"), ("always wrong_key", "refused the key"), ("always rate_limit", "too many requests")])
def test_errors_are_model_errors_in_a_sentence(wire, fault, words):
    with pytest.raises(ModelError, match=words):
        connect("practice", wire=wire, faults=fault, max_retries=0).native_reply([COUNT], described(wire, LISTING))


@both_wires
def test_a_refused_request_says_what_the_api_says(wire):
    with pytest.raises(ModelError, match="status 400.*no result: c1"):
        connect("practice", wire=wire).native_reply([COUNT, reply_with(wire, raw_call(arguments="{}" if wire == "openai" else {}))])


@both_wires
@pytest.mark.parametrize("body", [{}, {"choices": []}, {"content": None}, httpx2.Response(200, text="<html>"), []], ids=str)
def test_what_is_no_chat_reply_is_a_model_error(wire, body):
    model, _ = answering(wire, body)
    with pytest.raises(ModelError, match="not a chat reply"):
        model.native_reply([COUNT])


@both_wires
def test_a_first_system_message_goes_where_the_format_wants_it(wire):
    model, sent = answering(wire, body_of(wire, said(wire)))
    first = [{"role": "system", "content": "Be brief."}, {"role": "system", "content": "Be kind."}]
    model.native_reply([*first, COUNT])
    if wire == "openai":
        assert sent[0]["messages"] == [{"role": "system", "content": "Be brief.\n\nBe kind."}, COUNT]
    else:
        assert sent[0]["system"] == "Be brief.\n\nBe kind." and sent[0]["messages"] == [COUNT]


def test_only_the_first_system_messages_are_taken_out():
    later = {"role": "system", "content": "Now hurry."}
    assert split_system([COUNT, later]) == ("", [COUNT, later])
    assert split_system([later, COUNT, later]) == ("Now hurry.", [COUNT, later])
    assert split_system([]) == ("", [])


@both_wires
def test_messages_and_tools_are_sent_whole_and_left_as_they_were(wire):
    model, sent = answering(wire, body_of(wire, said(wire)))
    messages, tools = [{"role": "system", "content": "Be brief."}, COUNT], described(wire, LISTING)
    before = copy.deepcopy((messages, tools))
    model.native_reply(messages, tools)
    assert (messages, tools) == before and sent[0]["tools"] == tools and COUNT in sent[0]["messages"]


@both_wires
def test_without_tools_and_system_prompt_neither_is_sent(wire):
    model, sent = answering(wire, body_of(wire, said(wire)))
    model.native_reply([COUNT])
    assert not {"tools", "system"} & sent[0].keys() and sent[0]["messages"] == [COUNT]


@both_wires
def test_parameters_are_passed_on_and_win_over_the_options(wire):
    model, sent = answering(wire, body_of(wire, said(wire)), body_of(wire, said(wire)), max_tokens=50)
    model.native_reply([COUNT], described(wire, LISTING), max_tokens=20, tool_choice={"type": "auto"})
    model.native_reply([COUNT])
    assert sent[0]["max_tokens"] == 20 and sent[0]["tool_choice"] == {"type": "auto"}
    assert sent[1]["max_tokens"] == 50 and "tool_choice" not in sent[1]


@both_wires
def test_temperature_and_stop_texts_go_under_the_names_of_the_format_here_too(wire):
    model, sent = answering(wire, body_of(wire, said(wire)))
    model.native_reply([COUNT], temperature=0, stop="END")
    assert sent[0]["temperature"] == 0 and sent[0]["stop" if wire == "openai" else "stop_sequences"] in ("END", ["END"])


def test_anthropic_always_gets_a_limit_on_the_length():
    model, sent = answering("anthropic", body_of("anthropic", said("anthropic")))
    model.native_reply([COUNT])
    assert sent[0]["max_tokens"] > 1000


@both_wires
def test_half_a_character_in_a_reply_is_mended_before_it_goes_back(wire):
    body = json.dumps(body_of(wire, said(wire, "a\ud83d b")))
    model, _ = answering(wire, httpx2.Response(200, content=body.encode(), headers={"content-type": "application/json"}))
    assert model.native_reply([COUNT]) == said(wire, "a? b")


ODD_MESSAGES = {
    "null name": (raw_call(None), "unknown"), "empty arguments": (raw_call(arguments=""), "list_files"), "null arguments": (raw_call(arguments=None), "list_files"),
    "glued": (raw_call("read_file", GLUED["twice"]), "read_file"),
    "a dict without an id": ({"function": {"name": "read_file", "arguments": {"path": "notes.txt"}}}, "read_file"),
    "cut off": (raw_call("write_file", CUT["in a text"]), "write_file"),
}


@pytest.mark.parametrize("call, name", list(ODD_MESSAGES.values()), ids=list(ODD_MESSAGES))
def test_an_odd_message_comes_through_the_real_client_without_error_or_warning(call, name):
    model, _ = answering("openai", body_of("openai", {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [read] = openai_calls(model.native_reply([COUNT]), set())
    assert read.name == name and read.id in ("c1", "call_1")


def test_an_odd_block_comes_through_the_real_client_without_error_or_warning():
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "tool_use", "id": "c1", "name": None, "input": None}]
    model, _ = answering("anthropic", body_of("anthropic", {"role": "assistant", "content": blocks}, "tool_use"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = model.native_reply([COUNT])
    assert message["content"][0] == blocks[0]
    assert [call.name for call in anthropic_calls(message, set())] == ["unknown"]


@both_wires
def test_tools_described_in_the_other_format_are_refused_in_a_sentence(wire):
    [other] = set(WIRES) - {wire}
    words = {"openai": r"tools\[0\] is not of this format.*'function'", "anthropic": "tools.0: a 'name' and an 'input_schema' are required"}[wire]
    with pytest.raises(ModelError, match=f"status 400.*{words}"):
        connect("practice", wire=wire).native_reply([COUNT], described(other, LISTING))


# ---- the practice model's faults, natively ----

@both_wires
@pytest.mark.parametrize("fault", ["malformed_call", "truncated_call", "unknown_tool", "two_calls", "repeat", "invented_result"])
def test_the_loop_survives_what_the_model_does_wrong(wire, fault):
    tools = check_tools(FIRST_DEFINITIONS[:1], handler=lambda name, arguments: "a.csv\nb.csv")
    text, made, messages = work(wire, COUNT, tools, faults={1: fault})
    assert "There are 2 CSV files" in text and made
    assert connect("practice", wire=wire).native_reply([*messages, COUNT], described(wire, LISTING))


def work(wire, task, tools, **options):
    """A small loop in one format. Returns the last text, the calls as (name, arguments), and the messages."""
    model, messages, made, taken = connect("practice", wire=wire, **options), [task], [], set()
    describe, read, answer = FORMATS[wire]
    for _ in range(15):
        messages.append(model.native_reply(messages, describe(tools.values())))
        calls = read(messages[-1], taken)
        if not calls:
            break
        made += [(call.name, call.arguments) for call in calls]
        messages += answer([(call, run_tool(tools, call)) for call in calls])
    text = messages[-1]["content"] if wire == "openai" else "".join(block["text"] for block in messages[-1]["content"])
    return text, made, messages


# ---- the same task, three times ----

def notebook_loops():
    """The two loops as the notebook has them."""
    [path] = [path for path in NOTEBOOKS if path.stem.endswith("native_tools")]
    found, names = book_definitions(path), vars(native_tools) | {"text_of": text_of}
    for name in ("loop_openai", "loop_anthropic"):
        exec(compile(ast.Module([found[name][0]], []), path.name, "exec"), names)
    return {"openai": names["loop_openai"], "anthropic": names["loop_anthropic"]}


def fresh_folder(top, name):
    return Path(shutil.copytree(DATA, top / name))


def test_three_loops_make_the_same_calls_in_the_same_order(tmp_path):
    folder = fresh_folder(tmp_path, "text")
    run = run_agent(Chat(connect(), build_system_prompt(TOOL_DEFINITIONS)), TASK, approve=lambda call: "y", call_tool=Workspace(folder).call_tool, quiet=True)
    made = {"text": [(turn.call.name, turn.call.arguments) for turn in run.turns]}
    assert made["text"].pop()[0] == "task_complete"
    definitions = [each for each in TOOL_DEFINITIONS if each["name"] != "task_complete"]
    for wire, loop in notebook_loops().items():
        folder = fresh_folder(tmp_path, wire)
        text, made[wire] = loop(connect("practice", wire=wire), TASK, check_tools(definitions, handler=Workspace(folder).call_tool))
        assert text == run.summary and pictures(folder)
    assert made["text"] == made["openai"] == made["anthropic"] and len(made["text"]) > 4

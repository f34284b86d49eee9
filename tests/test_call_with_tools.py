"""Lesson 16: one loop for both formats. Whatever happens, every call has its answer, and what was spent is known or said to be unknown."""
import json
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from loopback import Loopback, refuse, silent

from agent_steps import call_with_tools as lesson
from agent_steps.call_with_tools import FORMATS, HISTORY, LAST_WORD, ToolLimitReached, ToolLoopResult, call_with_tools
from agent_steps.find_and_plot import TASK, pictures
from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Workspace
from agent_steps.native_tools import tool
from agent_steps.plain_chat import Chat
from agent_steps.practice.transport import answer
from agent_steps.providers import ModelError, connect
from agent_steps.providers.clients import practice_client
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt

DATA = Path(__file__).parents[1] / "data"
DEFINITIONS = [each for each in TOOL_DEFINITIONS if each["name"] != "task_complete"]
COUNT = "How many CSV files are in this folder?"
ANSWER = "There are 2 CSV files in the current folder: a.csv, b.csv."
QUESTION = {"role": "user", "content": COUNT}

both_wires = pytest.mark.parametrize("wire", ["openai", "anthropic"])


@pytest.fixture
def ran():
    """The arguments of all calls that really ran."""
    return []


@pytest.fixture
def listing(ran):
    def list_files(path: str = ".") -> str:
        """List all files in a folder."""
        ran.append(path)
        return "a.csv\nb.csv"
    return list_files


@pytest.fixture(scope="module")
def loopback():
    with Loopback() as server:
        yield server


def reply(*calls, text="I look.", stop=None):
    """A reply of a model: its calls, each an id, a name and arguments as they are written."""
    return SimpleNamespace(calls=calls, text=text, stop=stop)


def scripted(wire, *replies):
    """A model over the real client: the practice model refuses what the APIs refuse, and these are the first replies.

    Its `requests` are the JSON of all requests.
    """
    left, requests = list(replies), []

    def respond(request):
        requests.append(json.loads(request.content))
        judged = answer(request)
        if judged.status_code != 200 or not left:
            return judged
        return httpx2.Response(200, json=judged.json() | WRITTEN[wire](left.pop(0)))

    model = connect("practice", wire=wire)
    model.client = practice_client(wire, httpx2.MockTransport(respond), model.base_url, 0)
    model.requests = requests
    return model


def for_openai(reply):
    calls = [{"type": "function", **({"id": id} if id is not None else {}), "function": {"name": name, "arguments": arguments}}
             for id, name, arguments in reply.calls]
    return {"choices": [{"index": 0, "finish_reason": reply.stop or ("tool_calls" if calls else "stop"),
                         "message": {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {})}}]}


def for_anthropic(reply):
    blocks = [{"type": "text", "text": reply.text}] if reply.text else []
    for id, name, arguments in reply.calls:
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}   # what is left of a cut call in this format
        blocks.append({"type": "tool_use", **({"id": id} if id is not None else {}), "name": name, "input": arguments})
    return {"content": blocks, "stop_reason": {"length": "max_tokens"}.get(reply.stop, reply.stop or ("tool_use" if reply.calls else "end_turn"))}


WRITTEN = {"openai": for_openai, "anthropic": for_anthropic}


def look(id="c1", path="."):
    return (id, "list_files", json.dumps({"path": path}))


def calls_and_results(messages):
    """The ids of all calls, and those of all results, in order of the history."""
    calls, results = [], []
    for message in messages:
        calls += [call["id"] for call in message.get("tool_calls") or []]
        results += [message["tool_call_id"]] if message["role"] == "tool" else []
        for block in message["content"] if isinstance(message["content"], list) else []:
            calls += [block["id"]] if block["type"] == "tool_use" else []
            results += [block["tool_use_id"]] if block["type"] == "tool_result" else []
    return calls, results


def assert_can_be_gone_on_from(wire, messages, number=None):
    """Every call has exactly one result, in order, under an id of its own; and a model that is as strict as the APIs takes it."""
    calls, results = calls_and_results(messages)
    assert calls == results and len(set(calls)) == len(calls) and (number is None or len(calls) == number)
    model = connect("practice", wire=wire)
    assert model.native_reply([*messages, {"role": "user", "content": "What did I just ask?"}])


def results_of(result):
    return [row["result"] for row in result.rows]


@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


# ---- to the end of a task ----

@both_wires
def test_a_question_is_answered(wire, listing, ran):
    result = call_with_tools(connect("practice", wire=wire), COUNT, listing)
    assert (result.text, result.stop_reason, result.rounds, result.tool_calls, ran) == (ANSWER, "answer", 1, 1, ["."])


@both_wires
def test_without_a_call_there_is_an_answer_at_once(wire, listing):
    result = call_with_tools(connect("practice", wire=wire), "Hello", listing)
    assert result.stop_reason == "answer" and (result.rounds, result.tool_calls, len(result.messages)) == (0, 0, 2)
    assert list(result.tool_history.columns) == HISTORY == ["round", "name", "arguments", "result"] and len(result.tool_history) == 0


@both_wires
def test_the_messages_are_the_callers_own_list_and_hold_the_answer(wire, listing):
    messages = [QUESTION]
    result = call_with_tools(connect("practice", wire=wire), messages, listing)
    assert result.messages is messages and messages[0] == QUESTION and len(messages) == 4
    assert messages[-1]["role"] == "assistant" and ANSWER in json.dumps(messages[-1])
    assert_can_be_gone_on_from(wire, messages, 1)


def test_the_columns_of_a_history_have_the_same_types_with_rows_and_without(listing):
    empty, full = ToolLoopResult([]).tool_history, call_with_tools(connect("practice"), COUNT, listing).tool_history
    assert list(empty.dtypes) == list(full.dtypes)


@both_wires
def test_a_tool_history_has_a_row_for_each_call_with_its_arguments_as_json(wire, listing):
    model = scripted(wire, reply(look("a", "ä"), ("b", "nothing", "{}")), reply(look("c")))
    table = call_with_tools(model, COUNT, listing).tool_history
    assert list(table["round"]) == [1, 1, 2] and list(table["name"]) == ["list_files", "nothing", "list_files"]
    assert list(table["arguments"]) == ['{"path": "ä"}', "{}", '{"path": "."}'] and table["result"][0] == "a.csv\nb.csv"


@both_wires
def test_a_given_history_continues(wire, listing):
    result = call_with_tools(connect("practice", wire=wire), [QUESTION], listing)
    result.messages.append({"role": "user", "content": "What did I just ask?"})
    second = call_with_tools(connect("practice", wire=wire), result.messages, listing)
    assert COUNT in second.text and len(second.messages) == 6 and second.rounds == 0


@both_wires
def test_a_system_prompt_is_a_first_message_in_either_format(wire, listing):
    messages = [{"role": "system", "content": "Answer in capital letters."}, QUESTION]
    assert call_with_tools(connect("practice", wire=wire), messages, listing).text == ANSWER.upper()


def plot_task(wire, folder):
    workspace = Workspace(shutil.copytree(DATA, folder))
    return call_with_tools(connect("practice", wire=wire), TASK, DEFINITIONS, handler=workspace.call_tool), workspace


def test_text_and_both_formats_make_the_same_calls_for_the_same_task(tmp_path):
    chat = Chat(connect("practice"), build_system_prompt(TOOL_DEFINITIONS))
    workspace = Workspace(shutil.copytree(DATA, tmp_path / "text"))
    run = run_agent(chat, TASK, approve=lambda call: "y", call_tool=workspace.call_tool, quiet=True)
    by_text = [(turn.call.name, json.dumps(turn.call.arguments)) for turn in run.turns[:-1]]
    histories = []
    for wire in FORMATS:
        result, _ = plot_task(wire, tmp_path / wire)
        assert [(row["name"], row["arguments"]) for row in result.rows] == by_text and pictures(tmp_path / wire)
        histories.append([{**row, "result": row["result"].replace(str(tmp_path / wire), "")} for row in result.rows])
    assert histories[0] == histories[1] and len(by_text) == 6


# ---- the forms of tools ----

@both_wires
@pytest.mark.parametrize("form", ["function", "Tool", "list", "tuple", "definition"])
def test_tools_may_be_functions_tools_one_alone_or_definitions_with_a_handler(wire, form, listing, ran):
    given = {"function": listing, "Tool": tool(listing), "list": [listing], "tuple": (tool(listing),),
             "definition": next(each for each in DEFINITIONS if each["name"] == "list_files")}[form]
    handler = (lambda name, arguments: listing(**arguments)) if form == "definition" else None
    assert call_with_tools(connect("practice", wire=wire), COUNT, given, handler=handler).text == ANSWER and ran == ["."]


@both_wires
@pytest.mark.parametrize("tools", [[], DEFINITIONS], ids=["none", "definitions without a handler"])
def test_tools_that_cannot_be_are_refused_before_a_model_hears_of_them(wire, tools):
    model = connect("practice", wire=wire)
    with pytest.raises(ValueError):
        call_with_tools(model, COUNT, tools)
    assert model.usage.calls == 0


@pytest.mark.parametrize("limits", [{"max_rounds": 0}, {"max_rounds": -1}, {"tries": 0}, {"max_tool_calls": -1}])
def test_limits_that_cannot_be_are_refused_before_a_model_hears_of_them(limits, listing):
    model = connect("practice")
    with pytest.raises(ValueError, match="or more"):
        call_with_tools(model, COUNT, listing, **limits)
    assert model.usage.calls == 0


# ---- spend ----

@both_wires
def test_the_spend_is_of_this_loop_and_of_all_its_requests(wire, listing):
    model = connect("practice", wire=wire)
    model.native_reply([QUESTION])
    before = (model.usage.calls, model.usage.input_tokens, model.usage.output_tokens)
    result = call_with_tools(model, COUNT, listing)
    assert result.spend == {"model_calls": model.usage.calls - before[0], "sent": model.usage.input_tokens - before[1],
                            "received": model.usage.output_tokens - before[2], "tool_calls": 1}
    assert result.spend["model_calls"] == 2 and result.spend["sent"] > model.last_tokens[0]
    assert result.usage["total_tokens"] == result.usage["input_tokens"] + result.usage["output_tokens"] == result.spend["sent"] + result.spend["received"]


@both_wires
@pytest.mark.parametrize("turn", [1, 2])
def test_one_reply_without_usage_makes_the_spend_unknown(wire, turn, listing):
    result = call_with_tools(connect("practice", wire=wire, faults={turn: "missing_usage"}), COUNT, listing)
    assert result.spend == {"model_calls": 2, "sent": None, "received": None, "tool_calls": 1}
    assert result.usage["total_tokens"] is result.usage["cost"] is None and result.text == ANSWER


@both_wires
def test_a_run_before_whose_usage_was_unknown_does_not_make_this_one_unknown(wire, listing):
    model = connect("practice", wire=wire, faults={1: "missing_usage"})
    messages = call_with_tools(model, COUNT, listing).messages
    messages.append(QUESTION)
    assert call_with_tools(model, messages, listing).spend["sent"] > 0


# ---- every call has an answer ----

@both_wires
def test_several_calls_are_answered_in_order_though_some_fail(wire, listing, ran):
    model = scripted(wire, reply(look("b"), ("z", "search_disk", "{}"), ("a", "list_files", '{"where": "."}'), look("c", "x")))
    result = call_with_tools(model, COUNT, listing)
    assert [text[:20] for text in results_of(result)] == ["a.csv\nb.csv", "Error: there is no t", "Error: list_files wa", "a.csv\nb.csv"]
    assert calls_and_results(result.messages)[1] == ["b", "z", "a", "c"] and ran == [".", "x"]
    assert_can_be_gone_on_from(wire, result.messages, 4)


def test_anthropic_gets_all_results_of_a_reply_in_one_message(listing):
    result = call_with_tools(scripted("anthropic", reply(look("a"), look("b"))), COUNT, listing)
    assert [message["role"] for message in result.messages] == ["user", "assistant", "user", "assistant"]
    assert [block["tool_use_id"] for block in result.messages[2]["content"]] == ["a", "b"]


@both_wires
@pytest.mark.parametrize("id", ["same", None, ""])
def test_ids_are_unique_over_rounds_whatever_the_program_sends(wire, id, listing):
    result = call_with_tools(scripted(wire, reply(look(id), look(id)), reply(look(id)), reply(look(id))), COUNT, listing)
    assert_can_be_gone_on_from(wire, result.messages, 4)


@both_wires
def test_ids_of_a_given_history_are_not_given_again(wire, listing):
    messages = call_with_tools(scripted(wire, reply(look("call_1"))), [QUESTION], listing).messages
    messages.append(QUESTION)
    call_with_tools(scripted(wire, reply(look("call_1"), look(None))), messages, listing)
    assert_can_be_gone_on_from(wire, messages, 3)


@both_wires
@pytest.mark.parametrize("error", [OSError("full"), SystemExit("bye"), RecursionError("deep")])
def test_a_tool_that_raises_ends_neither_the_run_nor_the_other_calls(wire, error, listing):
    def fail() -> str:
        """Fail."""
        raise error

    result = call_with_tools(scripted(wire, reply(look("a"), ("b", "fail", "{}"), look("c"))), COUNT, [listing, fail])
    assert results_of(result)[1] == f"Error: fail failed: {type(error).__name__}: {error}" and result.stop_reason == "answer"
    assert_can_be_gone_on_from(wire, result.messages, 3)


@both_wires
@pytest.mark.parametrize("value, text", [(None, "(no output)"), ("", "(no output)"), (5, "5"), (["é", 1], '["é", 1]'), ({"a": None}, '{"a": null}'),
                                         (b"ab", "ab"), (True, "True")])
def test_results_of_any_type_become_text(wire, value, text):
    model = scripted(wire, reply(("a", "list_files", "{}")), reply(text="Done."))
    result = call_with_tools(model, COUNT, {"name": "list_files"}, handler=lambda name, arguments: value)
    assert results_of(result) == [text] and result.text == "Done."


@pytest.mark.parametrize("wire, fault", [("openai", "malformed_call"), ("openai", "truncated_call"), ("anthropic", "truncated_call")])
def test_a_broken_call_is_never_run_with_the_defaults_of_its_tool(wire, fault, listing, ran):
    result = call_with_tools(connect("practice", wire=wire, faults={1: fault}), "How many CSV files are in the data folder?", listing)
    assert ran == ["data"] and result.tool_calls == 1
    assert results_of(result)[0].startswith("Error: ") and "othing was run" in results_of(result)[0]
    assert_can_be_gone_on_from(wire, result.messages, 2)


@both_wires
def test_of_a_reply_that_was_cut_off_the_last_call_is_not_run_though_it_looks_whole(wire, listing, ran):
    result = call_with_tools(scripted(wire, reply(look("a", "x"), look("b", "y"), stop="length")), COUNT, listing)
    assert ran == ["x"] and results_of(result)[1] == f"Error: {lesson.CUT}"
    assert_can_be_gone_on_from(wire, result.messages, 2)


@both_wires
def test_an_answer_that_was_cut_off_is_not_called_an_answer(wire, listing):
    result = call_with_tools(connect("practice", wire=wire, faults={2: "length_stop"}), COUNT, listing)
    assert (result.stop_reason, result.text) == ("length", ANSWER[:40])


@both_wires
def test_an_empty_reply_is_not_kept_as_an_empty_message(wire, listing):
    result = call_with_tools(connect("practice", wire=wire, faults={1: "silence"}), COUNT, listing)
    assert (result.text, result.stop_reason) == ("", "answer") and result.messages[-1]["content"]
    assert_can_be_gone_on_from(wire, result.messages, 0)


# ---- interrupts ----

def stops_at(path, error):
    def list_files(path_given: str) -> str:
        """List all files in a folder."""
        if path_given == path:
            raise error
        return f"in {path_given}"
    return tool(list_files)


def interrupted():
    raise KeyboardInterrupt


def look_at(*paths):
    return reply(*[(f"c_{path}", "list_files", json.dumps({"path_given": path})) for path in paths])


@both_wires
@pytest.mark.parametrize("place, texts", [
    ("a", [lesson.INTERRUPTED, lesson.STOPPED, lesson.STOPPED]), ("b", ["in a", lesson.INTERRUPTED, lesson.STOPPED]), ("c", ["in a", "in b", lesson.INTERRUPTED])])
def test_ctrl_c_in_the_middle_of_several_calls_passes_on_and_leaves_an_answer_to_each(wire, place, texts):
    messages = [QUESTION]
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(scripted(wire, look_at("a", "b", "c")), messages, stops_at(place, KeyboardInterrupt()))
    assert_can_be_gone_on_from(wire, messages, 3)
    assert [text for text in texts if text not in json.dumps(messages)] == []


@both_wires
def test_after_ctrl_c_the_same_list_is_gone_on_from(wire, listing):
    messages = [QUESTION]
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(connect("practice", wire=wire, faults={1: "two_calls"}), messages, tool(lambda path: interrupted(), name="list_files", parameters={"path": {"type": "string"}}))
    messages.append(QUESTION)
    assert call_with_tools(connect("practice", wire=wire), messages, listing).text == ANSWER


@both_wires
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_ctrl_c_while_the_history_is_being_saved_leaves_it_valid_too(wire, number, listing):
    heard, messages = [], [QUESTION]

    def on_append(messages):
        heard.append(len(messages))
        if len(heard) == number:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_with_tools(scripted(wire, reply(look("a"), look("b")), reply(look("c"))), messages, listing, on_append=on_append)
    assert_can_be_gone_on_from(wire, messages)


@both_wires
def test_ctrl_c_at_the_question_leaves_the_history_valid(wire, listing, ran):
    def approve(call):
        raise KeyboardInterrupt

    messages = [QUESTION]
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(scripted(wire, reply(look("a"), look("b"))), messages, listing, approve=approve)
    assert ran == []
    assert_can_be_gone_on_from(wire, messages, 2)


@both_wires
def test_ctrl_c_in_a_request_leaves_the_history_as_it_was(wire, listing):
    model, messages = connect("practice", wire=wire), [QUESTION]

    def native_reply(*arguments, **parameters):
        raise KeyboardInterrupt

    model.native_reply = native_reply
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(model, messages, listing)
    assert messages == [QUESTION]


# ---- rounds ----

@both_wires
def test_after_the_last_round_there_is_a_warning_and_the_best_answer(wire, listing, ran, caught):
    model = scripted(wire, reply(look("a")), reply(look("b")))
    result = call_with_tools(model, COUNT, listing, max_rounds=2)
    assert [str(each.message) for each in caught] == ["The model called tools in all 2 rounds. Now it must answer."]
    assert (result.stop_reason, result.rounds, len(ran), len(model.requests)) == ("max_rounds", 2, 2, 3)
    assert result.text.startswith("I may call no more tools") and "After 2 calls" in result.text and "a.csv" in result.text
    assert result.messages[-2] == {"role": "user", "content": LAST_WORD}
    assert_can_be_gone_on_from(wire, result.messages, 2)


@both_wires
def test_for_the_best_answer_tools_are_described_and_not_allowed(wire, listing, caught):
    model = scripted(wire, reply(look("a")))
    call_with_tools(model, COUNT, listing, max_rounds=1, tool_choice={"openai": "auto", "anthropic": {"type": "auto"}}[wire])
    first, last = model.requests
    assert first["tools"] == last["tools"] != []
    assert last["tool_choice"] == {"openai": "none", "anthropic": {"type": "none"}}[wire] != first["tool_choice"]


@both_wires
def test_a_call_that_comes_all_the_same_is_answered_and_not_run(wire, listing, ran, caught):
    result = call_with_tools(connect("practice", wire=wire, faults="repeat"), COUNT, listing, max_rounds=2)
    assert (result.stop_reason, len(ran), results_of(result)[-1]) == ("max_rounds", 2, lesson.STOPPED)
    assert_can_be_gone_on_from(wire, result.messages, 3)


@both_wires
def test_an_answer_in_the_round_after_the_last_calls_is_no_reason_for_a_warning(wire, listing, caught):
    result = call_with_tools(scripted(wire, reply(look("a"))), COUNT, listing, max_rounds=2)
    assert result.stop_reason == "answer" and caught == []


# ---- the limit on tool calls ----

@both_wires
def test_the_limit_is_checked_before_each_call(wire, listing, ran):
    messages = [QUESTION]
    with pytest.raises(ToolLimitReached, match="The limit of 2 tool calls is reached.") as reached:
        call_with_tools(scripted(wire, reply(look("a")), reply(look("b"), look("c"), look("d"))), messages, listing, max_tool_calls=2)
    result = reached.value.result
    assert len(ran) == 2 and result.messages is messages and result.stop_reason == "tool_limit"
    assert results_of(result) == ["a.csv\nb.csv"] * 2 + ["Error: The limit of 2 tool calls is reached. Nothing was run.", lesson.STOPPED]
    assert result.spend["model_calls"] == 2 and result.spend["tool_calls"] == 2 and result.spend["sent"] > 0 and len(result.tool_history) == 4
    assert_can_be_gone_on_from(wire, messages, 4)


@both_wires
def test_a_limit_of_zero_forbids_all_calls_and_no_answer(wire, listing, ran):
    with pytest.raises(ToolLimitReached) as reached:
        call_with_tools(connect("practice", wire=wire), COUNT, listing, max_tool_calls=0)
    assert ran == [] and reached.value.result.tool_calls == 0
    assert_can_be_gone_on_from(wire, reached.value.result.messages, 1)
    assert call_with_tools(connect("practice", wire=wire), "Hello", listing, max_tool_calls=0).stop_reason == "answer"


@both_wires
def test_a_limit_that_is_just_enough_is_not_reached(wire, listing):
    assert call_with_tools(connect("practice", wire=wire), COUNT, listing, max_tool_calls=1).text == ANSWER


@both_wires
def test_after_the_limit_the_task_is_gone_on_with(wire, tmp_path):
    workspace = Workspace(shutil.copytree(DATA, tmp_path / "work"))
    with pytest.raises(ToolLimitReached) as reached:
        call_with_tools(connect("practice", wire=wire), TASK, DEFINITIONS, handler=workspace.call_tool, max_tool_calls=2)
    result = call_with_tools(connect("practice", wire=wire), reached.value.result.messages, DEFINITIONS, handler=workspace.call_tool)
    assert "saved the picture" in result.text and pictures(tmp_path / "work") and result.tool_calls == 4


@both_wires
def test_unknown_tools_count_and_broken_calls_do_not(wire, listing):
    model = scripted(wire, reply(("a", "nothing", "{}"), ("b", "no name", "{}"), look("c")))
    result = call_with_tools(model, COUNT, listing, max_tool_calls=2)
    assert result.tool_calls == 2 and len(result.rows) == 3


# ---- approval ----

@both_wires
def test_each_of_several_calls_is_asked_about_and_a_refusal_is_its_answer(wire, listing, ran):
    asked = []

    def approve(call):
        asked.append((call.id, call.name, call.arguments))
        return {"a": "y", "b": "n", "c": "n: not there"}[call.id]

    result = call_with_tools(scripted(wire, reply(look("a"), look("b", "x"), look("c", "y"))), COUNT, listing, approve=approve)
    assert [id for id, *_ in asked] == ["a", "b", "c"] and ran == ["."] and result.tool_calls == 1
    assert results_of(result)[1:] == ["Not run: the person refused list_files(path='x').", "Not run: the person refused list_files(path='y'). The reason: not there"]
    assert_can_be_gone_on_from(wire, result.messages, 3)


@both_wires
def test_q_ends_the_run_and_answers_the_other_calls(wire, listing, ran):
    answers = iter(["y", "q"])
    model = scripted(wire, reply(look("a"), look("b"), look("c")))
    result = call_with_tools(model, COUNT, listing, approve=lambda call: next(answers))
    assert (result.stop_reason, ran, len(model.requests)) == ("quit", ["."], 1)
    assert results_of(result)[1].startswith("Not run: ") and results_of(result)[2] == lesson.STOPPED
    assert_can_be_gone_on_from(wire, result.messages, 3)


@both_wires
@pytest.mark.parametrize("unclear", [True, None, "yes", "Y", 1, "n:", ""])
def test_what_is_no_clear_answer_runs_nothing(wire, unclear, listing, ran):
    messages = [QUESTION]
    with pytest.raises(ValueError, match="approve must return"):
        call_with_tools(connect("practice", wire=wire), messages, listing, approve=lambda call: unclear)
    assert ran == []
    assert_can_be_gone_on_from(wire, messages, 1)


@both_wires
def test_broken_calls_and_calls_over_the_limit_are_not_asked_about(wire, listing):
    def approve(call):
        raise AssertionError("asked about")

    assert call_with_tools(scripted(wire, reply(look("a"), stop="length"), reply(text="Done.")), COUNT, listing, approve=approve).text == "Done."
    with pytest.raises(ToolLimitReached):
        call_with_tools(connect("practice", wire=wire), COUNT, listing, approve=approve, max_tool_calls=0)


# ---- tries ----

def fails_first(model, number, **error):
    """The first `number` requests that have a result in them fail."""
    reply, left, requests = model.native_reply, [ModelError("no", **error) for _ in range(number)], []

    def native_reply(messages, *rest, **parameters):
        requests.append(len(messages))
        if len(messages) > 1 and left:
            raise left.pop()
        return reply(messages, *rest, **parameters)

    model.native_reply, model.requests = native_reply, requests
    return model


@pytest.fixture
def slept(monkeypatch):
    found = []
    monkeypatch.setattr(lesson.time, "sleep", found.append)
    return found


@both_wires
def test_only_the_request_is_tried_again_and_no_tool(wire, listing, ran, slept):
    model = fails_first(connect("practice", wire=wire), 2, status=529, may_pass=True)
    result = call_with_tools(model, COUNT, listing, tries=3, wait_seconds=7)
    assert result.text == ANSWER and ran == ["."] and slept == [7, 7] and model.requests == [1, 3, 3, 3]
    assert result.spend["model_calls"] == 2 and len(result.messages) == 4


@both_wires
@pytest.mark.parametrize("fault", ["always overload", "always rate_limit"])
def test_after_the_last_try_the_error_comes_without_a_pause_and_the_history_is_there(wire, fault, listing, ran, slept):
    messages = [QUESTION]
    with pytest.raises(ModelError) as failed:
        call_with_tools(connect("practice", wire=wire, faults={2: fault}, max_retries=0), messages, listing, tries=3, wait_seconds=7)
    assert failed.value.may_pass and slept == [7, 7] and ran == ["."] and len(messages) == 3
    assert_can_be_gone_on_from(wire, messages, 1)
    assert call_with_tools(connect("practice", wire=wire), messages, listing).text == ANSWER and ran == ["."]


@both_wires
def test_a_wrong_key_is_not_tried_again(wire, listing, slept):
    with pytest.raises(ModelError, match="refused the key"):
        call_with_tools(connect("practice", wire=wire, faults="wrong_key"), COUNT, listing, tries=5)
    assert slept == []


def served(loopback, wire):
    loopback.reset()
    return connect(wire, "some-model", api_key="key", base_url=loopback.base_url(wire), max_retries=0)


@both_wires
@pytest.mark.parametrize("status, kind", [(429, "insufficient_quota"), (402, "billing_error"), (400, "invalid_request_error"), (404, "not_found_error")])
def test_no_credit_and_bad_requests_are_not_tried_again(wire, status, kind, listing, slept, loopback):
    model = served(loopback, wire)
    loopback.always = refuse(status, kind)
    with pytest.raises(ModelError) as failed:
        call_with_tools(model, COUNT, listing, tries=5)
    assert len(loopback.requests) == 1 and slept == [] and not failed.value.may_pass


@both_wires
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_may_pass_is_tried_again(wire, status, listing, ran, slept, loopback):
    model = served(loopback, wire)
    loopback.queue(refuse(status), refuse(status))
    assert call_with_tools(model, COUNT, listing, tries=3).text == ANSWER
    assert len(loopback.requests) == 4 and slept == [5.0, 5.0] and ran == ["."]


# ---- what is told, printed and passed through ----

@both_wires
def test_on_append_hears_of_every_message_with_the_whole_list(wire, listing):
    heard = []
    result = call_with_tools(scripted(wire, reply(look("a"), look("b"))), COUNT, listing, on_append=lambda messages: heard.append(json.dumps(messages)))
    assert len(heard) == 6 and json.loads(heard[-1]) == result.messages   # the reply, each result, the answer
    for each in heard:   # each of them could be gone on from
        calls, results = calls_and_results(json.loads(each))
        assert calls == results
    # a call that has begun may have run, whatever becomes of this process: that is saved before it begins
    assert [(each.count("Nothing was run"), each.count("may have run")) for each in heard] == [(2, 0), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0)]


@both_wires
def test_what_on_append_does_to_the_list_changes_nothing(wire, listing):
    def spoil(messages):
        messages.insert(0, {"role": "user", "content": "x"})
        del messages[-1]
    messages = [dict(QUESTION)]
    result = call_with_tools(scripted(wire, reply(look("a"), look("b"))), messages, listing, on_append=spoil)
    assert result.text == ANSWER and messages[0] == QUESTION and goes_on(wire, messages, listing)


@both_wires
@pytest.mark.filterwarnings("ignore:on_append failed")
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_even_if_it_is_interrupted_twice_the_history_can_be_gone_on_from(wire, stop, listing):
    def interrupted(path: str = ".") -> str:
        """List all files in a folder."""
        raise KeyboardInterrupt

    def on_append(messages):
        if "may have run" in json.dumps(messages):
            raise stop
    messages = [dict(QUESTION)]
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(scripted(wire, reply(look("a"), look("b"))), messages, tool(interrupted, name="list_files"), on_append=on_append)
    assert goes_on(wire, messages, listing)


@both_wires
@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_text_beside_a_call_is_not_sent_back(wire, text, listing):
    result = call_with_tools(scripted(wire, reply(look("a"), text=text)), COUNT, listing)
    assert result.text == ANSWER


@both_wires
def test_a_call_that_was_not_run_is_not_said_to_have_run(wire, listing):
    def hesitates(call):
        raise KeyboardInterrupt
    messages = [dict(QUESTION)]
    with pytest.raises(KeyboardInterrupt):
        call_with_tools(scripted(wire, reply(look("a"))), messages, listing, approve=hesitates)
    assert "Nothing was run" in json.dumps(messages) and "may have run" not in json.dumps(messages)


@both_wires
def test_what_a_tool_does_to_its_arguments_does_not_change_the_record(wire):
    @tool
    def list_files(path: str, seen: list = []) -> str:   # noqa: B006
        """List all files in a folder."""
        seen.clear()
        seen.append({1, 2})
        return "a.csv"
    call = ("a", "list_files", json.dumps({"path": ".", "seen": [1, 2]}))
    result = call_with_tools(scripted(wire, reply(call)), COUNT, list_files)
    assert json.loads(result.rows[0]["arguments"]) == {"path": ".", "seen": [1, 2]} and "[1, 2]" in json.dumps(result.messages).replace('\\"', '"')


@pytest.mark.parametrize("wire, ending", [("openai", "content_filter"), ("anthropic", "refusal"), ("anthropic", "model_context_window_exceeded")])
def test_the_last_call_of_any_reply_that_was_broken_off_is_not_run(wire, ending, listing, ran):
    call_with_tools(scripted(wire, reply(("a", "list_files", "{}"), stop=ending)), COUNT, listing)
    assert ran == ["."]   # the call that the practice model makes after it


@pytest.mark.parametrize("wire, ending, said", [
    ("openai", "content_filter", "content_filter"), ("anthropic", "refusal", "refusal"), ("anthropic", "model_context_window_exceeded", "length")])
def test_an_answer_that_was_broken_off_is_not_called_an_answer(wire, ending, said, listing):
    assert call_with_tools(scripted(wire, reply(text="There are", stop=ending)), COUNT, listing).stop_reason == said


@both_wires
def test_an_error_of_the_model_holds_what_was_done_and_leaves_no_question_of_ours(wire, listing):
    with pytest.raises(ModelError) as caught:
        call_with_tools(connect("practice", wire=wire, faults={2: "always overload"}, max_retries=0), COUNT, listing)
    assert caught.value.result.tool_calls == 1 and len(caught.value.result.rows) == 1
    messages = [dict(QUESTION)]
    with warnings.catch_warnings(), pytest.raises(ModelError):
        warnings.simplefilter("ignore")
        call_with_tools(connect("practice", wire=wire, faults={2: "always overload"}, max_retries=0), messages, listing, max_rounds=1)
    assert LAST_WORD not in json.dumps(messages) and goes_on(wire, messages, listing)


@pytest.mark.parametrize("messages", [(QUESTION,), QUESTION, ["hi"], None, 3])
def test_messages_that_are_none_are_refused_before_any_request(messages, listing):
    model = scripted("openai")
    with pytest.raises(TypeError, match="a text, or a list of messages"):
        call_with_tools(model, messages, listing)
    assert model.requests == []


def test_a_stream_is_for_another_lesson(listing):
    with pytest.raises(ValueError, match="does not stream"):
        call_with_tools(connect("practice"), COUNT, listing, stream=True)


def goes_on(wire, messages, tools):
    """Whether the practice model, which refuses what the APIs refuse, takes the history and answers."""
    return call_with_tools(connect("practice", wire=wire), [*messages, QUESTION], tools).text == ANSWER


@both_wires
def test_what_on_append_does_wrong_breaks_nothing(wire, listing, caught):
    def on_append(messages):
        raise OSError("the disk is full")

    assert call_with_tools(connect("practice", wire=wire), COUNT, listing, on_append=on_append).text == ANSWER
    assert {str(each.message) for each in caught} == {"on_append failed: OSError: the disk is full"}


@both_wires
def test_verbose_prints_calls_and_results_and_nothing_is_printed_otherwise(wire, listing, capsys):
    call_with_tools(connect("practice", wire=wire), COUNT, listing)
    assert capsys.readouterr().out == ""
    call_with_tools(connect("practice", wire=wire), COUNT, listing, verbose=True)
    assert capsys.readouterr().out == "list_files(path='.')\na.csv\nb.csv\n"


@both_wires
def test_further_parameters_reach_every_request(wire, listing, loopback):
    model = served(loopback, wire)
    call_with_tools(model, COUNT, listing, temperature=0.2, max_tokens=900, extra_body={"metadata": {"user_id": "me"}})
    bodies = [sent.body for sent in loopback.requests]
    assert len(bodies) == 2
    for body in bodies:
        assert body["temperature"] == 0.2 and 900 in (body.get("max_tokens"), body.get("max_completion_tokens")) and body["metadata"] == {"user_id": "me"}
        assert body["tools"] and body["messages"]


@both_wires
def test_a_parameter_of_the_call_goes_before_one_of_the_model(wire, listing):
    result = call_with_tools(connect("practice", wire=wire, max_tokens=500, temperature=1.0), COUNT, listing, max_tokens=3)
    assert result.stop_reason == "length" and len(result.text) <= 12


@both_wires
def test_the_given_model_is_not_changed_by_a_run(wire, listing):
    model = connect("practice", wire=wire, temperature=1.0)
    before = dict(model.options)
    call_with_tools(model, COUNT, listing, temperature=0.0)
    assert model.options == before


@both_wires
def test_a_service_that_never_answers_ends_the_run_in_time_and_the_work_can_be_gone_on_with(wire, listing, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with Loopback() as server:
        model = connect(wire, "practice", api_key="sk-none", base_url=server.base_url(wire), timeout=0.3, max_retries=1)
        messages = [{"role": "user", "content": COUNT}]
        server.always = silent
        with pytest.raises(ModelError, match="did not answer within 0.3 seconds") as failed:
            call_with_tools(model, messages, listing)
        assert failed.value.result.stop_reason == "error" and len(server.requests) == 2   # the client tried once more
        server.always = None
        assert call_with_tools(model, messages, listing).text == ANSWER


@pytest.mark.parametrize("wire", FORMATS)
def test_without_tools_none_are_sent_and_a_call_all_the_same_is_answered(wire):
    model = scripted(wire, *[reply((each, "list_files", "{}")) for each in "ab"], reply(text="Then not."))
    with pytest.warns(UserWarning, match="must answer"):
        result = call_with_tools(model, "Hello", None, max_rounds=2)
    assert result.text == "Then not." and "there is no tool 'list_files'" in result.rows[0]["result"]
    assert not [request for request in model.requests if request.keys() & {"tools", "tool_choice"}]

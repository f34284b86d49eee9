"""Lesson 20: whatever stops a run, its history can be read, sent and gone on from, and nothing that the disk had is lost."""
import copy
import json
import os
import random
import signal
import subprocess
import sys
import typing
import warnings

import pytest
from books import ROOT
from kernel_client import Notebook

from agent_steps.call_with_tools import INTERRUPTED, STOPPED, call_with_tools
from agent_steps.interrupt_and_resume import (
    NO_TASK, UNSAVED, History, HistoryError, history_count_tool_calls, history_tool_calls, repair_history, trim_history)
from agent_steps.native_tools import to_anthropic, to_openai, tool
from agent_steps.providers import ModelError, connect
from agent_steps.providers.mending import BLOCKS

both_wires = pytest.mark.parametrize("wire", ["openai", "anthropic"])
QUESTION = {"role": "user", "content": "How many CSV files are in this folder?"}
ASKED_AGAIN = {"role": "user", "content": "What did I just ask?"}
ANSWER = "There are 2 CSV files in the current folder: a.csv, b.csv."


@tool
def list_files(path: str = ".") -> str:
    """List all files in a folder."""
    return "a.csv\nb.csv"


def said(text):
    return {"role": "assistant", "content": text}


def calling(wire, *ids, name="list_files", arguments=None, text="I look."):
    """A reply with calls of these ids."""
    arguments = {"path": "."} if arguments is None else arguments
    if wire == "openai":
        return {"role": "assistant", "content": text, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}} for id in ids]}
    return {"role": "assistant", "content": [
        {"type": "text", "text": text}, *({"type": "tool_use", "id": id, "name": name, "input": arguments} for id in ids)]}


def results(wire, *pairs, text=None):
    """The messages with these results: pairs of an id and a text. text: of the user, in the same message, for Anthropic."""
    if wire == "openai":
        return [{"role": "tool", "tool_call_id": id, "content": content} for id, content in pairs]
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": content} for id, content in pairs]
    return [{"role": "user", "content": blocks + ([{"type": "text", "text": text}] if text else [])}]


def is_taken(wire, messages):
    """Whether a model that is as strict as the APIs takes these messages, and a question behind them."""
    describe = {"openai": to_openai, "anthropic": to_anthropic}[wire]
    connect("practice", wire=wire).native_reply([*messages, ASKED_AGAIN], describe([list_files]))
    return True


def pairs_of(messages):
    """The ids of all calls and their results, as they follow each other."""
    return [(call["id"], call["result"]) for call in history_tool_calls(messages)]


def long_run(wire, turns, system=True):
    messages = [{"role": "system", "content": "Be brief."}] if system else []
    messages += [QUESTION]
    for turn in range(turns):
        messages += [calling(wire, f"c{turn}", f"d{turn}"), *results(wire, (f"c{turn}", f"one {turn}"), (f"d{turn}", f"two {turn}"))]
    return [*messages, said("Two.")]


# ---- repair ----

VALID = {
    "openai": [
        [], [QUESTION], [QUESTION, said("Two."), ASKED_AGAIN, ASKED_AGAIN], long_run("openai", 3), [said("Hello.") | {"refusal": None}],
        [QUESTION, calling("openai", "a") | {"content": None, "refusal": None, "reasoning_content": "2"}, *results("openai", ("a", "x"))],
        [QUESTION, calling("openai", "a") | {"content": ""}, {"name": "list_files", **results("openai", ("a", "x"))[0]}],
        [{"role": "developer", "content": "Hi."}, {"role": "user", "content": [
            {"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:"}}]}],
        [QUESTION, {"role": "assistant", "tool_calls": calling("openai", "a")["tool_calls"]}, *results("openai", ("a", "x"))],
    ],
    "anthropic": [
        long_run("anthropic", 3), [QUESTION, calling("anthropic", "a"), *results("anthropic", ("a", "x"), text="And now?")],
        [QUESTION, {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "2", "signature": "s"}, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            *calling("anthropic", "a")["content"]]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": True, "cache_control": {"type": "ephemeral"}}]}],
        [QUESTION, calling("anthropic", "a"), {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]}]}],
        [QUESTION, calling("anthropic", "a"), *results("anthropic", ("a", ""))],
    ],
}


@pytest.mark.parametrize("messages", VALID["openai"] + VALID["anthropic"])
def test_a_valid_history_comes_back_equal_and_new(messages):
    before = copy.deepcopy(messages)
    repaired = repair_history(messages)
    assert repaired == messages == before and repaired is not messages


@both_wires
def test_what_the_loop_leaves_behind_needs_no_repair(wire):
    messages = call_with_tools(connect("practice", wire=wire, faults={1: "two_calls"}), [QUESTION], list_files).messages
    assert repair_history(messages) == messages


@both_wires
def test_a_call_without_a_result_gets_one_that_says_that_it_may_have_run(wire):
    messages = [QUESTION, calling(wire, "a", "b", "c"), *results(wire, ("a", "x"))]
    repaired = repair_history(messages)
    assert pairs_of(repaired) == [("a", "x"), ("b", UNSAVED), ("c", UNSAVED)] and is_taken(wire, repaired)
    with pytest.raises(ModelError, match="no result"):
        is_taken(wire, messages)


@both_wires
def test_the_order_of_results_is_that_of_the_calls_and_they_follow_at_once(wire):
    first, second = results(wire, ("b", "y")), results(wire, ("a", "x"))
    repaired = repair_history([QUESTION, calling(wire, "a", "b"), ASKED_AGAIN, *first, said("Hm."), *second])
    assert repaired == [QUESTION, calling(wire, "a", "b"), *results(wire, ("a", "x"), ("b", "y")), ASKED_AGAIN, said("Hm.")]
    assert is_taken(wire, repaired)


def test_a_text_beside_anthropics_results_stays_behind_them():
    blocks = [{"type": "text", "text": "Stop."}, *results("anthropic", ("b", "y"))[0]["content"]]
    repaired = repair_history([QUESTION, calling("anthropic", "a", "b"), {"role": "user", "content": blocks}])
    assert [block.get("tool_use_id", block.get("text")) for block in repaired[2]["content"]] == ["a", "b", "Stop."] and len(repaired) == 3
    assert is_taken("anthropic", repaired)


@both_wires
def test_a_result_that_no_call_waits_for_becomes_a_text_of_the_user(wire):
    repaired = repair_history([QUESTION, *results(wire, ("gone", "lost words")), calling(wire, "a"), *results(wire, ("a", "x")), *results(wire, ("a", "again"))])
    assert pairs_of(repaired) == [("a", "x")] and is_taken(wire, repaired)
    texts = [message["content"] for message in repaired if message["role"] == "user" and isinstance(message["content"], str)][1:]
    assert "'gone'" in texts[0] and "lost words" in texts[0] and "'a'" in texts[1] and "again" in texts[1]


@both_wires
@pytest.mark.parametrize("id", ["same", None, "", 7])
def test_missing_and_repeated_ids_become_unique_on_both_sides(wire, id):
    turn = [calling(wire, id, id), *results(wire, (id, "one"), (id, "two"))]
    repaired = repair_history([QUESTION, *turn, *turn])
    pairs = pairs_of(repaired)
    assert [text for _, text in pairs] == ["one", "two"] * 2 and len({id for id, _ in pairs}) == 4 and all(id and isinstance(id, str) for id, _ in pairs)
    assert is_taken(wire, repaired)


@both_wires
@pytest.mark.parametrize("content", [None, "", " \n", [], [{"type": "text", "text": ""}]])
def test_an_empty_reply_says_so(wire, content):
    repaired = repair_history([QUESTION, {"role": "assistant", "content": content}])
    assert repaired == [QUESTION, said("(empty reply)")] and is_taken(wire, repaired)


@pytest.mark.parametrize("written", ["{", "nonsense", "[1]", "", None, 5, '{"a": NaN}', '{"a": "\\ud83d"}', "[" * 100_000])
def test_arguments_that_are_no_json_object_become_empty(written):
    message = calling("openai", "a")
    message["tool_calls"][0]["function"]["arguments"] = written
    repaired = repair_history([QUESTION, message, *results("openai", ("a", "x"))])
    assert repaired[1]["tool_calls"][0]["function"]["arguments"] == "{}" and is_taken("openai", repaired)


def test_arguments_that_are_a_dict_are_written_as_json_and_a_text_of_json_stays_as_it_is():
    message = calling("openai", "a", "b")
    message["tool_calls"][0]["function"]["arguments"] = {"path": "ä"}
    message["tool_calls"][1]["function"]["arguments"] = ' {"path":"ä" }'
    [first, second] = [call["function"]["arguments"] for call in repair_history([QUESTION, message])[1]["tool_calls"]]
    assert json.loads(first) == {"path": "ä"} and second == ' {"path":"ä" }'


@pytest.mark.parametrize("written", [None, "x", [1], '{"path": "."}'])
def test_anthropics_arguments_are_an_object(written):
    message = calling("anthropic", "a")
    message["content"][1]["input"] = written
    repaired = repair_history([QUESTION, message])
    assert repaired[1]["content"][1]["input"] == ({"path": "."} if written == '{"path": "."}' else {}) and is_taken("anthropic", repaired)


@both_wires
def test_a_message_of_the_other_format_is_brought_into_this_one(wire):
    other = {"openai": "anthropic", "anthropic": "openai"}[wire]
    repaired = repair_history([*long_run(wire, 2), ASKED_AGAIN, calling(other, "x", "y"), *results(other, ("x", "1"), ("y", "2"))])
    assert pairs_of(repaired)[-2:] == [("x", "1"), ("y", "2")] and {call["provider_shape"] for call in history_tool_calls(repaired)} == {wire}
    assert "I look." in json.dumps(repaired[-3:]) and is_taken(wire, repaired)


ODD = [None, 5, "text", [], [QUESTION], {}, {"role": "assistant"}, {"role": "model", "content": "x"}, {"role": ["user"], "content": "x"},
       {"role": "user", "content": None}, {"role": "user", "content": {"a": 1}}, {"role": "user", "content": [None, 5, {"type": "mystery", "a": 1}]},
       {"role": "user", "content": [{"type": ["x"]}, {"type": "text", "text": 5}, {"type": "text"}]}, {"role": "tool"}, {"role": "tool", "tool_call_id": ["a"]},
       {"role": "assistant", "content": "x", "tool_calls": []}, {"role": "assistant", "content": "x", "tool_calls": "y"},
       {"role": "assistant", "content": None, "tool_calls": [None, {}, {"id": 5, "function": "f"}, {"function": {"name": "no name!"}}]},
       {"role": "user", "content": "x", "tool_calls": [{"id": "u", "function": {"name": "f"}}]}, {"role": "system", "content": None},
       {"role": "user", "content": "half \ud83d"}, {"role": "user", "content": "x", "n": float("nan")}, {"role": "user", "content": {1, 2}}, {(1, 2): "x"}]


def circle():
    message = {"role": "user"}
    message["content"] = message
    return message


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return {"role": "user", "content": value}


@both_wires
@pytest.mark.parametrize("odd", [*ODD, circle(), deep()], ids=lambda odd: type(odd).__name__)
def test_whatever_stands_in_a_list_the_repaired_one_is_taken(wire, odd):
    for messages in ([*long_run(wire, 1), odd], [odd, *long_run(wire, 1)], [*long_run(wire, 1)[:3], odd, *long_run(wire, 1)[3:]]):
        repaired = repair_history(messages)
        assert is_taken(wire, repaired) and repair_history(repaired) == repaired


def test_nothing_that_can_be_given_raises():
    for given in (None, 5, "x", {}, (), ODD, [circle(), deep()]):
        assert isinstance(repair_history(given), list) and isinstance(history_tool_calls(given), list)


def corrupted(wire, chance):
    """A history to which a few bad things were done, by chance."""
    messages = copy.deepcopy(long_run(wire, 3, system=chance.random() < 0.5))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(messages)) if messages else 0
        match chance.randrange(7):
            case 0: del messages[at:at + 1]
            case 1: messages.insert(at, copy.deepcopy(chance.choice(ODD)))
            case 2: messages[at:at] = copy.deepcopy(messages[at:at + 1])
            case 3: chance.shuffle(messages)
            case 4: del messages[at:]
            case 5:
                if messages and isinstance(messages[at], dict) and messages[at]:
                    messages[at].pop(chance.choice(list(messages[at])))
            case 6:
                for block in messages[at].get("content") or [] if messages and isinstance(messages[at], dict) else []:
                    if isinstance(block, dict):
                        block[chance.choice(["id", "tool_use_id", "type", "input", "content"])] = chance.choice([None, "c0", 5, [], "x"])
    return [*messages, *long_run(wire, 4, system=False)]   # so that most of it is of this format


@both_wires
@pytest.mark.parametrize("seed", range(8))
def test_a_history_that_was_damaged_by_chance_is_taken_after_its_repair(wire, seed):
    chance = random.Random(seed)
    for _ in range(12):
        messages = corrupted(wire, chance)
        before = repr(messages)
        repaired = repair_history(messages)
        assert is_taken(wire, repaired) and repair_history(repaired) == repaired and repr(messages) == before


def test_a_history_that_begins_with_a_reply_gets_a_beginning_where_anthropic_wants_one():
    assert repair_history([calling("anthropic", "a")])[0] == NO_TASK and is_taken("anthropic", repair_history([calling("anthropic", "a")]))


def types_in(union):
    """The types of blocks that a client's union of them names."""
    classes = [typing.get_args(each)[0] if typing.get_origin(each) is typing.Annotated else each for each in typing.get_args(union)]
    return {typing.get_args(typing.get_args(typing.get_type_hints(each, include_extras=True)["type"])[0])[0] for each in classes if hasattr(each, "__annotations__")}


def test_the_types_of_blocks_are_those_that_the_clients_know():
    from anthropic.types import ContentBlockParam
    from openai.types.chat import ChatCompletionContentPartParam
    assert types_in(ContentBlockParam) <= BLOCKS["anthropic"] | {"tool_use", "tool_result"}
    assert types_in(ChatCompletionContentPartParam) <= BLOCKS["openai"]


# ---- trimming ----

@both_wires
@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 13, 20, 27])
def test_a_trimmed_history_is_taken_and_keeps_system_prompt_task_and_newest_turns(wire, most):
    messages = long_run(wire, 9)
    before = copy.deepcopy(messages)
    trimmed = trim_history(messages, most)
    assert len(trimmed) <= max(most, 3) and messages == before and is_taken(wire, trimmed)
    assert trimmed == messages[:2] + messages[len(messages) - len(trimmed) + 2:]
    assert trim_history(trimmed, most) == trimmed


@both_wires
def test_as_many_turns_stay_as_fit(wire):
    turn = {"openai": 3, "anthropic": 2}[wire]
    messages = long_run(wire, 9)[:-1]
    assert [len(trim_history(messages, 2 + 2 * turn + more)) for more in range(turn)] == [2 + 2 * turn] * turn


@both_wires
def test_the_newest_turn_stays_though_it_alone_is_too_long(wire):
    ids = [str(number) for number in range(9)]
    turn = [calling(wire, *ids), *results(wire, *((id, "x") for id in ids))]
    trimmed = trim_history([*long_run(wire, 3, system=False), *turn], 2)
    assert trimmed[1:] == turn and is_taken(wire, trimmed)


@both_wires
def test_the_newest_question_stays_though_many_turns_stand_behind_it(wire):
    messages = [*long_run(wire, 2), ASKED_AGAIN]
    for number in range(9):
        messages += [calling(wire, f"n{number}", f"m{number}"), *results(wire, (f"n{number}", "x"), (f"m{number}", "y"))]
    turn = {"openai": 3, "anthropic": 2}[wire]
    trimmed = trim_history(messages, 3 + turn)
    assert trimmed == [*messages[:2], ASKED_AGAIN, *messages[-turn:]] and is_taken(wire, trimmed)


@both_wires
def test_all_of_the_systems_messages_stay_and_a_task_of_blocks_as_it_is(wire):
    system, task = {"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": QUESTION["content"]}]}
    run = long_run(wire, 9, system=False)[1:-1]
    turn = {"openai": 3, "anthropic": 2}[wire]
    assert trim_history([system, system, task, *run], 3 + turn) == [system, system, task, *run[-turn:]]
    assert trim_history([task, system, *run], 2 + turn) == [task, system, *run[-turn:]]
    assert trim_history([task, *run], 1 + turn) == [task, *run[-turn:]]


def test_a_developers_message_stays_as_the_systems():
    developer = {"role": "developer", "content": "Be brief."}
    trimmed = trim_history([developer, *long_run("openai", 9, system=False)], 6)
    assert trimmed[:2] == [developer, QUESTION] and is_taken("openai", trimmed)


def test_a_history_that_is_short_enough_comes_back_equal_and_new():
    messages = long_run("openai", 2)
    assert trim_history(messages) == messages and trim_history(messages) is not messages


def test_of_a_history_without_a_task_the_newest_turns_stay():
    messages = long_run("openai", 9, system=False)[1:]
    assert trim_history(messages, 7) == messages[-7:] and is_taken("openai", messages[-7:])


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_of_nothing_nothing_stays(nothing):
    assert trim_history(nothing) == []


@pytest.mark.parametrize("most", [0, -1])
def test_a_history_of_no_message_is_refused(most):
    with pytest.raises(ValueError, match="1 or more"):
        trim_history([QUESTION], most)


# ---- calls as records ----

KEYS = ["id", "name", "arguments", "result", "completed", "call_message_index", "result_message_index", "provider_shape"]


@both_wires
def test_calls_are_paired_with_their_results_in_the_order_of_the_calls(wire):
    history = [QUESTION, calling(wire, "a", "b"), *results(wire, ("b", "y"), ("a", "x")), calling(wire, "c")]
    records = history_tool_calls(history)
    assert [list(record) for record in records] == [KEYS] * 3 and pairs_of(history) == [("a", "x"), ("b", "y"), ("c", None)]
    last = {"openai": 4, "anthropic": 3}[wire]
    assert [record["call_message_index"] for record in records] == [1, 1, last]
    assert [record["result_message_index"] for record in records] == {"openai": [3, 2, None], "anthropic": [2, 2, None]}[wire]
    assert [record["completed"] for record in records] == [True, True, False] and records[0]["arguments"] == {"path": "."}
    assert (history_count_tool_calls(history), history_count_tool_calls(history, completed_only=True)) == (3, 2)


@both_wires
def test_repeated_ids_pair_in_order(wire):
    turn = [calling(wire, "a"), *results(wire, ("a", "x"))]
    assert pairs_of([*turn, calling(wire, "a"), *results(wire, ("a", "y"))]) == [("a", "x"), ("a", "y")]


@pytest.mark.parametrize("history", [None, [], "x", {}, 5])
def test_what_is_no_history_has_no_calls(history):
    assert history_tool_calls(history) == [] and history_count_tool_calls(history) == 0


def test_broken_entries_are_passed_over_and_both_formats_may_be_mixed():
    history = [None, "x", *ODD, calling("openai", "a"), calling("anthropic", "b"), *results("anthropic", ("b", "y"), ("", "z")), *results("openai", ("a", "x"))]
    assert {("a", "x"), ("b", "y")} <= {(call["id"], call["result"]) for call in history_tool_calls(history)}
    assert history_count_tool_calls(history, completed_only=True) == 2


def test_a_result_in_blocks_is_their_texts_joined_and_arguments_that_are_no_json_are_empty():
    broken = calling("openai", "a")
    broken["tool_calls"][0]["function"]["arguments"] = "{"
    blocks = [{"type": "text", "text": "x"}, {"type": "image"}, {"type": "text", "text": "y"}]
    history = [broken, *results("openai", ("a", None)), calling("anthropic", "b"), *results("anthropic", ("b", blocks))]
    first, second = history_tool_calls(history)
    assert (first["arguments"], first["result"], first["completed"], second["result"]) == ({}, "", True, "x\ny")


def test_both_formats_give_the_same_records_for_the_same_run():
    tables = []
    for wire in ("openai", "anthropic"):
        messages = call_with_tools(connect("practice", wire=wire), [QUESTION], list_files).messages
        tables.append([{key: call[key] for key in KEYS[1:-1]} for call in history_tool_calls(messages)])
    assert tables[0] == tables[1] != []


# ---- the file ----

@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_history_begins_with_its_folder_and_grows_line_by_line(tmp_path):
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)
    history.append(said("ä"))
    assert lines_of(tmp_path / "h.jsonl") == [
        {"history": 1, "folder": os.path.realpath(tmp_path)}, {"at": 0, "message": QUESTION}, {"at": 1, "message": said("ä")}]
    assert "ä".encode() in (tmp_path / "h.jsonl").read_bytes() and os.listdir(tmp_path) == ["h.jsonl"]


def test_an_empty_file_is_a_new_history(tmp_path):
    (tmp_path / "h.jsonl").touch()
    assert History(tmp_path / "h.jsonl").messages == [] and len(lines_of(tmp_path / "h.jsonl")) == 1


def test_only_what_differs_is_written_and_what_was_written_stays(tmp_path):
    path, states = tmp_path / "h.jsonl", [[QUESTION], [QUESTION, said("a"), said("b")], [QUESTION, said("x"), said("b")], [QUESTION], [], [ASKED_AGAIN], [ASKED_AGAIN]]
    history = History(path)
    for messages in states:
        before = path.read_bytes()
        history.save(messages)
        assert path.read_bytes().startswith(before) and History(path).saved == messages == history.messages
    assert [line.get("at") for line in lines_of(path)] == [None, 0, 1, 2, 1, 2, 1, 0, 0]


@both_wires
def test_the_loop_saves_as_it_goes_and_a_new_object_goes_on(wire, tmp_path):
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)
    result = call_with_tools(connect("practice", wire=wire), history.messages, list_files, on_append=history.save)
    again = History(tmp_path / "h.jsonl", tmp_path)
    assert again.messages == result.messages == history.messages and len(again.messages) == 4
    again.append(ASKED_AGAIN)
    assert QUESTION["content"] in call_with_tools(connect("practice", wire=wire), again.messages, list_files, on_append=again.save).text
    assert History(tmp_path / "h.jsonl", tmp_path).messages == again.messages


@both_wires
def test_a_repair_is_saved_at_once(wire, tmp_path, caught):
    History(tmp_path / "h.jsonl", tmp_path).save([QUESTION, calling(wire, "a")])
    repaired = History(tmp_path / "h.jsonl", tmp_path).messages
    size = (tmp_path / "h.jsonl").stat().st_size
    assert pairs_of(repaired) == [("a", UNSAVED)] and is_taken(wire, repaired) and caught == []
    assert History(tmp_path / "h.jsonl", tmp_path).saved == repaired and (tmp_path / "h.jsonl").stat().st_size == size


def test_a_save_with_the_loops_own_list_keeps_the_historys_list_in_step(tmp_path):
    history = History(tmp_path / "h.jsonl")
    history.save([QUESTION])
    history.append(said("Two."))
    assert History(tmp_path / "h.jsonl").messages == [QUESTION, said("Two.")]


@both_wires
def test_a_file_that_is_cut_at_any_byte_of_its_last_save_loses_that_save_only(wire, tmp_path):
    path = tmp_path / "h.jsonl"
    history = History(path, tmp_path)
    history.save(long_run(wire, 1))
    before = path.stat().st_size
    changed = [*long_run(wire, 1)[:-2], said("ä 🙂"), said("z")]   # takes away two, and adds two: all of it, or nothing
    history.save(changed)
    whole = path.read_bytes()
    assert whole[before:].count(b"\n") > 1
    for size in range(before + 1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.warns(UserWarning, match="h.jsonl: the last save was cut off"):
            again = History(path, tmp_path)
        assert again.saved == long_run(wire, 1)
        kept = sorted(tmp_path.glob("h.jsonl.cut-*"))
        assert [each.read_bytes() for each in kept] == [whole[before:size]]
        again.append(ASKED_AGAIN)
        assert History(path, tmp_path).messages == [*long_run(wire, 1), ASKED_AGAIN]
        kept[0].unlink()


def test_a_last_line_that_is_no_json_is_kept_aside_and_no_earlier_one_is_written_over(tmp_path):
    path = tmp_path / "h.jsonl"
    History(path, tmp_path).append(QUESTION)
    for rest in (b'{"at": 1, "mess\n', b"\xff\xfe\n", b"\0\0\0", b'{"at": 1, "message": {"role": "user", "content": "caf\xc3'):
        with open(path, "ab") as file:
            file.write(rest)
        with pytest.warns(UserWarning, match=r"cut off \(\d+ bytes\)"):
            assert History(path, tmp_path).messages == [QUESTION]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["h.jsonl", *(f"h.jsonl.cut-{number}" for number in (1, 2, 3, 4))]


@pytest.mark.parametrize("edit", [
    lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data, lambda data: data + b"\n", lambda data: data + b"\n \n\r\n",
    lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n\r\n"),
], ids=["line ends of Windows", "the mark of UTF-8", "an empty line", "empty lines", "all of it"])
def test_a_file_that_went_through_an_editor_is_gone_on_from_and_nothing_is_cut_off(edit, tmp_path, caught):
    path = tmp_path / "h.jsonl"
    History(path, tmp_path).save([QUESTION, said("ä")])
    path.write_bytes(edit(path.read_bytes()))
    before = path.read_bytes()
    history = History(path, tmp_path)
    assert path.read_bytes() == before and history.messages == [QUESTION, said("ä")]
    history.append(ASKED_AGAIN)
    assert History(path, tmp_path).messages == [QUESTION, said("ä"), ASKED_AGAIN] and os.listdir(tmp_path) == ["h.jsonl"] and caught == []


def test_a_history_stays_with_its_file_when_the_process_goes_to_another_folder(tmp_path, monkeypatch):
    (tmp_path / "two").mkdir()
    monkeypatch.chdir(tmp_path)
    history = History("h.jsonl")
    monkeypatch.chdir(tmp_path / "two")
    history.append(QUESTION)
    assert History(tmp_path / "h.jsonl", tmp_path).messages == [QUESTION] and os.listdir(tmp_path / "two") == []


@pytest.mark.parametrize("bad", [b"bytes", {1, 2}, float("nan"), circle()], ids=lambda bad: type(bad).__name__)
def test_a_message_that_can_never_be_saved_is_not_added_and_the_next_one_is(bad, tmp_path):
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)
    with pytest.raises(ValueError, match="not saved"):
        history.append({"role": "user", "content": bad})
    history.append(said("Two."))
    assert history.messages == History(tmp_path / "h.jsonl", tmp_path).messages == [QUESTION, said("Two.")]


def test_a_save_writes_as_little_at_the_end_of_a_long_history_as_at_its_beginning(tmp_path):
    history, written_bytes = History(tmp_path / "h.jsonl", tmp_path), []
    for length in (0, 10_000):
        history.save([said("x")] * length)
        before = history.size
        history.append(said("Two."))
        written_bytes.append(history.size - before)
    assert written_bytes[1] - written_bytes[0] == len("10000") - len("0") and history.size == (tmp_path / "h.jsonl").stat().st_size


def test_a_path_may_have_spaces_and_any_letters(tmp_path):
    path = tmp_path / "zwei Wörter" / "Verlauf 🙂.jsonl"
    path.parent.mkdir()
    History(str(path)).append(QUESTION)
    assert History(path).messages == [QUESTION] and os.listdir(path.parent) == [path.name]


@both_wires
def test_when_the_best_answer_fails_the_file_holds_what_the_list_holds(wire, tmp_path, caught):
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)
    model = connect("practice", wire=wire, faults={2: "always overload"}, max_retries=0)
    with pytest.raises(ModelError, match="529"):
        call_with_tools(model, history.messages, list_files, max_rounds=1, on_append=history.save)
    assert len(history.messages) == 3 and History(tmp_path / "h.jsonl", tmp_path).messages == history.messages


def test_ctrl_c_at_any_line_of_a_save_leaves_the_old_list_or_the_new_one_and_the_next_save_mends_it(tmp_path, caught):
    old, new, at = [QUESTION, said("one")], [QUESTION, said("two"), said("three")], 0
    while True:
        path, at, left = tmp_path / f"{at}.jsonl", at + 1, at
        history = History(path, tmp_path)
        history.save(old)

        def press(frame, event, _):
            nonlocal left
            left -= event == "line"
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return press if "agent_steps" in frame.f_code.co_filename and "<" not in frame.f_code.co_name else None

        before = sys.gettrace()
        sys.settrace(press)
        try:
            history.save(new)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        if left >= 0:
            break
        saved = History(path, tmp_path).saved
        assert saved in (old, new), at
        history.append(ASKED_AGAIN)
        assert History(path, tmp_path).messages == history.messages and history.messages[-1] == ASKED_AGAIN
    assert at > 20


GOOD = [{"history": 1, "folder": "x"}, *({"at": number, "message": said(str(number))} for number in range(500))]


def written(lines, path):
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return path.read_bytes()


@pytest.mark.parametrize("at, line, what", [
    (0, b'{"history": 1, "fol\n', "line 1: this is no JSON"), (0, {"history": 2, "folder": "x"}, "line 1: a history of this kind"),
    (0, [], "line 1: a history"), (0, {"history": 1}, "line 1: a history"), (0, b"\xff\n", "line 1: this is no JSON"), (0, b"\n", "line 1: this is"),
    (7, b'{"at": 6, "mess\n', "line 8: this is no JSON"), (7, b"caf\xe9\n", "line 8: this is no JSON"), (7, b'{"at": 6, "message": NaN}\n', "line 8: this is no JSON"),
    (7, {"at": 9, "message": {}}, 'line 8: "at" is 9, but 6 messages'), (7, {"at": -1}, '"at" is -1'), (7, {"at": True}, '"at" is True'), (7, {"at": "1"}, "at"),
    (7, {}, '"at" is None'), (7, [1], '"at" is None'), (7, b"\0\n", "line 8: this is"), (500, {"at": 1000}, 'line 501: "at" is 1000'),
])
def test_a_broken_header_or_line_is_refused_and_the_file_stays_byte_for_byte(at, line, what, tmp_path):
    path = tmp_path / "h.jsonl"
    before = written([*GOOD[:at], line, *GOOD[at + 1:]], path)
    with pytest.raises(HistoryError) as refused:
        History(path)
    assert what in str(refused.value) and "h.jsonl" in str(refused.value) and "Nothing was changed" in str(refused.value)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["h.jsonl"] and isinstance(refused.value, ValueError)


@pytest.mark.parametrize("content", [b"My notes", b'{"history": 1, "folder": "x"}', b"\n", b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_no_history_is_not_taken_for_one(content, tmp_path):
    (tmp_path / "notes.txt").write_bytes(content)
    with pytest.raises(HistoryError, match="notes.txt, line 1"):
        History(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_bytes() == content and os.listdir(tmp_path) == ["notes.txt"]


def test_from_another_folder_there_is_a_warning_that_names_both(tmp_path, caught):
    (tmp_path / "one").mkdir(), (tmp_path / "two").mkdir()
    History(tmp_path / "h.jsonl", tmp_path / "one")
    History(tmp_path / "h.jsonl", tmp_path / "one" / ".." / "one")
    assert caught == []
    History(tmp_path / "h.jsonl", tmp_path / "two")
    [warning] = caught
    assert os.path.realpath(tmp_path / "one") in str(warning.message) and os.path.realpath(tmp_path / "two") in str(warning.message)
    assert warning.filename == __file__


def test_half_characters_are_mended_and_what_is_no_json_is_not_half_written(tmp_path):
    history = History(tmp_path / "h.jsonl")
    history.append({"role": "user", "content": "half \ud83d, whole 🙂"})
    before = (tmp_path / "h.jsonl").read_bytes()
    for bad in (float("nan"), {1, 2}, circle()):
        with pytest.raises(ValueError, match="not saved"):
            history.save([*history.saved, said("good"), {"role": "user", "content": bad}])
        assert (tmp_path / "h.jsonl").read_bytes() == before
    history.save([*history.saved, said("good")])
    assert [message["content"] for message in History(tmp_path / "h.jsonl").messages] == ["half ?, whole 🙂", "good"]


def test_half_a_character_in_a_file_is_mended_when_it_is_opened(tmp_path):
    written([GOOD[0] | {"folder": os.path.realpath(".")}, {"at": 0, "message": {"role": "user", "content": "\ud83d"}}], tmp_path / "h.jsonl")
    assert History(tmp_path / "h.jsonl").messages == [{"role": "user", "content": "?"}]


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()])
@pytest.mark.parametrize("written_bytes", [0, 1, 20, None])
def test_a_save_after_one_that_failed_in_the_middle_glues_nothing(error, written_bytes, tmp_path, monkeypatch, caught):
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)

    def half(path, data):
        with open(path, "ab") as file:
            file.write(data[:written_bytes])
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("agent_steps.interrupt_and_resume.write_on", half)
        with pytest.raises(type(error)):
            history.append(said("one"))
    history.append(said("two"))
    assert History(tmp_path / "h.jsonl", tmp_path).messages == [QUESTION, said("one"), said("two")]
    assert len(caught) == (written_bytes in (1, 20))


def test_a_file_that_another_program_has_written_to_is_not_written_to(tmp_path):
    first = History(tmp_path / "h.jsonl")
    second = History(tmp_path / "h.jsonl")
    second.append(QUESTION)
    before = (tmp_path / "h.jsonl").read_bytes()
    with pytest.raises(HistoryError, match="Another program has changed"):
        first.append(said("Two."))
    assert (tmp_path / "h.jsonl").read_bytes() == before


def test_each_save_is_on_the_disk_before_it_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    history = History(tmp_path / "h.jsonl")
    history.append(QUESTION)
    assert synced[-1] == (tmp_path / "h.jsonl").stat().st_size and len(synced) == 2


@both_wires
def test_a_history_that_cannot_be_saved_is_a_warning_and_the_run_goes_on(wire, tmp_path, monkeypatch, caught):
    history = History(tmp_path / "h.jsonl")
    history.append(QUESTION)
    monkeypatch.setattr("agent_steps.interrupt_and_resume.write_on", lambda path, data: (_ for _ in ()).throw(OSError("the disk is full")))
    assert call_with_tools(connect("practice", wire=wire), history.messages, list_files, on_append=history.save).text == ANSWER
    monkeypatch.undo()
    assert {str(each.message) for each in caught} == {"on_append failed: OSError: the disk is full"}
    history.save(history.messages)
    assert len(History(tmp_path / "h.jsonl").messages) == 4


@both_wires
def test_after_five_overloads_the_run_stops_with_its_history_saved_and_is_resumed(wire, tmp_path):
    model = connect("practice", wire=wire, faults={2: "always overload"}, max_retries=0)
    history = History(tmp_path / "h.jsonl", tmp_path)
    history.append(QUESTION)
    requests = []
    ask = model.native_reply
    model.native_reply = lambda *arguments, **more: requests.append(1) or ask(*arguments, **more)
    with pytest.raises(ModelError, match="529"):
        call_with_tools(model, history.messages, list_files, on_append=history.save, tries=5, wait_seconds=0)
    assert len(requests) == 1 + 5
    again = History(tmp_path / "h.jsonl", tmp_path)
    assert pairs_of(again.messages) == [("call_1", "a.csv\nb.csv")]
    assert call_with_tools(connect("practice", wire=wire), again.messages, list_files, on_append=again.save).text == ANSWER


# ---- processes that die ----

CHILD = """
import json, os, sys, time
sys.path.insert(0, {root!r})
from agent_steps.call_with_tools import call_with_tools
from agent_steps.interrupt_and_resume import History
from agent_steps.providers import connect
from agent_steps.providers.formats import text_of
wire, path = sys.argv[1:3]

def list_files(path: str = ".") -> str:
    "List all files in a folder."
    print("running", flush=True)
    {during}
    return "a.csv\\nb.csv"

model = connect("practice", wire=wire)
history = History(path)
is_new = not history.messages
history.append({{"role": "user", "content": "How many CSV files are in this folder?"}})
if is_new:
    ask = model.native_reply
    def three_calls(messages, *rest, **more):
        message = ask(messages, *rest, **more)
        calls = message.get("tool_calls") or [block for block in message["content"] if block["type"] == "tool_use"]
        for number in (2, 3):
            (message["tool_calls"] if wire == "openai" else message["content"]).append(calls[0] | {{"id": f"extra_{{number}}"}})
        model.native_reply = ask
        return message
    model.native_reply = three_calls

def save(messages):
    history.save(messages)
    print("saved", json.dumps(messages), flush=True)
result = call_with_tools(model, history.messages, list_files, on_append=save)
print("answer", result.text, flush=True)
"""


def child(wire, path, during="pass"):
    script = CHILD.format(root=str(ROOT), during=during)
    return subprocess.Popen([sys.executable, "-c", script, wire, str(path)], cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            encoding="utf-8")


def read_until(process, word, times):
    """What a child printed, up to the n-th line that begins with a word."""
    printed = []
    while sum(line.startswith(word) for line in printed) < times:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        printed.append(line)
    return printed


def last_saved(printed):
    return next(json.loads(line.removeprefix("saved ")) for line in reversed(printed) if line.startswith("saved "))


@both_wires
@pytest.mark.parametrize("word, times", [("saved", 1), ("running", 1), ("running", 2), ("saved", 5)])
def test_a_run_that_is_killed_loses_nothing_that_was_saved_and_is_resumed(wire, word, times, tmp_path):
    path = tmp_path / "h.jsonl"
    with child(wire, path, during="time.sleep(0.05)") as process:
        printed = read_until(process, word, times)
        process.kill()
        printed += process.stdout.readlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")   # half a line, if it was killed in a save
        history = History(path, tmp_path)
    saved = last_saved(printed)
    assert len(history.messages) >= len(saved) and is_taken(wire, history.messages)
    finished = [pair for pair in pairs_of(saved) if pair[1] == "a.csv\nb.csv"]
    assert pairs_of(history.messages)[:len(finished)] == finished
    history.append(QUESTION)
    result = call_with_tools(connect("practice", wire=wire), history.messages, list_files, on_append=history.save)
    assert result.text == ANSWER and History(path, tmp_path).messages == result.messages


@pytest.mark.skipif(os.name == "nt", reason="a signal sent to a process needs POSIX")
@both_wires
def test_ctrl_c_in_the_second_of_three_calls_leaves_a_file_that_says_which_have_finished(wire, tmp_path):
    path = tmp_path / "h.jsonl"
    with child(wire, path, during="if os.path.exists('once'): time.sleep(30)\n    open('once', 'w').close()") as process:
        read_until(process, "running", 2)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.stderr.read()
    history = History(path, tmp_path)
    assert [text for _, text in pairs_of(history.saved)] == ["a.csv\nb.csv", INTERRUPTED, STOPPED]
    assert history.messages == history.saved and is_taken(wire, history.messages)


@both_wires
def test_a_run_that_was_killed_is_resumed_by_another_process(wire, tmp_path):
    path = tmp_path / "h.jsonl"
    with child(wire, path, during="os._exit(1)") as process:
        read_until(process, "running", 1)
    with child(wire, path) as process:
        assert f"answer {ANSWER}\n" in process.stdout.read()
    texts = [text for _, text in pairs_of(History(path, tmp_path).messages)]
    assert texts == [INTERRUPTED, STOPPED, STOPPED, "a.csv\nb.csv"]


def test_after_a_restart_of_the_kernel_the_run_is_resumed(tmp_path):
    begin = ("import os\nfrom agent_steps.call_with_tools import call_with_tools\nfrom agent_steps.interrupt_and_resume import History\n"
             "from agent_steps.providers import connect\ndef list_files(path: str = '.') -> str:\n    'List all files in a folder.'\n"
             "    print('running', flush=True)\n    {during}\n    return 'a.csv'\nhistory = History('h.jsonl')\n")
    ask = f"print(len(history.messages))\nhistory.append({QUESTION!r})\n"
    go_on = "print(call_with_tools(connect('practice'), history.messages, list_files, on_append=history.save).text)"
    notebook = Notebook(tmp_path)
    try:
        notebook.run(begin.format(during="raise KeyboardInterrupt"))
        _, error = notebook.run(ask + go_on)
        assert error["ename"] == "KeyboardInterrupt"
        notebook.manager.restart_kernel(now=True)
        notebook.client.wait_for_ready(timeout=60)
        printed, error = notebook.run(begin.format(during="pass") + ask + go_on)
    finally:
        notebook.close()
    assert error is None and printed.splitlines() == ["3", "running", "There is 1 CSV file in the current folder: a.csv."]

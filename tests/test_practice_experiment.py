"""The practice model as the subject of an experiment: the index of the CSV files, a false claim, and faults at a rate."""
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import test_practice
from test_practice import converse, request, result, user

from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Workspace
from agent_steps.parse_the_tool_call import parse_tool_call
from agent_steps.plain_chat import Chat
from agent_steps.practice.faults import fault_for
from agent_steps.practice.request import Message, Request
from agent_steps.practice.tables import read_rows
from agent_steps.providers import connect
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt

DATA = Path(__file__).parent.parent / "data"
TASK = "Write INDEX.md: one line for each CSV file in this folder, with its path and the names of its columns."
TIDES = "harbour/tides.csv: hour, tide_m, water_temperature_c, wind"
PENGUINS = "penguins.csv: species, island, bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g, sex, year"
EXAMPLE = '<tool_call>{"name": "list_files", "arguments": {"path": "some/folder"}}</tool_call>\n'
WITH = build_system_prompt(TOOL_DEFINITIONS)
WITHOUT = WITH.replace(f"as JSON inside <tool_call> tags, like this:\n{EXAMPLE}", "as JSON with its name and arguments inside <tool_call> tags.\n")
FAULTS = {"claims_done": 0.03, "malformed_call": 0.12}
SEEDS = range(60)
NATIVE = {
    "openai": [{"type": "function", "function": {"name": tool["name"], "parameters": tool["inputSchema"]}} for tool in TOOL_DEFINITIONS],
    "anthropic": [{"name": tool["name"], "input_schema": tool["inputSchema"]} for tool in TOOL_DEFINITIONS],
}
both_wires = pytest.mark.parametrize("wire", ["openai", "anthropic"])
both_prompts = pytest.mark.parametrize("prompt", [WITH, WITHOUT], ids=["with an example", "without"])


def prompt_of(*names):
    return build_system_prompt([tool for tool in TOOL_DEFINITIONS if tool["name"] in names])


def with_data(folder):
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    return folder


def work(folder, task=TASK, prompt=WITH, max_steps=12, approve=lambda call: "y", before=None, **options):
    """A run in a folder. before(call's name): something that happens before each call."""
    workspace = Workspace(folder)

    def call_tool(name, arguments):
        if before:
            before(name)
        return workspace.call_tool(name, arguments)
    return run_agent(Chat(connect("practice", **options), prompt), task, max_steps, approve=approve, call_tool=call_tool, quiet=True)


def names(run):
    return [turn.call and turn.call.name for turn in run.turns]


def index_in(folder, name="INDEX.md"):
    return (folder / name).read_text(encoding="utf-8").splitlines() if (folder / name).exists() else []


def lines_for(folder, **files):
    """The index of a folder with these CSV files in it, as texts or bytes."""
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / f"{name}.csv").write_bytes(data)
    assert work(folder).completed
    return index_in(folder)


# ---- the index ----

@both_wires
@both_prompts
def test_it_notes_each_file_as_soon_as_it_has_read_it(tmp_path, wire, prompt):
    run = work(with_data(tmp_path), prompt=prompt, wire=wire)
    assert names(run) == ["list_files", "read_file", "write_file", "read_file", "edit_file", "task_complete"]
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]
    assert run.summary == "I wrote INDEX.md, with 2 files in it."


def test_paths_stand_in_the_index_as_they_are_listed(tmp_path):
    with_data(tmp_path / "data")
    work(tmp_path)
    assert index_in(tmp_path) == [f"- data/{TIDES}", f"- data/{PENGUINS}"]


@pytest.mark.parametrize(("max_steps", "count"), [(2, 0), (3, 1), (4, 1), (5, 2)])
def test_a_run_that_is_stopped_leaves_the_lines_that_it_had_noted(tmp_path, max_steps, count):
    run = work(with_data(tmp_path), max_steps=max_steps)
    assert run.stop_reason == "max_steps"
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"][:count]


def test_a_new_run_replaces_what_an_old_one_left(tmp_path):
    work(with_data(tmp_path), max_steps=3)
    work(tmp_path)
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


def test_without_edit_file_it_writes_all_lines_again(tmp_path):
    run = work(with_data(tmp_path), prompt=prompt_of("list_files", "read_file", "write_file", "task_complete"))
    assert names(run)[2:5] == ["write_file", "read_file", "write_file"]
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


@pytest.mark.parametrize("task", [
    "Make an index of the CSV files in this folder.", "Write down the column names of every CSV file here, in INDEX.md",
    "Create INDEX.md with the path of each CSV file and the names of their columns.", "I want an index of all CSV files."])
def test_the_task_may_be_put_in_other_words(tmp_path, task):
    assert work(with_data(tmp_path), task).completed
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


@pytest.mark.parametrize("task", [
    "What are the column names of penguins.csv?", "What does INDEX.md say?", "Read INDEX.md.", "Which columns of each CSV are numbers?",
    "How do I write an index of my files?", "Do not write anything, only list the CSV files and think of an index of them."])
def test_a_question_writes_nothing(tmp_path, task):
    assert not {"write_file", "edit_file"} & set(names(work(with_data(tmp_path), task)))
    assert not index_in(tmp_path)


@pytest.mark.parametrize(("task", "call"), [
    ("Delete INDEX.md and write an index of the files.", "run_python_code"),
    ("Plot the column names of each file and save it as INDEX.png", "list_files"), ("Read harbour/notes.txt", "read_file")])
def test_other_plans_go_first(task, call):
    replies = converse(task, system=WITH)
    assert parse_tool_call(replies[0]).name == call
    assert "INDEX.md" not in replies[0] or call == "run_python_code"


def test_the_name_of_the_index_is_read_from_the_task(tmp_path):
    run = work(with_data(tmp_path), TASK.replace("INDEX.md", "notes/columns.txt"))
    assert len(index_in(tmp_path, "notes/columns.txt")) == 2
    assert "notes/columns.txt" in run.summary


def test_a_folder_that_the_task_names_is_the_only_one_in_the_index(tmp_path):
    work(with_data(tmp_path), TASK.replace("this folder", "the folder harbour"))
    assert index_in(tmp_path) == [f"- {TIDES}"]


def test_one_file_is_one_file(tmp_path):
    shutil.copy(DATA / "penguins.csv", tmp_path)
    assert work(tmp_path).summary == "I wrote INDEX.md, with 1 file in it."


def test_three_files_are_three_lines_in_the_order_of_the_listing(tmp_path):
    assert lines_for(tmp_path, b="x,y\n1,2\n", a="p\n1\n", c="t\tu\n1\t2\n") == ["- a.csv: p", "- b.csv: x, y", "- c.csv: t, u"]


@pytest.mark.parametrize(("content", "line"), [
    ("a;b;c\n1,5;2;3\n", "a, b, c"), ('"name, full";"size"\n"x";1\n', "name, full, size"), ('"first\nname",b\n1,2\n', "first name, b"),
    ("\ufeffa,b\r\n1,2\r\n", "a, b"), (",a,b\n0,1,2\n", "a, b"), ("country,1990,2000\nx,1,2\n", "country, 1990, 2000"), ("{a},b}\n1,2\n", "{a}, b}"),
    ("a,b", "a, b"), ("a,b\r1,2\r", "a, b"), ("", "has no header"), ("\n \n", "has no header"),
    ("0,1.87,calm\n1,2.49,calm\n", "has no header"), ("größe,b\n1,2\n", "größe, b"),
    ("größe,b\n1,2\n".encode("latin-1"), "could not be read"), (b"\x00\x01\x02", "could not be read")])
def test_the_columns_are_those_of_the_header_that_the_file_holds(tmp_path, content, line):
    assert lines_for(tmp_path, x=content) == [f"- x.csv: {line}"]


def test_a_file_that_cannot_be_read_stops_nothing_and_is_named_in_the_summary(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"gr\xf6sse\n")
    (tmp_path / "c.csv").write_text("x\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("", encoding="utf-8")
    run = work(tmp_path)
    assert index_in(tmp_path) == ["- a.tsv: has no header", "- b.csv: could not be read", "- c.csv: x"]
    assert run.summary == "I wrote INDEX.md, with 3 files in it. Of these I could read no columns: a.tsv, b.csv."


def test_the_rows_of_a_table_are_read_as_far_as_they_are_wanted():
    assert read_rows('a;b\n"x;y";1\n\nz;2\n') == [["a", "b"], ["x;y", "1"], ["z", "2"]]
    assert read_rows("a,b\n1,2\n3,4\n", most=1) == [["a", "b"]]
    assert read_rows("") == []


@both_wires
def test_native_calls_make_the_same_index(tmp_path, monkeypatch, wire):
    monkeypatch.setitem(test_practice.NATIVE_TOOLS, wire, NATIVE[wire])
    workspace, messages, made = Workspace(with_data(tmp_path)), [user(TASK)], []
    while "task_complete" not in made:
        _, [(name, arguments, call_id)], _ = request(wire, messages)
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        made.append(name)
        messages += native_messages(wire, name, arguments, call_id, workspace.call_tool(name, arguments))
    assert made == ["list_files", "read_file", "write_file", "read_file", "edit_file", "task_complete"]
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


def native_messages(wire, name, arguments, call_id, answer):
    """A native call and its result, as messages."""
    if wire == "openai":
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        return [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": call_id, "content": answer}]
    return [{"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": answer}]}]


# ---- missing values ----

@both_wires
@pytest.mark.parametrize(("task", "rules"), [
    (TASK + " Say how many values are missing.", ""), (TASK, "In an index, say how many values are missing."), (TASK, "Count the gaps of each file."),
    (TASK + " Add how many values are NA.", ""), (TASK, "For each table, give the number of missing values.")])
def test_asked_for_missing_values_it_counts_them(tmp_path, task, rules, wire):
    work(with_data(tmp_path), task, build_system_prompt(TOOL_DEFINITIONS, rules), wire=wire)
    assert index_in(tmp_path) == [f"- {TIDES} (0 values missing)", f"- {PENGUINS} (19 values missing)"]


@pytest.mark.parametrize("rules", ["If a file is missing, say so.", "Do not count missing values.", "Use short names.", "Never mind the gaps."])
def test_other_rules_ask_for_no_missing_values(tmp_path, rules):
    work(with_data(tmp_path), prompt=build_system_prompt(TOOL_DEFINITIONS, rules))
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


@pytest.mark.parametrize(("content", "words"), [
    ("a,b\n1,\n", "(1 value missing)"), ("a,b\nNA,nan\nNaN,2\n", "(3 values missing)"), ("a,b,c\n1\n", "(2 values missing)"),
    ("a,b,\n1,2,\n", "(0 values missing)"), ("a;b\n ;1,5\n", "(1 value missing)"),
    ("a,b\n", "(0 values missing)"), ('a,b\n"",x\n', "(1 value missing)")])
def test_empty_fields_and_na_count_as_missing(tmp_path, content, words):
    (tmp_path / "x.csv").write_text(content, encoding="utf-8")
    work(tmp_path, TASK + " With the number of missing values.")
    assert index_in(tmp_path)[0].endswith(" " + words)


def test_of_a_file_that_was_cut_it_says_at_least(tmp_path):
    (tmp_path / "long.csv").write_text("a,b\n" + "1,\n" * 10_000, encoding="utf-8")
    work(tmp_path, TASK + " With the number of missing values.")
    shown = (19_800 - len("a,b\n")) // len("1,\n")
    assert index_in(tmp_path) == [f"- long.csv: a, b (at least {shown} values missing)"]


# ---- what ends it undone ----

def test_without_a_csv_file_it_says_so(tmp_path):
    (tmp_path / "notes.txt").write_text("text", encoding="utf-8")
    run = work(tmp_path)
    assert (names(run), run.summary) == (["list_files", "task_complete"], "There is no CSV file in this folder.")
    assert "I have to stop here" in run.turns[-1].reply


def test_in_a_list_that_is_cut_there_may_be_more():
    listing = "a.csv\n(more than 500 files: these are the first; a sub-folder can be listed on its own)"
    replies = converse(TASK, result(listing), result("x,y", "read_file"), result("Wrote 1 line to 'INDEX.md'.", "write_file"), system=WITH)
    summary = parse_tool_call(replies[-1]).arguments["summary"]
    assert summary == "I wrote INDEX.md, with 1 file in it. The list of files was cut, so there may be more."


@pytest.mark.parametrize("refused", ["list_files", "read_file", "write_file", "edit_file"])
def test_a_refused_call_ends_it(tmp_path, refused):
    run = work(with_data(tmp_path), approve=lambda call: "n: not that" if call.name == refused else "y")
    assert run.summary == f"You refused {refused} (not that), so I stopped there. The task is not done."
    assert names(run)[-2:] == [refused, "task_complete"]


@pytest.mark.parametrize(("missing", "words"), [("read_file", "none of my tools can read it"), ("write_file", "none of my tools can write a file")])
def test_without_a_tool_that_it_needs_it_says_so(tmp_path, missing, words):
    run = work(with_data(tmp_path), prompt=prompt_of(*{tool["name"] for tool in TOOL_DEFINITIONS} - {missing}))
    assert names(run) == ["list_files", "task_complete"]
    assert words in run.summary


def test_without_list_files_it_cannot_look():
    assert "I cannot look into your folders" in converse(TASK, system=prompt_of("read_file", "write_file", "task_complete"))[0]


def test_without_task_complete_it_ends_in_plain_words():
    wrote = result("Wrote 1 line to 'INDEX.md'.", "write_file")
    replies = converse(TASK, result("a.csv"), result("x", "read_file"), wrote, system=prompt_of("list_files", "read_file", "write_file"))
    assert replies[-1] == "I wrote INDEX.md, with 1 file in it."


def test_an_index_that_changed_meanwhile_is_not_edited_again_and_again(tmp_path):
    def meddle(name):
        if name == "edit_file":
            (tmp_path / "INDEX.md").write_text("mine now", encoding="utf-8")
    run = work(with_data(tmp_path), before=meddle)
    assert names(run)[-2:] == ["edit_file", "task_complete"]
    assert "I could not do it" in run.summary and "old was not found in 'INDEX.md'" in run.summary
    assert index_in(tmp_path) == ["mine now"]


def test_an_index_that_cannot_be_written_ends_it(tmp_path):
    (with_data(tmp_path) / "INDEX.md").mkdir()
    run = work(tmp_path)
    assert names(run)[-2:] == ["write_file", "task_complete"]
    assert "I could not do it" in run.summary


# ---- faults on the way ----

@both_wires
@both_prompts
@pytest.mark.parametrize("turn", range(1, 7))
@pytest.mark.parametrize("fault", [
    "malformed_call", "truncated_call", "two_calls", "silence", "length_stop", "invented_result", "unknown_tool", "repeat", "rate_limit"])
def test_a_fault_on_any_turn_costs_a_step_at_most(tmp_path, wire, prompt, turn, fault):
    run = work(with_data(tmp_path), prompt=prompt, wire=wire, faults={turn: fault})
    assert run.completed and run.steps <= 7
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


@pytest.mark.parametrize("fault", ["malformed_call", "truncated_call", "silence", "unknown_tool", "repeat"])
def test_several_faults_do_not_derail_it(tmp_path, fault):
    run = work(with_data(tmp_path), faults={turn: fault for turn in (2, 4, 5, 7, 10)}, max_steps=20)
    assert (run.completed, run.steps) == (True, 11)
    assert index_in(tmp_path) == [f"- {TIDES}", f"- {PENGUINS}"]


# ---- the claim ----

@both_wires
@pytest.mark.parametrize("turn", range(1, 6))
def test_a_claim_ends_a_run_whatever_was_done(tmp_path, wire, turn):
    run = work(with_data(tmp_path), wire=wire, faults={turn: "claims_done"})
    assert (run.steps, run.stop_reason, run.summary) == (turn, "completed", "All done, as you asked.")
    assert len(index_in(tmp_path)) == {1: 0, 2: 0, 3: 0, 4: 1, 5: 1}[turn]


@both_wires
@pytest.mark.parametrize("way", ["plain", "chunks", "helper"])
def test_a_claim_is_a_native_call_where_tools_are_native(monkeypatch, wire, way):
    monkeypatch.setitem(test_practice.NATIVE_TOOLS, wire, NATIVE[wire])
    _, calls, _ = request(wire, [user(TASK)], way, connect={"faults": "claims_done"})
    assert [call[0] for call in calls] == ["task_complete"]
    assert "All done, as you asked." in str(calls)


@both_wires
@pytest.mark.parametrize("system", ["", prompt_of("list_files"), "You have a tool: " + json.dumps(TOOL_DEFINITIONS[-1])],
                         ids=["no tools", "no task_complete", "no form"])
def test_a_claim_is_a_plain_sentence_where_there_is_nothing_to_call(wire, system):
    assert connect("practice", wire=wire, faults="claims_done").reply(system, [user(TASK)]) == "All done, as you asked."


def test_a_claim_is_made_in_place_of_a_script_too():
    model = connect("practice", script=["I would do something else."], faults={1: "claims_done"})
    assert parse_tool_call(model.reply(WITH, [user("Anything.")])).name == "task_complete"


# ---- faults at a rate ----

def struck(faults, prompt, seed, turns=8, tools=None):
    """From turn to the fault that strikes it, over the turns of one run."""
    replies = [Message("assistant", "...")]
    found = {turn: fault_for(Request(prompt, replies * (turn - 1), tools or {}), faults, seed) for turn in range(1, turns + 1)}
    return {turn: name for turn, name in found.items() if name}


def of_kind(found, name):
    return {turn for turn, each in found.items() if each == name}


MIXED = {"malformed_call": 0.2, "silence": 0.1, "claims_done": 0.05}


@pytest.mark.parametrize("seed", SEEDS)
def test_without_an_example_more_calls_are_malformed_and_nothing_else_changes(seed):
    shown, unseen = struck(MIXED, WITH, seed), struck(MIXED, WITHOUT, seed)
    assert of_kind(shown, "malformed_call") <= of_kind(unseen, "malformed_call")
    for other in ("silence", "claims_done"):
        assert of_kind(shown, other) == of_kind(unseen, other)


def rate(name, faults, prompt, **options):
    return sum(len(of_kind(struck(faults, prompt, seed, **options), name)) for seed in range(500)) / 4000


def test_a_form_that_was_never_shown_is_missed_twice_as_often():
    assert rate("malformed_call", MIXED, WITH) == pytest.approx(0.2, abs=0.02)
    assert rate("malformed_call", MIXED, WITHOUT) == pytest.approx(0.4, abs=0.025)
    assert rate("silence", MIXED, WITHOUT) == pytest.approx(0.1, abs=0.015)


@pytest.mark.parametrize("faults", [{"malformed_call": 0.7}, {"malformed_call": 0.6, "silence": 0.4}, {"silence": 0.5, "malformed_call": 0.3}])
def test_a_doubled_rate_takes_what_the_others_leave_and_no_more(faults):
    others = faults.get("silence", 0)
    assert rate("malformed_call", faults, WITHOUT) == pytest.approx(1 - others, abs=0.03)
    assert rate("silence", faults, WITHOUT) == rate("silence", faults, WITH) == pytest.approx(others, abs=0.03)


@pytest.mark.parametrize("prompt", [
    "", "You have no tools. Write <tool_call> if you like.", WITH,
    WITHOUT + '\nFor example <tool_call>\n{"name": "x", "arguments": {}}\n</tool_call>'])
def test_only_a_prompt_with_tools_and_without_an_example_doubles_the_rate(prompt):
    assert all(struck(MIXED, prompt, seed) == struck(MIXED, WITH, seed) for seed in SEEDS)


@pytest.mark.parametrize("form", ['<tool_call>{...}</tool_call>', '<tool_call>{"name": "list_files"}</tool_call>', '{"name": "x", "arguments": {}}'])
def test_half_an_example_is_none(form):
    assert all(struck(MIXED, WITHOUT + form, seed) == struck(MIXED, WITHOUT, seed) for seed in SEEDS)


def test_native_tools_never_double_the_rate():
    assert all(struck(MIXED, WITHOUT, seed, tools={"list_files": {}}) == struck(MIXED, WITH, seed) for seed in SEEDS)


@pytest.mark.parametrize("faults", ["malformed_call", {2: "malformed_call"}])
def test_a_fault_that_is_not_drawn_is_not_doubled(faults):
    assert struck(faults, WITH, 0) == struck(faults, WITHOUT, 0)


@pytest.mark.parametrize("faults", [{"silence": 0.6, "repeat": 0.5}, {"malformed_call": 0.9, "silence": 0.1, "claims_done": 0.01}])
def test_rates_of_more_than_1_in_all_are_refused_when_connecting(faults):
    with pytest.raises(ValueError, match="must add up to 1 at most, not to 1.[01]"):
        connect("practice", faults=faults)


@pytest.mark.parametrize("faults", [{"silence": 0.9, "repeat": 0.1}, {"silence": 0.7, "repeat": 0.2, "two_calls": 0.1}, {"malformed_call": 1}, {}])
def test_rates_of_1_in_all_are_fine(faults):
    assert connect("practice", faults=faults)


@pytest.mark.parametrize("seed", [0, -1, 2**70, True])
def test_any_whole_number_is_a_seed(seed):
    assert struck(MIXED, WITH, seed, turns=60) == struck(MIXED, WITH, seed, turns=60) != {}


def test_turns_and_seeds_are_drawn_independently():
    by_seed = [frozenset(of_kind(struck({"silence": 0.5}, WITH, seed), "silence")) for seed in range(-400, 400)]
    assert len(set(by_seed)) > 230   # of the 256 patterns that eight turns can have
    both = sum({1, 2} <= turns for turns in by_seed) / len(by_seed)
    assert both == pytest.approx(0.25, abs=0.05)


# ---- the experiment as a whole ----

@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """From condition to its runs, one a seed, each with what was on the disk at its end."""
    def one(prompt, seed):
        folder = with_data(tmp_path_factory.mktemp("run"))
        run = work(folder, prompt=prompt, max_steps=8, faults=FAULTS, seed=seed)
        return SimpleNamespace(run=run, lines=index_in(folder), good=index_in(folder) == [f"- {TIDES}", f"- {PENGUINS}"])
    return {condition: [one(prompt, seed) for seed in SEEDS] for condition, prompt in (("with", WITH), ("without", WITHOUT))}


def test_with_an_example_more_runs_succeed(experiment):
    good = {condition: sum(each.good for each in runs) for condition, runs in experiment.items()}
    assert 0.5 * len(SEEDS) < good["without"] < good["with"] < len(SEEDS)


def test_no_seed_does_better_without_the_example_unless_it_claims(experiment):
    """A malformed turn shifts the later ones, so a claim may strike a run that has done more or less by then."""
    for shown, unseen in zip(experiment["with"], experiment["without"]):
        claimed = shown.run.summary == "All done, as you asked."
        assert claimed or shown.good >= unseen.good


def test_some_runs_say_that_they_are_done_with_half_an_index_or_none(experiment):
    claims = [each for runs in experiment.values() for each in runs if each.run.completed and not each.good]
    assert claims and all(each.run.summary == "All done, as you asked." for each in claims)
    assert {len(each.lines) for each in claims} == {0, 1}


def test_a_run_that_ends_of_itself_without_a_claim_has_done_it(experiment):
    honest = [each for runs in experiment.values() for each in runs if each.run.completed and each.run.summary != "All done, as you asked."]
    assert len(honest) > len(SEEDS)
    assert all(each.good for each in honest)


def test_the_same_seed_makes_the_same_run_on_both_wires(tmp_path):
    for seed in range(8):
        runs = [work(with_data(tmp_path / f"{wire}{seed}"), faults=FAULTS, seed=seed, wire=wire) for wire in ("openai", "anthropic")]
        assert [turn.reply for turn in runs[0].turns] == [turn.reply for turn in runs[1].turns]

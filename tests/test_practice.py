"""The practice model, through both real clients: what it answers, what it reads, what it refuses, and its faults."""
import contextlib
import io
import json
import re
import shutil
from math import ceil
from pathlib import Path

import anthropic
import httpx2
import matplotlib
import matplotlib.pyplot
import openai
import pytest

from agent_steps.dispatch_table import observation
from agent_steps.full_tools import TOOL_DEFINITIONS, call_tool
from agent_steps.parse_the_tool_call import ToolCallError, parse_tool_call
from agent_steps.practice.faults import known_faults
from agent_steps.practice.transport import practice_transport
from agent_steps.providers import ModelError, connect
from agent_steps.task_complete import TWO_TOOLS_PROMPT
from agent_steps.tool_definitions import build_system_prompt

matplotlib.use("Agg")
DATA = Path(__file__).parent.parent / "data"
WIRES = ("openai", "anthropic")
both_wires = pytest.mark.parametrize("wire", WIRES)
streamed_or_not = pytest.mark.parametrize("way", ["plain", "chunks", "helper"])

PLOT = "Find the CSV file in this folder, make a plot from it and save the plot as a PNG file."
COUNT = "How many CSV files are in this folder?"
ALL_TOOLS = build_system_prompt(TOOL_DEFINITIONS)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def ask(question, system="", **options):
    """The reply to one question."""
    return connect(**options).reply(system, [user(question)])


def converse(question, *results, system=TWO_TOOLS_PROMPT, **options):
    """The replies of a conversation in text: one to the question, and one to each result that is sent back."""
    model, messages, replies = connect(**options), [user(question)], []
    for result in [*results, None]:
        replies.append(model.reply(system, messages))
        messages += [assistant(replies[-1] or "(empty reply)"), user(result)]
    return replies


def result(text, tool="list_files"):
    return observation(tool, text)


def prompt_with(*names):
    return build_system_prompt([tool for tool in TOOL_DEFINITIONS if tool["name"] in names])


# ---- plain answers ----

@both_wires
@pytest.mark.parametrize(("question", "words"), [
    ("Hello!", "I am the practice model"), ("Who are you?", "practice model"), ("My name is Ada.", "Nice to meet you, Ada."),
    ("How do I list the files of a folder in Python?", "pathlib"), ("How do I read a CSV file in Python?", "pandas")])
def test_it_knows_what_the_first_lesson_asks(wire, question, words):
    assert words in ask(question, wire=wire)


@both_wires
@pytest.mark.parametrize("question", ["What is the capital of France?", "Schreib ein Gedicht.", "2", "?" * 5000, "\u202e🐧"])
def test_what_it_does_not_know_it_says_and_how_to_connect_a_real_model(wire, question):
    reply = ask(question, wire=wire)
    assert "I am the practice model" in reply
    assert 'connect("ollama")' in reply and 'connect("openai")' in reply


@both_wires
def test_it_remembers_what_is_sent_and_nothing_else(wire):
    model = connect(wire=wire)
    history = [user("My name is Ada."), assistant("Nice to meet you, Ada.")]
    model.reply("", [user("My name is Ada.")])
    assert model.reply("", [*history, user("What is my name?")]) == "Your name is Ada."
    assert "not told me your name" in model.reply("", [user("What is my name?")])


def test_it_tells_the_first_question_from_the_last():
    history = [user("hello"), assistant("Hello."), user("Who are you?"), assistant("A model.")]
    assert connect().reply("", [*history, user("What did I just ask?")]) == 'You asked: "Who are you?"'
    assert connect().reply("", [*history, user("What was my first question?")]) == 'You asked: "hello"'
    assert "first message" in ask("What did I just ask?")


@pytest.mark.parametrize("habit", ["Answer in capital letters.", "Use UPPER CASE only."])
def test_it_takes_the_habit_of_capitals_from_the_system_prompt(habit):
    assert ask("hello", habit) == ask("hello").upper()


# ---- stateless ----

RAW = {
    "openai": ("http://practice.invalid/v1/chat/completions", {"model": "practice", "messages": [user(COUNT)]}),
    "anthropic": ("http://practice.invalid/v1/messages", {"model": "practice", "max_tokens": 500, "messages": [user(COUNT)]}),
}


def post(wire, headers=None, transport=None, **changes):
    """Send a raw request. A change to None leaves the field out."""
    address, body = RAW[wire]
    body = {name: value for name, value in {**body, **changes}.items() if value is not None}
    with httpx2.Client(transport=transport or practice_transport()) as client:
        return client.post(address, json=body, headers=headers)


@both_wires
@pytest.mark.parametrize("stream", [None, True])
def test_the_same_request_gets_the_same_bytes(wire, stream):
    one, two = practice_transport(), practice_transport()
    first = post(wire, transport=one, stream=stream).content
    post(wire, transport=one, messages=[user("My name is Ada.")])
    assert post(wire, transport=one, stream=stream).content == first
    assert post(wire, transport=two, stream=stream).content == first
    assert first


# ---- tools described in text ----

def test_without_tools_it_says_that_it_cannot_look():
    assert "I cannot look into your folders" in ask("Which files are in my folder?")
    assert "I cannot look into your folders" in ask(PLOT)


def test_without_the_form_of_a_call_it_says_that_nobody_told_it_how():
    described = json.dumps(next(tool for tool in TOOL_DEFINITIONS if tool["name"] == "list_files"))
    assert "nobody has told me how to write a tool call" in ask("Which files are here?", f"You have a tool: {described}")


@both_wires
def test_with_both_it_calls_the_tool(wire):
    call = parse_tool_call(ask("Which files are here?", TWO_TOOLS_PROMPT, wire=wire))
    assert (call.name, call.arguments) == ("list_files", {"path": "."})


@pytest.mark.parametrize(("task", "folder"), [
    ("What is in the folder data/raw?", "data/raw"), ("List the files in the data folder.", "data"),
    ("Which files are in this folder?", "."), ("What files are in the current directory?", ".")])
def test_it_looks_into_the_folder_that_the_task_names(task, folder):
    assert parse_tool_call(ask(task, TWO_TOOLS_PROMPT)).arguments == {"path": folder}


def test_it_answers_from_the_result_that_it_was_given():
    replies = converse("Which files are in this folder?", result("a.txt\nb.csv"))
    assert parse_tool_call(replies[1]).arguments["summary"] == "There are 2 files in the current folder: a.txt, b.csv."


@both_wires
def test_one_more_csv_file_is_counted(wire):
    def answer(listing):
        return parse_tool_call(converse(COUNT, result(listing), wire=wire)[1]).arguments["summary"]
    assert answer("notes.txt") == "There are no CSV files in the current folder."
    assert answer("a.csv\nnotes.txt") == "There is 1 CSV file in the current folder: a.csv."
    assert answer("a.csv\nb/new.csv\nnotes.txt") == "There are 2 CSV files in the current folder: a.csv, b/new.csv."


def test_a_result_without_a_frame_is_read_too():
    assert "There is 1 CSV file" in converse(COUNT, "a.csv\nnotes.txt")[1]


def test_without_task_complete_it_ends_with_a_plain_answer():
    reply = converse(COUNT, result("a.csv"), system=prompt_with("list_files"))[1]
    assert parse_tool_call(reply) is None
    assert "There is 1 CSV file" in reply


def test_a_nudge_is_no_new_task():
    model = connect()
    listed = ask(COUNT, TWO_TOOLS_PROMPT)
    messages = [user(COUNT), assistant(listed), user(result("a.csv")), assistant("There is one."),
                user("Please call a tool. Use task_complete when you are done.")]
    assert parse_tool_call(model.reply(TWO_TOOLS_PROMPT, messages)).name == "task_complete"


def test_a_second_task_starts_anew():
    messages = [user(COUNT), assistant(ask(COUNT, TWO_TOOLS_PROMPT)), user(result("a.csv")), assistant("There is one."),
                user("And which files are in the data folder?")]
    assert parse_tool_call(connect().reply(TWO_TOOLS_PROMPT, messages)).arguments == {"path": "data"}


@pytest.mark.parametrize("tools", [
    (), ("list_files",), ("task_complete",), ("list_files", "task_complete"), ("list_files", "read_file"),
    ("list_files", "read_file", "task_complete"), ("list_files", "read_file", "write_file", "task_complete"),
    ("list_files", "read_file", "run_python_code"), ("read_file", "run_python_script", "write_file")])
@pytest.mark.parametrize("task", [PLOT, COUNT, "What does notes.txt say?", "Calculate 3 * 17."])
def test_it_never_calls_a_tool_that_was_not_described(tools, task):
    results = [result("table.csv"), result("a,b\n1.5,2\n2.5,4\n", "read_file"), result("Error: no"), result("Error: no")]
    for reply in converse(task, *results, system=prompt_with(*tools)):
        call = parse_tool_call(reply)
        assert call is None or call.name in tools


@both_wires
def test_a_refusal_by_the_person_is_not_answered_with_the_same_call(wire):
    replies = converse(COUNT, "Not run: the person refused list_files('.').", "Please call a tool.", wire=wire)
    asked = [parse_tool_call(reply) for reply in replies]
    assert [call and call.name for call in asked] == ["list_files", "task_complete", "task_complete"]
    assert "You refused list_files" in asked[1].arguments["summary"]


def test_a_refused_end_is_not_asked_for_again():
    replies = converse(COUNT, result("a.csv"), "Not run: the person refused task_complete('...').")
    assert parse_tool_call(replies[2]) is None
    assert "what is missing" in replies[2]


def test_a_file_that_speaks_of_refusals_is_no_refusal():
    replies = converse("What does notes.txt say?", result("The guest refused the soup.", "read_file"), system=ALL_TOOLS)
    assert "The guest refused the soup." in parse_tool_call(replies[1]).arguments["summary"]


def test_it_lets_python_calculate():
    replies = converse("Calculate 12 * (3 + 4).", result("84", "run_python_code"), system=ALL_TOOLS)
    assert parse_tool_call(replies[0]).arguments == {"code": "print(12 * (3 + 4))"}
    assert parse_tool_call(replies[1]).arguments == {"summary": "The result is 84."}


# ---- the whole plot plan, with the real tools ----

TABLES = {
    "penguins": ("penguins.csv", (DATA / "penguins.csv").read_bytes(), ("bill_length_mm", "bill_depth_mm"), 342),
    "tides below": ("harbour/tides.csv", (DATA / "harbour" / "tides.csv").read_bytes(), ("tide_m", "water_temperature_c"), 72),
    "semicolons and decimal commas": (
        "messung.csv", "Ort;Länge in mm;Gewicht\n".encode() + b"".join(b"x;%d,5;%d,25\n" % (n, 2 * n) for n in range(12)),
        ("Länge in mm", "Gewicht"), 12),
    "decimal commas after a missing value": (
        "pegel.csv", b"ort;pegel;temperatur\nx;-;1\n" + b"".join(b"x;,%d;-%d,5\n" % (n, 2 * n) for n in range(12)), ("pegel", "temperatur"), 12),
    "tabs and quoted names": (
        "werte neu.csv", '"Name, ""kurz"""\t"Höhe, in ""m"""\t"Breite \'b\', m"\n'.encode() + b"".join(
            b"n\t%d.5\t%s\n" % (n, b"-" if n == 4 else b"%d" % (3 * n)) for n in range(12)), ('Höhe, in "m"', "Breite 'b', m"), 11),
    "commas and quoted names": (
        "data.csv", b'"a; b; c","it\'s; x","price ($)"\n' + b"".join(
            b"n,%d.5,%s\n" % (n, b"" if n == 4 else b"%d" % (3 * n + 7)) for n in range(12)), ("it's; x", "price ($)"), 11),
    "Latin-1": (
        "Straße.csv", "Straße;Länge;Gewicht\n".encode("latin-1") + b"".join(
            b"x;%d,5;%s\n" % (n, b"" if n == 3 else b"%d" % (2 * n)) for n in range(12)), ("Länge", "Gewicht"), 11),
    "a BOM and Windows line ends": (
        "bom.csv", b"\xef\xbb\xbfa,b\r\n" + b"".join(b"%d.5,%d\r\n" % (n, n * n) for n in range(12)), ("a", "b"), 12),
    "rows that are too short": (
        "short.csv", b"a,b\n,1\n3\n" + b"".join(b"%d.5,%d\n" % (n, n * n) for n in range(12)), ("a", "b"), 12),
}


IN_A_CHILD = ("penguins.csv", "messung.csv", "werte neu.csv", "Straße.csv")   # with all of the real tools


def quick_call_tool(name, arguments):
    """The tools, but code runs in this process: that saves the start of Python and matplotlib in a child."""
    if not name.startswith("run_python_"):
        return call_tool(name, arguments)
    code = arguments.get("code") or Path(arguments["path"]).read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
        except Exception as error:
            return f"{printed.getvalue()}{type(error).__name__}: {error}\nExit code 1."
        finally:
            matplotlib.pyplot.close("all")
    return printed.getvalue()


def work(task=PLOT, rules="", most=15, tools=TOOL_DEFINITIONS, call_tool=quick_call_tool, **options):
    """A small loop in text that approves everything. Returns the calls and their results."""
    model, messages, done = connect(**options), [user(task)], []
    while len(done) < most:
        reply = model.reply(build_system_prompt(tools, rules), messages)
        call = parse_tool_call(reply)
        if call is None:
            return done
        done.append((call, call_tool(call.name, call.arguments)))
        if call.name == "task_complete":
            return done
        messages += [assistant(reply), user(observation(call.name, done[-1][1]))]
    raise AssertionError("it came to no end")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "content", "columns", "points"), TABLES.values(), ids=TABLES)
def test_it_plots_two_columns_of_any_table(folder, name, content, columns, points):
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    done = work(call_tool=call_tool if name in IN_A_CHILD else quick_call_tool)
    picture, script = folder / f"{file.stem}.png", folder / f"plot_{file.stem}.py"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert all(repr(column) in script.read_text(encoding="utf-8") for column in columns)
    assert f"with {points} of " in done[-2][1]
    assert all(text in done[-1][0].arguments["summary"] for text in [*columns, name, picture.name])


def test_the_other_format_leads_to_the_same_picture(folder):
    shutil.copy(DATA / "penguins.csv", folder)
    first = [call for call, _ in work(wire="anthropic")]
    for name in ("penguins.png", "plot_penguins.py"):
        (folder / name).unlink()
    assert [call for call, _ in work(wire="openai")] == first
    assert (folder / "penguins.png").exists()


def test_it_needs_no_script_file_where_it_can_run_code(folder):
    shutil.copy(DATA / "penguins.csv", folder)
    tools = [tool for tool in TOOL_DEFINITIONS if tool["name"] in ("list_files", "read_file", "run_python_code", "task_complete")]
    done = work(tools=tools)
    assert [call.name for call, _ in done] == ["list_files", "read_file", "run_python_code", "run_python_code", "task_complete"]
    assert sorted(path.name for path in folder.iterdir()) == ["penguins.csv", "penguins.png"]


def test_it_plots_the_columns_that_the_task_names(folder):
    shutil.copy(DATA / "penguins.csv", folder)
    work("Plot body_mass_g against flipper_length_mm from penguins.csv.")
    script = (folder / "plot_penguins.py").read_text()
    assert "'body_mass_g'" in script and "'flipper_length_mm'" in script and "bill" not in script


def test_it_draws_a_histogram_when_asked(folder):
    shutil.copy(DATA / "harbour" / "tides.csv", folder)
    done = work("Plot a histogram of tide_m.")
    assert "plt.hist(" in (folder / "plot_tides.py").read_text()
    assert "histogram of tide_m" in done[-1][0].arguments["summary"]
    assert (folder / "tides.png").exists()


def test_it_looks_whether_the_picture_is_there_when_it_has_that_habit(folder):
    shutil.copy(DATA / "harbour" / "tides.csv", folder)
    names = [call.name for call, _ in work()]
    with_habit = [call.name for call, _ in work(rules="Verify that the picture is there.")]
    assert with_habit == [*names[:-1], "list_files", "task_complete"]


def test_it_does_not_claim_a_picture_that_is_not_there(folder):
    read = 'a,b\n1.5,2\n2.5,4\n'
    replies = converse(PLOT, result("t.csv"), result(read, "read_file"), result("Wrote it.", "write_file"),
                       result("saved", "run_python_script"), result("t.csv\nplot_t.py"), system=ALL_TOOLS + "\nVerify it.")
    assert "is not there. The task is not done" in parse_tool_call(replies[-1]).arguments["summary"]


def test_it_gives_up_in_words_on_an_error_that_it_does_not_know():
    replies = converse(PLOT, result("t.csv"), result("a,b\n1.5,2\n2.5,4\n", "read_file"), result("Wrote it.", "write_file"),
                       result("MemoryError: too big\nExit code 1.", "run_python_script"), system=ALL_TOOLS)
    call = parse_tool_call(replies[-1])
    assert call.name == "task_complete"
    assert "I could not do it" in call.arguments["summary"] and "MemoryError: too big" in call.arguments["summary"]


@pytest.mark.parametrize(("files", "words"), [
    ({}, "no CSV file"), ({"notes.txt": "hello"}, "no CSV file"), ({"names.csv": "first,last\nAda,Lovelace\n"}, "no table with a column of numbers"),
    ({"empty.csv": ""}, "no table with a column of numbers")])
def test_it_says_so_where_there_is_nothing_to_plot(folder, files, words):
    for name, text in files.items():
        (folder / name).write_text(text)
    done = work()
    assert words in done[-1][0].arguments["summary"]
    assert not list(folder.glob("*.png"))


def test_a_table_without_numbers_is_passed_over(folder):
    (folder / "a.csv").write_text("first,last\nAda,Lovelace\n")
    (folder / "b.csv").write_text("x,y\n1.5,2\n2.5,9\n")
    assert "from b.csv" in work()[-1][0].arguments["summary"]


# ---- tools given natively, through both clients ----

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NATIVE_TOOLS = {
    "openai": [{"type": "function", "function": {"name": "list_files", "description": "List.", "parameters": SCHEMA}}],
    "anthropic": [{"name": "list_files", "description": "List.", "input_schema": SCHEMA}],
}


def client_of(wire, **options):
    return connect(wire=wire, **options).client


def request(wire, messages, way="plain", tools=True, **options):
    """One request through the SDK's own client. Returns the text, the calls as (name, arguments, id), and the stop reason."""
    client = options.pop("client", None) or client_of(wire, **{"max_retries": 0, **options.pop("connect", {})})
    options = {"model": "practice", "messages": messages, **options}
    if tools:
        options["tools"] = NATIVE_TOOLS[wire]
    return (_openai if wire == "openai" else _anthropic)(client, way, options)


def _openai(client, way, options):
    if way == "chunks":
        return _from_chunks(client.chat.completions.create(**options, stream=True))
    if way == "helper":
        with client.chat.completions.stream(**options) as stream:
            choice = stream.get_final_completion().choices[0]
    else:
        choice = client.chat.completions.create(**options).choices[0]
    calls = [(call.function.name, call.function.arguments, call.id) for call in choice.message.tool_calls or []]
    return choice.message.content or "", calls, choice.finish_reason


def _from_chunks(chunks):
    text, calls, reason = "", [], None
    for chunk in chunks:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            calls += [(call.function.name, call.function.arguments, call.id) for call in choice.delta.tool_calls or []]
            reason = choice.finish_reason or reason
    return text, calls, reason


def _anthropic(client, way, options):
    options = {"max_tokens": 1000, **options}
    if way == "chunks":
        return _from_events(client.messages.create(**options, stream=True))
    if way == "helper":
        with client.messages.stream(**options) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**options)
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, json.dumps(block.input), block.id) for block in message.content if block.type == "tool_use"]
    return text, calls, message.stop_reason


def _from_events(events):
    text, calls, reason = "", [], None
    for event in events:
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls.append((event.content_block.name, "", event.content_block.id))
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            text += event.delta.text
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            name, arguments, call_id = calls.pop()
            calls.append((name, arguments + event.delta.partial_json, call_id))
        elif event.type == "message_delta":
            reason = event.delta.stop_reason
    return text, calls, reason


def native_call(wire, *ids, name="list_files"):
    """The message in which a model makes these calls."""
    if wire == "openai":
        return {"role": "assistant", "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"path": "."}'}} for call_id in ids]}
    return assistant([{"type": "tool_use", "id": call_id, "name": name, "input": {"path": "."}} for call_id in ids])


def native_results(wire, **texts):
    """The messages that bring the results of calls, given by id."""
    if wire == "openai":
        return [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in texts.items()]
    return [user([{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in texts.items()])]


@both_wires
@streamed_or_not
def test_a_native_tool_is_called_natively(wire, way):
    text, calls, reason = request(wire, [user(COUNT)], way)
    assert "list them" in text and "<tool_call>" not in text
    assert [(name, json.loads(arguments), call_id) for name, arguments, call_id in calls] == [("list_files", {"path": "."}, "call_1")]
    assert reason == {"openai": "tool_calls", "anthropic": "tool_use"}[wire]


@both_wires
@streamed_or_not
def test_a_native_result_is_answered(wire, way):
    messages = [user(COUNT), native_call(wire, "call_1"), *native_results(wire, call_1="a.csv\nb.csv\nc.txt")]
    text, calls, reason = request(wire, messages, way)
    assert text == "There are 2 CSV files in the current folder: a.csv, b.csv."
    assert calls == []
    assert reason == {"openai": "stop", "anthropic": "end_turn"}[wire]


@both_wires
def test_a_reply_goes_back_as_the_client_gave_it(wire):
    client = client_of(wire)
    if wire == "openai":
        message = client.chat.completions.create(model="practice", messages=[user(COUNT)], tools=NATIVE_TOOLS[wire]).choices[0].message
        back = message.to_dict()
    else:
        back = client.messages.create(model="practice", max_tokens=500, messages=[user(COUNT)], tools=NATIVE_TOOLS[wire]).to_param()
    text, _, _ = request(wire, [user(COUNT), back, *native_results(wire, call_1="a.csv")], client=client)
    assert "There is 1 CSV file" in text


@both_wires
@streamed_or_not
def test_without_native_tools_it_says_that_it_cannot_look(wire, way):
    text, calls, _ = request(wire, [user(COUNT)], way, tools=False)
    assert "I cannot look" in text and calls == []


@both_wires
def test_a_native_refusal_by_the_person_is_not_repeated(wire):
    messages = [user(COUNT), native_call(wire, "a"), *native_results(wire, a="Not run: the person refused list_files('.').")]
    text, calls, _ = request(wire, messages)
    assert "You refused list_files" in text and calls == []


@both_wires
def test_several_results_are_accepted_in_one_go(wire):
    messages = [user(COUNT), native_call(wire, "a", "b"), *native_results(wire, a="x.csv", b="y.csv\nz.csv")]
    assert "There are 2 CSV files" in request(wire, messages)[0]


def test_openai_reports_usage_in_a_stream_only_when_asked():
    client = client_of("openai")
    options = {"model": "practice", "messages": [user("hello")], "stream": True}
    assert not any(chunk.usage for chunk in client.chat.completions.create(**options))
    *_, last = client.chat.completions.create(**options, stream_options={"include_usage": True})
    assert last.choices == [] and last.usage.completion_tokens == 15


@both_wires
def test_a_stream_comes_in_several_pieces(wire):
    if wire == "openai":
        pieces = [chunk.choices[0].delta.content for chunk in client_of(wire).chat.completions.create(
            model="practice", messages=[user("hello")], stream=True)]
    else:
        with client_of(wire).messages.stream(model="practice", max_tokens=500, messages=[user("hello")]) as stream:
            pieces = list(stream.text_stream)
    assert len([piece for piece in pieces if piece]) > 5
    assert "".join(filter(None, pieces)) == ask("hello")


# ---- what both APIs refuse ----

REFUSED = {
    "an empty message": lambda wire: {"messages": [user("")]},
    "a message of white space": lambda wire: {"messages": [user(" \n")]},
    "an empty message in the middle": lambda wire: {"messages": [user("hello"), assistant(""), user("hello")]},
    "an unknown role": lambda wire: {"messages": [user("hello"), {"role": "robot", "content": "beep"}]},
    "no messages": lambda wire: {"messages": []},
    "messages left out": lambda wire: {"messages": None},
    "a result without its call": lambda wire: {"messages": [user("hello"), *native_results(wire, a="x")]},
    "a result for another call": lambda wire: {"messages": [user("hello"), native_call(wire, "a"), *native_results(wire, b="x")]},
    "a result sent twice": lambda wire: {"messages": [
        user("hello"), native_call(wire, "a"), *native_results(wire, a="x"), *native_results(wire, a="x")]},
    "a call without its result": lambda wire: {"messages": [user("hello"), native_call(wire, "a")]},
    "a call answered in words": lambda wire: {"messages": [user("hello"), native_call(wire, "a"), user("no")]},
    "a result after other words": lambda wire: {"messages": [
        user("hello"), native_call(wire, "a"), user("no"), *native_results(wire, a="x")]},
    "one result of two": lambda wire: {"messages": [user("hello"), native_call(wire, "a", "b"), *native_results(wire, a="x")]},
    "a message that is a string": lambda wire: {"messages": ["hello"]},
    "a picture": lambda wire: {"messages": [user([{"type": "image_url", "image_url": {"url": "x"}}])]},
}


@both_wires
@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_it_refuses_what_the_real_services_refuse(wire, changes):
    response = post(wire, **changes(wire))
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


@both_wires
def test_it_refuses_a_model_of_another_name(wire):
    assert post(wire, model="gpt-9").status_code == 404
    with pytest.raises(ModelError, match="practice has no model called 'gpt-9'") as caught:
        connect("practice", "gpt-9", wire=wire).reply("", [user("hello")])
    assert caught.value.status == 404


@both_wires
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_it_refuses_what_is_no_json_object(wire, content):
    with httpx2.Client(transport=practice_transport()) as client:
        assert client.post(RAW[wire][0], content=content).status_code == 400


def test_anthropic_needs_max_tokens():
    response = post("anthropic", max_tokens=None)
    assert (response.status_code, response.json()["error"]["message"]) == (400, "max_tokens: Field required")
    assert post("openai", max_tokens=None).status_code == 200


def test_the_first_message_to_anthropic_is_the_persons():
    assert post("anthropic", messages=[assistant("Hi."), user("hello")]).status_code == 400
    assert post("openai", messages=[assistant("Hi."), user("hello")]).status_code == 200


def test_arguments_that_are_no_json_are_refused_when_they_come_back():
    broken = native_call("openai", "a")
    broken["tool_calls"][0]["function"]["arguments"] = '{"path"'
    response = post("openai", messages=[user("hello"), broken, *native_results("openai", a="x")])
    assert response.status_code == 400 and "not valid JSON" in response.json()["error"]["message"]


@both_wires
def test_a_refusal_reaches_the_person_as_one_sentence_and_is_not_tried_again(wire):
    with pytest.raises(ModelError, match="practice refused the request .status 400.: .*content"):
        connect(wire=wire).reply("", [user("")])


# ---- limits ----

@both_wires
@streamed_or_not
def test_a_stop_text_cuts_the_reply(wire, way):
    name = "stop" if wire == "openai" else "stop_sequences"
    text, _, reason = request(wire, [user("hello")], way, tools=False, **{name: ["lesson", "practice"]})
    assert text == "Hello. I am the "
    assert reason == {"openai": "stop", "anthropic": "stop_sequence"}[wire]


def test_anthropic_says_which_stop_text_was_met():
    reply = post("anthropic", messages=[user("hello")], stop_sequences=["lesson", "practice"]).json()
    assert reply["stop_sequence"] == "practice"


@both_wires
def test_the_stop_option_reaches_the_practice_model(wire):
    model = connect(wire=wire, stop=" model")
    assert model.reply("", [user("hello")]) == "Hello. I am the practice"


@both_wires
@streamed_or_not
def test_max_tokens_cuts_the_reply(wire, way):
    if (wire, way) == ("openai", "helper"):   # this helper makes an error of it, by its own design
        with pytest.raises(openai.LengthFinishReasonError):
            request(wire, [user("hello")], way, tools=False, max_tokens=5)
        return
    text, _, reason = request(wire, [user("hello")], way, tools=False, max_tokens=5)
    assert text == ask("hello")[:20]
    assert reason == {"openai": "length", "anthropic": "max_tokens"}[wire]


@both_wires
def test_the_limit_is_met_before_a_stop_text_that_stands_later(wire):
    model = connect(wire=wire, max_tokens=3, stop="lesson")
    assert model.reply("", [user("hello")]) == "Hello. I am "
    assert (model.stop_reason, model.usage.output_tokens) == ("length", 3)


@both_wires
def test_nothing_is_called_after_the_limit_or_a_stop_text(wire):
    name = "stop" if wire == "openai" else "stop_sequences"
    assert request(wire, [user(COUNT)], max_tokens=2)[1:] == ([], {"openai": "length", "anthropic": "max_tokens"}[wire])
    assert request(wire, [user(COUNT)], **{name: ["need"]})[1] == []


# ---- usage ----

def tokens(*texts):
    return sum(ceil(len(text) / 4) for text in texts)


@both_wires
def test_usage_is_one_token_for_four_characters_begun(wire):
    model = connect(wire=wire)
    messages = [user("My name is Ada."), assistant("Hi."), user("What is my name?")]
    reply = model.reply("Be brief.", messages)
    assert model.usage.input_tokens == tokens("Be brief.", *(message["content"] for message in messages))
    assert model.usage.output_tokens == tokens(reply)


@both_wires
def test_tools_calls_and_results_count_too(wire):
    messages = [user(COUNT), native_call(wire, "a"), *native_results(wire, a="a.csv\nb.csv")]
    usage = post(wire, messages=messages, tools=NATIVE_TOOLS[wire]).json()["usage"]
    expected = tokens(COUNT, f"list_files {SCHEMA}", "list_files {'path': '.'}", "a.csv\nb.csv")
    assert usage["input_tokens" if wire == "anthropic" else "prompt_tokens"] == expected


# ---- scripts ----

@both_wires
def test_a_script_gives_its_lines_turn_by_turn(wire):
    assert converse("hello", "and?", "and?", system="", wire=wire, script=["one", "two"]) == ["one", "two", "two"]


# ---- faults ----

@pytest.mark.parametrize("faults", ["slience", "always slience", {1: "slience"}, {"slience": 0.5}])
def test_a_fault_that_there_is_not_is_refused_when_connecting(faults):
    with pytest.raises(ValueError) as caught:
        connect(faults=faults)
    assert "slience" in str(caught.value)
    assert all(name in str(caught.value) for name in known_faults())


@pytest.mark.parametrize("faults", [{"silence": 2}, {"silence": "often"}, {1: 0.5}, ["silence"], {1: None}])
def test_faults_of_another_form_are_refused_when_connecting(faults):
    with pytest.raises(ValueError):
        connect(faults=faults)


@both_wires
@pytest.mark.parametrize("name", ["rate_limit", "overload"])
def test_the_client_gets_through_a_network_fault_by_itself(wire, name):
    assert ask("hello", wire=wire, faults=name) == ask("hello")


@both_wires
@pytest.mark.parametrize(("name", "status", "words"), [
    ("rate_limit", 429, "too many requests"), ("overload", 529, "overloaded"), ("wrong_key", 401, "refused the key")])
def test_a_network_fault_that_stays_is_one_sentence(wire, name, status, words):
    with pytest.raises(ModelError, match=words) as caught:
        ask("hello", wire=wire, faults=f"always {name}")
    assert caught.value.status == status


@both_wires
@pytest.mark.parametrize(("name", "times"), [("always rate_limit", 3), ("always overload", 3), ("always wrong_key", 1), ("wrong_key", 1)])
def test_a_network_fault_is_tried_as_often_as_the_real_one(wire, name, times):
    count = []
    client = client_of(wire, faults=name)
    client._client.event_hooks["request"].append(count.append)
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
        request(wire, [user("hello")], client=client)
    assert len(count) == times


@both_wires
def test_silence(wire):
    model = connect(wire=wire, faults="silence")
    assert (model.reply("", [user("hello")]), model.stop_reason) == ("", "end")


@both_wires
def test_a_length_stop(wire):
    model = connect(wire=wire, faults="length_stop")
    assert (model.reply("", [user("hello")]), model.stop_reason) == (ask("hello")[:40], "length")


@both_wires
@pytest.mark.parametrize("name", ["malformed_call", "truncated_call", "two_calls", "invented_result"])
def test_a_fault_in_a_call_in_text_is_refused_by_the_parser(wire, name):
    with pytest.raises(ToolCallError):
        parse_tool_call(ask(COUNT, TWO_TOOLS_PROMPT, wire=wire, faults=name))


@both_wires
def test_a_truncated_call_in_text_says_that_it_was_cut(wire):
    model = connect(wire=wire, faults="truncated_call")
    model.reply(TWO_TOOLS_PROMPT, [user(COUNT)])
    assert model.stop_reason == "length"


@both_wires
def test_an_unknown_tool_in_text(wire):
    assert parse_tool_call(ask(COUNT, TWO_TOOLS_PROMPT, wire=wire, faults="unknown_tool")).name == "search_disk"


@both_wires
def test_two_calls_in_text_are_the_call_and_the_end(wire):
    reply = ask(COUNT, TWO_TOOLS_PROMPT, wire=wire, faults="two_calls")
    assert re.findall(r'"name": "(\w+)"', reply) == ["list_files", "task_complete"]


@both_wires
def test_an_invented_result_stands_after_the_call(wire):
    reply = ask(COUNT, TWO_TOOLS_PROMPT, wire=wire, faults="invented_result")
    assert reply.index("</tool_call>") < reply.index("<tool_response>") < reply.index("There are three files")


@both_wires
def test_repeating_in_text(wire):
    replies = converse(COUNT, result("a.csv"), result("a.csv"), wire=wire, faults="repeat")
    assert len(set(replies)) == 1 and parse_tool_call(replies[0]).name == "list_files"


@both_wires
@pytest.mark.parametrize("way", ["plain", "chunks"])
def test_a_truncated_native_call_ends_for_its_length(wire, way):
    _, calls, reason = request(wire, [user(COUNT)], way, connect={"faults": "truncated_call"})
    assert reason == {"openai": "length", "anthropic": "max_tokens"}[wire]
    assert [name for name, _, _ in calls] == ["list_files"]
    assert calls[0][1] == ("{}" if (wire, way) == ("anthropic", "plain") else '{"path":')


@both_wires
@pytest.mark.parametrize("way", ["plain", "chunks"])
def test_a_malformed_native_call_is_no_json_or_has_lost_its_arguments(wire, way):
    _, calls, _ = request(wire, [user(COUNT)], way, connect={"faults": "malformed_call"})
    assert calls[0][1] == ("{}" if (wire, way) == ("anthropic", "plain") else '{"path": "."')


@both_wires
@streamed_or_not
def test_an_unknown_native_tool(wire, way):
    assert request(wire, [user(COUNT)], way, connect={"faults": "unknown_tool"})[1][0][0] == "search_disk"


@both_wires
@streamed_or_not
def test_two_native_calls_have_two_ids(wire, way):
    _, calls, _ = request(wire, [user(COUNT)], way, connect={"faults": "two_calls"})
    assert [name for name, _, _ in calls] == ["list_files", "task_complete"]
    assert len({call_id for _, _, call_id in calls}) == 2


@both_wires
@streamed_or_not
def test_repeating_natively_gives_a_new_id(wire, way):
    messages = [user(COUNT), native_call(wire, "call_1"), *native_results(wire, call_1="a.csv")]
    _, calls, _ = request(wire, messages, way, connect={"faults": "repeat"})
    assert [(name, json.loads(arguments), call_id) for name, arguments, call_id in calls] == [("list_files", {"path": "."}, "call_2")]


@both_wires
@streamed_or_not
def test_native_silence_has_neither_text_nor_calls(wire, way):
    text, calls, _ = request(wire, [user(COUNT)], way, connect={"faults": "silence"})
    assert (text, calls) == ("", [])


@both_wires
@pytest.mark.parametrize("way", ["chunks", "helper"])
def test_a_cut_stream_raises_in_both_clients(wire, way):
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError, httpx2.RemoteProtocolError)):
        request(wire, [user("hello")], way, tools=False, connect={"faults": "cut_stream"})


def test_a_cut_stream_has_delivered_its_beginning():
    heard = []
    with pytest.raises(openai.APIConnectionError):
        for chunk in client_of("openai", faults="cut_stream").chat.completions.create(model="practice", messages=[user("hello")], stream=True):
            heard.append(chunk.choices[0].delta.content)
    assert ask("hello").startswith("".join(heard)) and len(heard) > 3


@both_wires
def test_missing_usage_makes_the_count_unknown(wire):
    model = connect(wire=wire, faults={1: "missing_usage"})
    model.reply("", [user("hello")])
    model.reply("", [user("hello"), assistant("Hi."), user("hello")])
    assert (model.usage.calls, model.usage.input_tokens, model.usage.output_tokens) == (2, None, None)


@both_wires
def test_missing_usage_is_missing_in_a_stream_too(wire):
    response = post(wire, transport=practice_transport("missing_usage"), stream=True, stream_options={"include_usage": True})
    assert "usage" not in response.text


@both_wires
@streamed_or_not
@pytest.mark.parametrize("question", [COUNT, "hello"])
def test_a_model_that_thinks_aloud_says_and_calls_the_same(wire, way, question):
    plain = request(wire, [user(question)], way)
    assert request(wire, [user(question)], way, connect={"faults": "thinks"}) == plain


@both_wires
def test_a_fault_can_strike_one_turn_only(wire):
    assert converse("hello", "hello", "hello", system="", wire=wire, faults={2: "silence"}) == [ask("hello"), "", ask("hello")]


def struck(seed, probability=0.5, turns=30):
    """On which turns silence strikes."""
    replies = converse("hello", *["hello"] * (turns - 1), system="", faults={"silence": probability}, seed=seed)
    return [reply == "" for reply in replies]


def test_faults_by_probability_are_the_same_for_the_same_seed():
    assert struck(1) == struck(1)
    assert struck(1) != struck(2)
    assert 5 < sum(struck(1)) < 25


def test_probabilities_of_nought_and_one_are_never_and_always():
    assert not any(struck(1, 0))
    assert all(struck(1, 1))


@both_wires
@pytest.mark.parametrize("name", known_faults())
def test_every_fault_can_be_named_on_both_formats(wire, name):
    """Whatever the fault, a whole reply comes back, or one clear sentence."""
    try:
        assert isinstance(ask(COUNT, TWO_TOOLS_PROMPT, wire=wire, faults=name), str)
    except ModelError as error:
        assert name == "wrong_key" and error.status == 401


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_single_argument_has_the_name_that_its_description_gives_it(wire):
    tools = [{"name": "list_files", "description": "x", "inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}, "required": ["folder"]}}]
    reply = connect(wire=wire).reply(build_system_prompt(tools), [user("Which files are in the folder data?")])
    assert parse_tool_call(reply).arguments == {"folder": "data"}


@pytest.mark.parametrize("words", ["Not this folder. Look in data/harbour.", "No, look in the folder data/harbour"])
def test_a_no_in_plain_words_is_understood(words):
    replies = converse("How many CSV files are in this folder?", words)
    assert parse_tool_call(replies[-1]).arguments == {"path": "data/harbour"}


def test_a_reminder_after_a_call_is_no_result():
    replies = converse("How many CSV files are in this folder?", "Please call a tool. Use task_complete when you are done.")
    assert parse_tool_call(replies[-1]).name == "list_files"

"""The exercises of lesson 20."""
import copy
import json
import os
from pathlib import Path

from agent_steps.classroom.checks import want

RESULTS = {"a": "data/a.csv", "b": "Error: interrupted. It may have run in part.", "c": "Error: the run was stopped before. Nothing was run.",
           "d": "Error: interrupted before the result was saved. It may have run.", "e": "Error: there is no folder 'x'."}
NAMES = {"a": "list_files", "b": "write_file", "c": "edit_file", "d": "send_letter", "e": "list_files", "f": "run_python_code"}


def _openai(*ids):
    calls = [{"id": id, "type": "function", "function": {"name": NAMES[id], "arguments": "{}"}} for id in ids]
    results = [{"role": "tool", "tool_call_id": id, "content": RESULTS[id]} for id in ids if id in RESULTS]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _anthropic(*ids):
    calls = [{"type": "tool_use", "id": id, "name": NAMES[id], "input": {}} for id in ids]
    results = [{"type": "tool_result", "tool_use_id": id, "content": RESULTS[id]} for id in ids if id in RESULTS]
    return [{"role": "assistant", "content": calls}, *([{"role": "user", "content": results}] if results else [])]


TASK, ANSWER = {"role": "user", "content": "Error: interrupted. What was that?"}, {"role": "assistant", "content": "It is done."}
FORMATS = [("OpenAI's", _openai), ("Anthropic's", _anthropic)]


def exercise_1(may_have_run):
    """may_have_run(history): the names of calls of which nobody knows whether they ran."""
    for whose, turn in FORMATS:
        for ids, right, why in [
            ("a", [], "list_files has a result: it ran."),
            ("b", ["write_file"], "Its result begins with 'Error: interrupted'."),
            ("f", ["run_python_code"], "It has no result."),
            ("ce", [], "Both errors say what happened: the one was not run, the other has failed."),
            ("abcdef", ["write_file", "send_letter", "run_python_code"], "Those with 'Error: interrupted' and those without a result."),
        ]:
            came = _names(may_have_run, [copy.deepcopy(TASK), *turn(*ids)])
            want(came is not None and came is not ..., "may_have_run gave back nothing. Return a list of names.")
            want(isinstance(came, (list, tuple)), f"may_have_run gave back {_short(came)}. Return a list of names.")
            want(list(came) == right, f"In {whose} format, for calls of {', '.join(NAMES[id] for id in ids)}, it gave {_short(list(came))}, not {right}. {why}")
    want(list(may_have_run([TASK, ANSWER])) == [], "A history without calls has none that may have run.")


def _names(may_have_run, history):
    try:
        return may_have_run(history)
    except (AttributeError, TypeError) as error:
        want("NoneType" not in str(error), f"Your code raised {type(error).__name__}: {error}. The result of a call that has none is None.")
        raise


def _short(value):
    """What was given back, if it is a whole history not all of it."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:100]}..."


def exercise_2(save_whole):
    """save_whole(path, value): as JSON, the old file staying until the new one is complete."""
    for name in ("exercise.json", "exercise.json.new"):   # of an earlier attempt
        Path(name).unlink(missing_ok=True)
    for number, value in enumerate([[TASK], [TASK, {"role": "user", "content": "größer"}], []]):
        save_whole("exercise.json", value)
        want(Path("exercise.json").is_file(), "There is no file at the path afterwards.")
        want(_content() == value, f"After save number {number + 1} the file does not hold the value as JSON.")
    save_whole("exercise.json", [TASK])
    _fails(save_whole)
    _asked_in_order(save_whole)


def _content():
    try:
        return json.loads(Path("exercise.json").read_text(encoding="utf-8"))
    except ValueError:
        return None


def _fails(save_whole):
    try:
        save_whole("exercise.json", [TASK, {"role": "user", "content": {1, 2}}])
    except TypeError:
        passed_on = True
    else:
        passed_on = False
    want(passed_on or _content() in (None, [TASK]), "The value holds a set, which is no JSON, and something else was saved for it. Let the error pass on.")
    want(_content() == [TASK], "The value could not be written as JSON, and the old file is lost. Write into another file first, and replace the old one last.")
    want(passed_on, "The value could not be written as JSON, and nobody was told. Let the error pass on.")


def _asked_in_order(save_whole):
    """Look at both files in the moment of the replacement."""
    seen, replace = [], os.replace

    def watched(source, target, **more):
        seen.append((str(source), _content(), Path(source).read_text(encoding="utf-8")))
        return replace(source, target, **more)

    os.replace = watched
    try:
        save_whole("exercise.json", [ANSWER])
    finally:
        os.replace = replace
    want(seen, "os.replace was not used. It puts one file in the place of another in one step, which no power failure can halve.")
    want(Path(seen[-1][0]).name == "exercise.json.new", f"For the path exercise.json, the file beside is exercise.json.new, not {seen[-1][0]}.")
    want(seen[-1][1] == [TASK], "When the new file took its place, the old one was not as it had been.")
    try:
        whole = json.loads(seen[-1][2]) == [ANSWER]
    except ValueError:
        whole = False
    want(whole, "When the new file took its place, it was not complete. Close it first, or flush it.")
    want(_content() == [ANSWER], "The file does not hold the new value.")


def exercise_3(cuts):
    """cuts(messages): the places at which the rest does not begin with a result."""
    for whose, turn in FORMATS:
        messages = [TASK, *turn("a", "b"), *turn("c"), ANSWER, TASK, *turn("d", "e")]
        right = [place for place in range(1, len(messages)) if not _is_result(messages[place])]
        came = cuts(copy.deepcopy(messages))
        want(came is not None and came is not ..., "cuts gave back nothing. Return a list of places.")
        want(isinstance(came, (list, tuple)) and all(type(place) is int for place in came), f"cuts gave back {_short(came)}. Return a list of whole numbers.")
        bad = [place for place in came if place not in range(1, len(messages))]
        want(not bad, f"A place is from 1 to {len(messages) - 1} here, and {bad[0] if bad else 0} is none.")
        parted = [place for place in came if place not in right]
        want(not parted, f"In {whose} format, a cut at {parted[0] if parted else 0} parts a result from its call: messages[{parted[0] if parted else 0}] is a result.")
        missing = [place for place in right if place not in came]
        want(not missing, f"In {whose} format, a cut at {missing[0] if missing else 0} is possible too: messages[{missing[0] if missing else 0}] is no result.")
        want(list(came) == right, "Name each place once, in order.")
    want(list(cuts([TASK])) == [], "A list of one message can be cut nowhere.")


def _is_result(message):
    content = message["content"]
    return message["role"] == "tool" or isinstance(content, list) and content[0]["type"] == "tool_result"

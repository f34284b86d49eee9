"""The exercises of lesson 23."""
import copy
import json

from agent_steps.classroom.checks import NotYet, want
from agent_steps.classroom.question_console import HumanInputUnavailable


def _openai(number):
    calls = [{"id": f"call_{number}{letter}", "type": "function", "function": {"name": "list_files", "arguments": "{}"}} for letter in "ab"]
    return [{"role": "assistant", "content": None, "tool_calls": calls},
            *[{"role": "tool", "tool_call_id": call["id"], "content": "tides.csv"} for call in calls]]


def _anthropic(number):
    calls = [{"type": "tool_use", "id": f"call_{number}{letter}", "name": "list_files", "input": {}} for letter in "ab"]
    return [{"role": "assistant", "content": calls},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "tides.csv"} for call in calls]}]


FORMATS = [("OpenAI's", _openai), ("Anthropic's", _anthropic)]
TASK, NAME, WISH, LAST = [{"role": "user", "content": text} for text in (
    "How many CSV files are there?", "My name is Ada.", "Give depths in metres.", "And how many text files?")]
ANSWER = {"role": "assistant", "content": "There is one."}
RULE = {"role": "system", "content": "Be short."}


def exercise_1(pinned):
    """pinned(messages, keep=4): the beginning, of the older turns what the person said, the newest turns."""
    for whose, turn in FORMATS:
        newest = [LAST, *turn(3)]
        for messages, right, why in [
            ([TASK, *turn(1), NAME, ANSWER, WISH, *turn(2), ANSWER, *newest], [TASK, NAME, WISH, *newest], ""),
            ([RULE, TASK, NAME, ANSWER, *newest], [RULE, TASK, NAME, *newest], "The system's message belongs to the beginning."),
            ([TASK, *turn(1), *newest], [TASK, *newest], "Between them the person said nothing."),
            (newest, newest, "There are no older turns."),
        ]:
            given = copy.deepcopy(messages)
            came = pinned(given, len(newest))
            want(came is not None and came is not ..., "pinned gave back nothing. Return a list of messages.")
            want(isinstance(came, list) and all(isinstance(each, dict) for each in came), "Return a list of messages, and no list of turns.")
            want(given == messages, "pinned has changed the list that it was given. Make a new one.")
            _compare(whose, came, right, why)


def _compare(whose, came, right, why):
    lost = [each["content"] for each in right if each["role"] == "user" and each not in came and isinstance(each["content"], str)]
    want(not lost, f"In {whose} format this was lost: {lost[0] if lost else ''} The person said it.")
    extra = [each for each in came if each not in right]
    results = [each for each in extra if each["role"] == "tool" or isinstance(each["content"], list) and each["role"] == "user"]
    want(len(results) == len(extra), f"In {whose} format, a reply of an older turn is still there.")
    want(not extra, f"In {whose} format, results of older turns are still there, and their calls are not. An API refuses that.")
    want([each for each in right if each in came] == right, f"In {whose} format, not all of the newest turns are there.")
    want(came == right, f"In {whose} format, each message once, and in their order. {why}".strip())


def exercise_2(may_delete):
    """may_delete(ask, name): whether the person says yes; an error where nobody clearly does."""
    for lines, right, why in [
        (["yes"], True, "yes is yes."), (["no"], False, "no is no."),
        ([" YES "], True, "Capitals and spaces do not matter."), (["No "], False, "Capitals and spaces do not matter."),
        (["", "yes"], True, "After only Enter, ask again."), (["y", "perhaps", "no"], False, "y is not yes. Ask up to three times."),
    ]:
        came = _decided(may_delete, lines, why)
        want(not isinstance(came, HumanInputUnavailable), f"For what was typed, {lines}, it raised HumanInputUnavailable. {why}")
        want(isinstance(came, bool), f"For what was typed, {lines}, it gave back {came!r}. Return True or False.")
        want(came is right, f"For what was typed, {lines}, it gave back {came}, not {right}. {why}")
    for lines, why in [
        (["", "", ""], "Enter three times is no answer."), ([None], "Nobody is there."), (["", None], "Nobody is there any more."),
        (["n", "oh yes", "delete it", "yes"], "None of the first three lines is a clear answer, and there is no fourth question."),
    ]:
        came = _decided(may_delete, lines, why)
        want(isinstance(came, HumanInputUnavailable), f"For {lines} it gave back {came!r}. {why} Raise HumanInputUnavailable.")


def _decided(may_delete, lines, why):
    left, asked = list(lines), []

    def ask(prompt="", *more):
        asked.append(prompt)
        want(left, f"For what was typed, {lines}, it asks {len(asked)} times. {why}{' Three times is the most.' if len(asked) > 3 else ''}")
        return left.pop(0)

    try:
        came = may_delete(ask, "old.csv")
    except HumanInputUnavailable as error:
        came = error
    except AttributeError as error:
        raise NotYet(f"Your code raised AttributeError: {error}. Where nobody can type, ask gives back None.") from None
    want(all("old.csv" in str(prompt) for prompt in asked) and asked, "The question must name the file: nobody can decide otherwise.")
    return came


# form 1, of a state that knows nothing yet
FORM_1 = {"research_state": 1, "topic": "", "requirements": "", "phase": "planning", "research_questions": [], "search_queries": [], "search_results": [],
          "fetched_pages": [], "extracted_facts": [], "report_outline": [], "report_draft": "", "final_report": "", "messages": [], "feedback_history": []}


def exercise_3(migrate):
    """migrate(saved): what a file of form 0 holds, in form 1."""
    old = {"research_state": 0, "topic": "Tides", "phase": "done", "questions": "What makes the tide rise?\n\n  \n  How good are predictions? \n"}
    came = _migrated(migrate, old)
    want(came.get("research_state") == 1, f"The form of what came is {came.get('research_state')!r}, not 1.")
    lacks, extra = [sorted(one - other) for one, other in ((FORM_1.keys(), came.keys()), (came.keys(), FORM_1.keys()))]
    want(not lacks, f"Form 1 has all thirteen fields, and this lacks {', '.join(lacks)}.")
    want(not extra, f"Form 1 has no {', '.join(extra)}.")
    want(came["topic"] == "Tides", f"The topic was 'Tides', and is now {came['topic']!r}.")
    want(came["phase"] == "complete", f"The phase was done, and is now {came['phase']!s}, not complete.")
    right = ["What makes the tide rise?", "How good are predictions?"]
    want(came["research_questions"] == right, f"The questions are {came['research_questions']}, not {right}.")
    reading = FORM_1 | {"topic": "Moons", "phase": "reading"}
    came = _migrated(migrate, {"research_state": 0, "topic": "Moons", "phase": "reading", "questions": ""})
    want(came.get("phase") == "reading", f"The phase was reading, and is now {came.get('phase')}. Only done has another name.")
    want(came == reading, "A file of form 0 with no question has no question in form 1 either, and all other fields as they begin.")
    whole = json.loads(json.dumps(came)) | {"search_queries": ["moons"], "report_draft": "# Moons"}
    want(_migrated(migrate, whole) == whole, "What is in form 1 must come back as it is.")
    for form in (2, None):
        _refused(migrate, old | {"research_state": form})
    _refused(migrate, {name: value for name, value in old.items() if name != "research_state"})


def _migrated(migrate, saved):
    given = copy.deepcopy(saved)
    came = migrate(given)
    want(came is not None and came is not ..., "migrate gave back nothing. Return a dict.")
    want(isinstance(came, dict), f"migrate gave back {type(came).__name__}. Return a dict.")
    want(given == saved, "migrate has changed the dict that it was given. If something fails, the old one is needed.")
    return came


def _refused(migrate, saved):
    form = f"the form {saved['research_state']!r}" if "research_state" in saved else "no form"
    try:
        migrate(saved)
    except ValueError as error:
        want(type(error).__name__ == "StateError", f"For a file with {form} it raised {type(error).__name__}. Raise StateError.")
        return
    except KeyError:
        raise NotYet(f"For a file with {form} it raised KeyError. Raise StateError.") from None
    raise NotYet(f"A file with {form} was taken. Nobody knows what it means: raise StateError.")

"""Lesson 21: the model asks the person: questions with options, answers in one's own words, or later."""
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from agent_steps.classroom.question_console import ask_person, labels_of
from agent_steps.classroom.question_schema import DESCRIPTION, SCHEMA
from agent_steps.classroom.waiting import wait_for
from agent_steps.dispatch_table import as_text
from agent_steps.providers.schemas import check_names
from agent_steps.providers.tools import EndsTheTurn, NotForTheModel, Tool, as_dict, error_line

# what the model is told where the answers come later
LATER = "The questions are on the person's screen. The answers come with the next message: do not answer for the person."
_for_all = {"callback": None}   # who answers where a tool has no callback of its own


def says(value):
    """Whether something is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_named(value):
    """Whether something is a mapping whose keys are texts."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def read_question(given, which):
    """Return one question with all its parts. Raises ValueError for the first that is wrong."""
    given = as_dict(given)
    for name in ("question", "header"):
        if not says(given.get(name)):
            raise ValueError(f"{which} has no {name}.")
    question, header = given["question"].strip(), given["header"].strip()
    if len(header) > 12:
        raise ValueError(f"{which}: the header {header!r} has {len(header)} characters. 12 is the most.")
    options, many = given.get("options"), given.get("multiSelect", False)
    if not isinstance(options, list):
        raise ValueError(f"{which} has no array of options.")
    if not 2 <= len(options) <= 4:
        raise ValueError(f"{which} has {len(options)} options. Give 2 to 4.")
    for number, option in enumerate(map(as_dict, options), 1):
        if not says(option.get("label")) or not says(option.get("description")):
            raise ValueError(f"{which}: option {number} lacks a label or a description.")
    options = [{name: option[name].strip() for name in ("label", "description")} for option in options]
    if len({option["label"].lower() for option in options}) < len(options):
        raise ValueError(f"{which}: two options have the same label.")
    if not isinstance(many, bool):
        raise ValueError(f"{which}: multiSelect is true or false.")
    return {"question": question, "header": header, "multiSelect": many, "options": options}


def read_questions(written):
    """Return the questions of a list, or of its JSON. Raises ValueError, for the model."""
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"Failed to parse questions JSON: {error}.") from None
    if not isinstance(written, list) or not written:
        raise ValueError(f"questions must be an array of 1 to 4 questions, not {json.dumps(written, default=str)[:40]}.")
    if len(written) > 4:
        raise ValueError(f"These are {len(written)} questions. Ask 4 at most.")
    questions = [read_question(each, f"Question {number}") for number, each in enumerate(written, 1)]
    if len({each["question"] for each in questions}) < len(questions):
        raise ValueError("Two questions have the same text. Each needs its own: the answers go by it.")
    return questions


def check_answer(question, given):
    """Return the selected labels and the other_text of one question. Raises ValueError."""
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or not all(map(says, given)):
        raise ValueError(f"the answer to {question['question']!r} must be a list of texts, none blank")
    given = dict.fromkeys(given)   # each once
    selected = [each for each in given if each in labels_of(question)]
    own = [each for each in given if each not in selected]
    if len(own) > 1 or (len(given) > 1 and not question["multiSelect"]):
        raise ValueError(f"there are too many answers to {question['question']!r}")
    return {"selected": selected, "other_text": own[0] if own else None}


def check_answers(questions, answers):
    """Return the selected labels and the other_text of each question. Raises ValueError.

    answers: for a question's text a list: labels, at most one other text. Left out is left open.
    """
    if not isinstance(answers, Mapping):
        raise ValueError(f"the answers must be a dict, not {type(answers).__name__}")
    unknown = [text for text in answers if text not in [each["question"] for each in questions]]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of the questions")
    return {each["question"]: check_answer(each, answers.get(each["question"], [])) for each in questions}


def set_ask_user_callback(callback):
    """Let a function of the questions answer for all tools without a callback; None: nobody.

    Returns the one before. Raises TypeError for what is neither a function nor None.
    """
    if callback is not None and not callable(callback):
        raise TypeError("The callback is a function of the questions, or None.")
    before, _for_all["callback"] = _for_all["callback"], callback
    return before


def collect(questions, callback, context):
    """Get the answers: from the tool's callback, or the one for all, or the keyboard."""
    questions = copy.deepcopy(questions)   # nobody changes what is checked afterwards
    if callback is None:
        return wait_for((_for_all["callback"] or ask_person)(questions))
    now = context() if callable(context) else context
    if not is_named(now):
        raise TypeError("the context must be a dict whose keys are texts")
    return wait_for(callback(questions, dict(now)))


@dataclass(frozen=True)
class AskUserDeferred:
    """What a callback returns if the answers come later. extra is for the app, not the model."""
    instructions: str = LATER
    extra: dict = field(default_factory=dict)

    def __post_init__(self):
        if not says(self.instructions) or not is_named(self.extra):
            raise ValueError("instructions is a text that says something, extra a dict whose keys are texts.")


def tools_interactive(callback=None, context=None):
    """Return a list with the tool ask_user, which brings questions of the model to the person.

    callback: from the questions and the context to the answers (see check_answers), to an
    awaitable of them, or to AskUserDeferred. context: a dict that tells the callback whom to
    ask, or a function that returns one each time. Raises TypeError for what is neither.
    """
    if callback is not None and not callable(callback):
        raise TypeError("The callback is a function of the questions and the context.")
    context = {} if context is None else context
    if not callable(context) and not is_named(context):
        raise TypeError("The context is a dict whose keys are texts, or a function that returns one.")

    def ask_user(questions):
        try:
            questions = read_questions(questions)
        except ValueError as error:
            return f"Error: {error} Nobody was asked."
        try:
            answers = collect(questions, callback, context)
            if not isinstance(answers, AskUserDeferred):
                return {"questions": questions, "answers": check_answers(questions, answers)}
        except NotForTheModel:
            raise
        except Exception as error:
            return f"Error: Failed to get user input: {error_line(error)}"
        later = {"questions": questions, "status": "deferred", "instructions": answers.instructions}
        raise EndsTheTurn(as_text(later), "deferred", answers)

    return [Tool("ask_user", DESCRIPTION, SCHEMA, ask_user, partial(check_names, SCHEMA))]

"""Ask the person at hand the questions of a model: at the prompt, or where something better stands in this thread, there."""
import contextvars
import re

from agent_steps.classroom.asking import typed_line
from agent_steps.classroom.show_call import visible
from agent_steps.providers.tools import NotForTheModel

# a function from the questions to the answers, where a panel asks for the thread that runs an agent; None elsewhere
QUESTIONER = contextvars.ContextVar("questioner", default=None)


class HumanInputUnavailable(NotForTheModel):
    """Nobody can be asked. It reaches the host: an answer must not be made up."""


def ask_person(questions):
    """Return the answers of the person at hand, a list for the text of each question. Raises HumanInputUnavailable."""
    return (QUESTIONER.get() or ask_in_console)(questions)


def labels_of(question):
    """Return the labels of a question's options."""
    return [option["label"] for option in question["options"]]


def chosen(line, question):
    """Return the answers that a typed line means. Raises ValueError with a sentence for the person.

    Numbers choose options. All else is an answer in one's own words, and so is what stands in quotes.
    """
    labels = labels_of(question)
    if re.fullmatch(r"\".*\S.*\"|'.*\S.*'", line):
        return [line[1:-1].strip()]
    parts = [part.strip() for part in line.split(",")]
    if not all(re.fullmatch(r"-?[0-9]+", part) for part in parts):
        return [next((label for label in labels if label.lower() == line.lower()), line)]
    numbers = list(dict.fromkeys(map(int, parts)))
    if any(not 1 <= number <= len(labels) for number in numbers):
        raise ValueError(f"The options are 1 to {len(labels)}. To answer with a number, put it in quotes.")
    if len(numbers) > 1 and not question["multiSelect"]:
        raise ValueError("Choose one option only.")
    return [labels[number - 1] for number in numbers]


def ask_in_console(questions):
    """Ask at the prompt. Nothing typed, twice, leaves a question unanswered. Raises HumanInputUnavailable."""
    answers = {}
    for question in questions:
        print(f"\n{visible(question['header'])}: {visible(question['question'])}")
        for number, option in enumerate(question["options"], 1):
            print(f"  {number}. {visible(option['label'])}: {visible(option['description'])}")
        answers[question["question"]] = ask_one(question)
    return answers


def ask_one(question):
    """Ask until the answer is clear, and return it as a list."""
    prompt = f"{'Numbers with commas' if question['multiSelect'] else 'A number'}, or your own words:"
    empty = 0
    while empty < 2:
        line = typed_line(prompt)
        if line is None:
            raise HumanInputUnavailable("Nobody is here to answer. Give tools_interactive a callback that does.")
        if not line:
            empty += 1
            print("The question is left open." if empty == 2 else "Nothing typed. Press Enter once more to leave the question open.")
            continue
        try:
            return chosen(line, question)
        except ValueError as error:
            print(error)
    return []

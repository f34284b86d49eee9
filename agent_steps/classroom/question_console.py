"""Ask the person at hand the questions of a model: at the prompt, or where something better stands in this thread, there."""
import contextvars
import re

from agent_steps.classroom.asking import typed_line
from agent_steps.classroom.show_call import visible, visible_lines
from agent_steps.providers.tools import NotForTheModel

MOST_QUESTIONS = 10   # that are asked about one choice

# a function from the questions to the answers, where a panel asks for the thread that runs an agent; None elsewhere
QUESTIONER = contextvars.ContextVar("questioner", default=None)


class HumanInputUnavailable(NotForTheModel):
    """Nobody can be asked, or nobody answers clearly. It reaches the host: an answer must not be made up."""


def ask_person(questions):
    """Return the answers of the person at hand, a list for the text of each question. Raises HumanInputUnavailable."""
    return (QUESTIONER.get() or ask_in_console)(questions)


def is_of_a_model(question):
    """Whether a model asks, and not the program: a question of the program says whether it is closed."""
    return "closed" not in question


def labels_of(question):
    """Return the labels of a question's options."""
    return [option["label"] for option in question["options"]]


def chosen(line, question):
    """Return the answers that a typed line means. Raises ValueError with a sentence for the person.

    Numbers choose options, and so does the label of one. All else is an answer in one's own words, and so is what stands in
    quotes, except where the question is "closed": there it must be one of the options.
    """
    labels = labels_of(question)
    if not labels:
        return [line]
    if not question.get("closed") and re.fullmatch(r"\".*\S.*\"|'.*\S.*'", line):
        return [line[1:-1].strip()]
    parts = [part.strip() for part in line.split(",")]
    if not all(re.fullmatch(r"-?[0-9]+", part) for part in parts):
        label = next((label for label in labels if label.lower() == line.lower()), None)
        if label is None and question.get("closed"):
            raise ValueError(f"Please type a number from 1 to {len(labels)}{words_among(labels)}.")
        return [label or line]
    numbers = list(dict.fromkeys(map(int, parts)))
    if any(not 1 <= number <= len(labels) for number in numbers):
        quotes = "" if question.get("closed") else " To answer with a number, put it in quotes."
        raise ValueError(f"The options are 1 to {len(labels)}.{quotes}")
    if len(numbers) > 1 and not question["multiSelect"]:
        raise ValueError("Choose one option only.")
    return [labels[number - 1] for number in numbers]


def words_among(labels):
    """Return what can be typed beside numbers: ", or one of these words: ..."; nothing where all labels are numbers."""
    words = [label for label in labels if not label.isdigit()]
    return f", or one of these words: {', '.join(words)}" if words else ""


def ask_in_console(questions):
    """Ask at the prompt. Nothing typed, twice, leaves a question unanswered, if it is not closed. Raises HumanInputUnavailable."""
    answers = {}
    for question in questions:
        print(f"\n{asked_in_console(question)}")
        for number, option in enumerate(question["options"], 1):
            print(f"  {number}. {option_line(option, number)}")
        answers[question["question"]] = ask_one(question)
    return answers


def asked_in_console(question):
    """Write the header and the question. A model's further lines must not pass for options, so they are marked."""
    lines = visible_lines(question["question"])
    if is_of_a_model(question):
        return f"{visible(question['header'])}: " + "\n  | ".join(lines)
    return f"{visible(question['header'])}:{' ' if len(lines) == 1 else chr(10)}" + "\n".join(lines)


def option_line(option, number=None):
    """Write an option on one line. A label that only says its number again is left out, and so is an empty description."""
    parts = [] if option["label"] == str(number) else [visible(option["label"])]
    return ": ".join([*parts, *([visible(option["description"])] if option["description"] else [])])


def ask_one(question):
    """Ask until the answer is clear, and return it as a list. Raises HumanInputUnavailable if none comes."""
    empty = 0
    for _ in range(MOST_QUESTIONS):
        line = typed_line(prompt_of(question))
        if line is None:
            raise HumanInputUnavailable("Nobody is here to answer. Run this where somebody can type, or let your program answer.")
        if not line and question.get("closed"):
            print("Nothing is chosen by Enter alone.")
            continue
        if not line and not question["options"]:
            return []
        if not line:
            empty += 1
            print("The question is left open." if empty == 2 else "Nothing typed. Press Enter once more to leave the question open.")
            if empty == 2:
                return []
            continue
        try:
            return chosen(line, question)
        except ValueError as error:
            print(error)
    raise HumanInputUnavailable("No clear answer came.")


def prompt_of(question):
    """What stands before the cursor."""
    if not question["options"]:
        return "Your words:"
    number = "Numbers with commas" if question["multiSelect"] else "A number"
    return f"{number}, or a word:" if question.get("closed") else f"{number}, or your own words:"

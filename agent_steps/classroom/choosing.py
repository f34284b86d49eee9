"""Let the person choose, at the prompt or in a form, until the choice is clear. Nothing is chosen by Enter alone."""
from agent_steps.classroom.question_console import MOST_QUESTIONS, HumanInputUnavailable, ask_person

ALL, NONE = "all", "none"


def choose(header: str, text: str, options: dict[str, str]) -> str:
    """Return the one of the options that the person chooses. options: from labels to what they mean.

    Raises HumanInputUnavailable where nobody answers, or not clearly.
    """
    return _ask_until(header, text, options, many=False, is_clear=lambda answer: len(answer) == 1)[0]


def choose_many(header: str, text: str, lines: list[str], words: dict[str, str]) -> list[int]:
    """Return the places, from 0, of the lines that the person chooses, in their order.

    words: what may be chosen besides, "all", "none" or both, and what it means here. Raises HumanInputUnavailable.
    """
    options = {str(number): line for number, line in enumerate(lines, 1)} | words
    answer = _ask_until(header, text, options, many=True,
                        is_clear=lambda answer: len(answer) == 1 or not words.keys() & {*answer})
    if ALL in answer:
        return list(range(len(lines)))
    return sorted({int(label) - 1 for label in answer if label != NONE})


def own_words(header: str, text: str) -> str:
    """Return what the person writes, on one line; an empty text if nothing. Raises HumanInputUnavailable."""
    answer = ask_person([_question(header, text, {}, many=False, closed=False)])
    return " ".join(answer.get(text, [])).strip()


def _ask_until(header, text, options, many, is_clear) -> list[str]:
    asked = text
    for _ in range(MOST_QUESTIONS):
        answer = ask_person([_question(header, asked, options, many, closed=True)]).get(asked, [])
        if answer and set(answer) <= options.keys() and is_clear(answer):
            return answer
        asked = f"(That was not clear. Please choose again.)\n{text}"
    raise HumanInputUnavailable("No clear answer came.")


def _question(header, text, options, many, closed) -> dict:
    options = [{"label": label, "description": means} for label, means in options.items()]
    return {"header": header, "question": text, "multiSelect": many, "options": options, "closed": closed}

"""A rubric: what is looked at, and which levels there are. Code grades where it can, and a person the rest."""
import random
from dataclasses import dataclass

from agent_steps.classroom.asking import ask

MOST_QUESTIONS = 10


@dataclass(frozen=True)
class Item:
    """One line of a rubric.

    name: what the table calls it. levels: the points that it may get. grade: from a folder to one of
    them; None where only a person can say. bonus: it is counted apart, and nobody has to have it.
    """

    name: str
    levels: tuple
    grade: object = None
    bonus: bool = False


def grade(rubric: list[Item], folder) -> dict:
    """Return the level of each item that code can grade, then the score, in percent of the most, and the bonus.

    Raises ValueError if an item gives a level that it does not have, or two have the same name.
    """
    levels = {}
    for item in rubric:
        if item.name in levels or item.name in ("score", "bonus"):
            raise ValueError(f"Another item, or a sum, is called {item.name!r}. Give each a name of its own.")
        if item.grade is None:
            continue
        levels[item.name] = item.grade(folder)
        if levels[item.name] not in item.levels:
            raise ValueError(f"{item.name} gave the level {levels[item.name]!r}. Its levels are {', '.join(map(str, item.levels))}.")
    graded = [item for item in rubric if item.name in levels]
    most = sum(max(item.levels) for item in graded if not item.bonus)
    points = sum(levels[item.name] for item in graded if not item.bonus)
    return levels | {"score": round(100 * points / most, 1) if most else None,
                     "bonus": sum(levels[item.name] for item in graded if item.bonus)}


def grade_by_hand(table, item: Item, column: str, seed: int = 0):
    """Ask a person for the level of each row. Return the table with a new column, named as the item.

    The person sees the text in `column`, in an order that is drawn, and not the condition: who knows it may grade by it. Equal
    texts are asked about once. With q, or an interrupt, the rest stays missing.
    """
    texts = sorted({text for text in table[column].dropna()})
    random.Random(seed).shuffle(texts)
    given = {}
    for number, text in enumerate(texts, start=1):
        try:
            level = _ask_level(f"{number} of {len(texts)}", text, item)
        except KeyboardInterrupt:
            level = None
        if level is None:
            break
        given[text] = level
    levels = [given.get(text) for text in table[column]]
    return table.assign(**{item.name: levels}).astype({item.name: "Float64"})


def _ask_level(title: str, text: str, item: Item):
    print(f"\n----- {title} -----\n{text.rstrip() or '(nothing)'}")
    for _ in range(MOST_QUESTIONS):
        answer = ask(f"{item.name} [{', '.join(map(str, item.levels))}, q = quit]:")
        if answer.lower() == "q":
            return None
        for level in item.levels:
            if answer == str(level):
                return level
        print("Please type one of these levels.")
    return None

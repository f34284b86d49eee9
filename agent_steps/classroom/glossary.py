"""The words of the course, from one file: the list at the end of a lesson, and the page of all words.

``python -m agent_steps.classroom.making`` writes notebooks/glossary.md.
"""
import tomllib
from html import escape
from pathlib import Path

from agent_steps.classroom.course import LESSONS
from agent_steps.classroom.whats_new import View


def words() -> dict[str, dict[str, str]]:
    """Return the words of each lesson: slug to word to meaning."""
    return tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8"))


def new_words(slug: str) -> View:
    """Show the words that a lesson explains. Raises ValueError for a lesson without any."""
    if slug not in words():
        raise ValueError(f"no words of {slug!r} in glossary.toml; there are: {', '.join(words())}")
    meanings = words()[slug]
    width = max(map(len, meanings))
    text = "\n".join(f"{word:{width}}  {meaning}" for word, meaning in meanings.items())
    # a plain list, since JupyterLab sets the terms of a <dl> into a column that a long word does not fit into
    rows = "".join(f"<li><strong>{escape(word)}</strong>: {escape(meaning).replace('`', '')}</li>" for word, meaning in meanings.items())
    return View(text, f"<ul>{rows}</ul>")


def glossary_page() -> str:
    """Return the page of all words, in the order of the alphabet, each with the lesson that explains it."""
    rows = [(word, meaning, slug) for slug, meanings in words().items() for word, meaning in meanings.items()]
    lines = ["# Words of the course", "", "Each word is explained in the lesson behind it.", ""]
    for word, meaning, slug in sorted(rows, key=lambda row: row[0].lower()):
        number = LESSONS.index(slug) + 1
        lines.append(f"- **{word}**: {meaning} ([lesson {number}]({number:02d}_{slug}.ipynb))")
    return "\n".join(lines) + "\n"

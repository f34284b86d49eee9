"""The words of the course come from one place and are explained before they are used."""
import re

import pytest
from books import NOTEBOOKS, ROOT, cells_of, slug_of, source_of

from agent_steps.classroom.course import LESSONS
from agent_steps.classroom.glossary import glossary_page, new_words, words


def prose_of(path):
    return " ".join(source_of(cell) for cell in cells_of(path, "markdown"))


def test_the_page_is_the_one_that_the_file_makes():
    assert (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8") == glossary_page()


def test_every_lesson_has_its_words_in_the_order_of_the_course():
    assert list(words()) == list(LESSONS)


def test_no_word_is_explained_twice():
    every = [word.lower() for meanings in words().values() for word in meanings]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_lists_its_words_and_links_to_all(path):
    code = "\n".join(source_of(cell) for cell in cells_of(path, "code"))
    assert f'new_words("{slug_of(path)}")' in code and "](glossary.md)" in prose_of(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_uses_the_words_that_it_explains(path):
    prose = prose_of(path).lower() + " ".join(source_of(cell).lower() for cell in cells_of(path, "code"))
    unused = [word for word in words()[slug_of(path)] if not re.search(rf"\b{re.escape(word.lower().split(',')[0])}", prose)]
    assert not unused


def test_words_can_be_shown_as_text_and_as_html():
    view = new_words("task_complete")
    assert repr(view).startswith("nudge") and view._repr_html_().startswith("<ul><li><strong>nudge</strong>: ")


def test_a_lesson_without_words_is_an_error_that_lists_the_others():
    with pytest.raises(ValueError, match="plain_chat"):
        new_words("nothing")

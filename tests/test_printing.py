"""The pages for readers who only read: complete, alone in their files, and linked to each other."""
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from books import NOTEBOOKS, ROOT, cells_of, read_book, source_of

from agent_steps import CourseError
from agent_steps.classroom import printing
from agent_steps.classroom.address import MARK
from agent_steps.classroom.printing import write_pages

NAMES = ["index", "glossary", *(path.stem for path in NOTEBOOKS)]
STYLE = (ROOT / "agent_steps" / "classroom" / "page" / "style.css").read_text(encoding="utf-8")

every_page = pytest.mark.parametrize("name", NAMES)
every_lesson = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


class Parsed(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.html, self.tags, self.text = html, [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def values(self, attribute, *tags):
        return [found[attribute] for tag, found in self.tags if attribute in found and (not tags or tag in tags)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All pages, written once, by the command as a person types it, in a folder that has nothing to do with the course."""
    place = tmp_path_factory.mktemp("somewhere")
    done = subprocess.run([sys.executable, "-m", "agent_steps.classroom.printing", "my pages/ä"], cwd=place, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return place / "my pages" / "ä"


@pytest.fixture(scope="module")
def pages(folder):
    return {path.stem: Parsed(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}


@pytest.fixture
def two_lessons(tmp_path):
    copies = tmp_path / "notebooks"
    copies.mkdir()
    for path in NOTEBOOKS[:2]:
        shutil.copy(path, copies)
    return copies


def text_of(value):
    return "".join(value).strip("\n")


def words_of(html):
    return " ".join(Parsed(html).text.split())


def test_there_is_a_page_for_each_lesson_an_index_and_the_words(pages):
    assert set(pages) == set(NAMES)


def test_the_same_pages_are_written_byte_by_byte_a_second_time(folder, tmp_path):
    again = write_pages(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again} == {path.name: path.read_bytes() for path in folder.iterdir()}


@every_page
def test_a_page_loads_nothing(pages, name):
    page = pages[name]
    loaded = page.values("src") + page.values("srcset") + page.values("poster") + page.values("data") + page.values("xlink:href")
    loaded += [link for tag, found in page.tags if tag != "a" for link in [found.get("href")] if link]
    styles = [*re.findall(r"<style.*?</style>", page.html, re.S), *page.values("style")]
    assert not [address for address in loaded if not address.startswith("data:image/")]
    assert not re.search(r"url\(|@import", "\n".join(styles))
    assert not {tag for tag, _ in page.tags} & {"script", "iframe", "object", "embed", "base"}


@every_page
def test_a_page_says_its_language_and_title_and_fits_a_phone(pages, name):
    page = pages[name]
    assert page.values("lang", "html") == ["en"] and "width=device-width, initial-scale=1" in page.values("content", "meta")
    assert re.search(r"<title>\S.{10,}</title>", page.html)
    assert len(page.values("id")) == len(set(page.values("id")))
    assert all("id" in found for tag, found in page.tags if tag in ("h1", "h2", "h3"))


@every_page
def test_every_link_leads_to_a_page_or_out(pages, name):
    for link in pages[name].values("href", "a"):
        target, _, place = link.partition("#")
        if not link.startswith("https://"):
            assert target == "" or target.removesuffix(".html") in pages and target.endswith(".html"), link
            assert not place or place in pages[target.removesuffix(".html") or name].values("id"), link


@every_lesson
def test_a_lesson_leads_to_the_one_before_and_the_one_after_and_to_the_index(pages, path):
    linked = {found["rel"]: found["href"] for tag, found in pages[path.stem].tags if tag == "a" and "rel" in found}
    number = NOTEBOOKS.index(path)
    beside = {"prev": NOTEBOOKS[number - 1] if number else None, "next": NOTEBOOKS[number + 1] if path != NOTEBOOKS[-1] else None}
    assert linked == {rel: f"{lesson.stem}.html" for rel, lesson in beside.items() if lesson}
    assert {"index.html", "glossary.html"} <= set(pages[path.stem].values("href", "a"))


def test_the_index_gives_title_minutes_and_one_line_of_each_lesson(pages):
    for path in NOTEBOOKS:
        opening = source_of(cells_of(path, "markdown")[0])
        assert opening.partition("\n")[0].removeprefix("# ") in pages["index"].text
        assert re.search(r"About (\d+ minutes)", opening)[1] in pages["index"].text
    assert "You will write Chat: one small class" in pages["index"].text


def test_the_words_lead_to_the_lessons_that_explain_them(pages):
    assert {f"{path.stem}.html" for path in NOTEBOOKS} <= set(pages["glossary"].values("href", "a"))


@every_lesson
def test_the_code_and_what_it_printed_are_in_the_page(pages, path):
    text = pages[path.stem].text
    for cell in cells_of(path, "code"):
        assert source_of(cell) in text
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text")})
            if not set(data) & {"text/html", "image/svg+xml", "image/png"}:
                assert text_of(data["text/plain"]) in text
    assert "In [" not in text and "Out[" not in text


@every_lesson
def test_tables_and_folded_parts_of_the_outputs_are_in_the_page(pages, path):
    shown = words_of(pages[path.stem].html)
    views = [text_of(output["data"]["text/html"]) for cell in cells_of(path, "code") for output in cell["outputs"] if "text/html" in output.get("data", {})]
    assert views and not [view for view in views if words_of(view) not in shown]


@every_lesson
def test_the_diagram_stands_in_the_page_with_its_words(pages, path):
    drawn = re.findall(r'<img alt="([^"]*)"[^>]* src="data:image/svg[+]xml;base64,', pages[path.stem].html)
    assert any(len(words.split()) > 20 and "lit" in words.lower() for words in drawn)


@every_lesson
def test_every_picture_is_described_in_words(pages, path):
    pictures = [found for tag, found in pages[path.stem].tags if tag == "img"]
    assert all(len(found.get("alt", "").split()) >= 3 for found in pictures)
    described = [output["metadata"]["image/png"]["alt"] for cell in cells_of(path, "code") for output in cell["outputs"] if "image/png" in output.get("data", {})]
    assert [found["alt"] for found in pictures if found["src"].startswith("data:image/png")] == described


@every_lesson
def test_every_solution_is_in_the_page_and_folded(pages, path):
    solutions = re.findall(r"<details><summary>A solution</summary>\n\n```python\n(.*?)\n```", "\n".join(source_of(cell) for cell in cells_of(path, "markdown")), re.S)
    assert solutions and all(code in pages[path.stem].text for code in solutions)
    assert pages[path.stem].html.count("<details><summary>A solution</summary>") == len(solutions)


@every_lesson
def test_the_setup_cell_is_folded(pages, path):
    before = pages[path.stem].html.partition("google.colab")[0]
    assert before.count('<details class="setup">') == 1 and "</details>" not in before.partition('<details class="setup">')[2]


def test_a_widget_leaves_its_text_and_no_script(two_lessons, tmp_path):
    path = two_lessons / NOTEBOOKS[1].name
    book = read_book(path)
    cell = next(cell for cell in book["cells"] if cell["cell_type"] == "code" and not source_of(cell).startswith(MARK))
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "m", "version_major": 2, "version_minor": 0}, "text/plain": "a panel <of buttons>"}
    cell["outputs"] = [{"output_type": "display_data", "data": widget, "metadata": {}}]
    path.write_text(json.dumps(book), encoding="utf-8")
    write_pages(tmp_path / "pages", two_lessons)
    page = Parsed((tmp_path / "pages" / f"{path.stem}.html").read_text(encoding="utf-8"))
    assert "a panel <of buttons>" in page.text and "script" not in {tag for tag, _ in page.tags}


@pytest.mark.parametrize("content", ["", "[]", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}', "\xff"])
def test_a_notebook_that_is_not_valid_is_named(two_lessons, tmp_path, content):
    (two_lessons / "02_describe_a_tool.ipynb").write_bytes(content.encode("latin-1"))
    with pytest.raises(CourseError, match=r"02_describe_a_tool\.ipynb cannot be read as a notebook \(.+\)"):
        write_pages(tmp_path / "pages", two_lessons)
    assert not (tmp_path / "pages").exists()


def test_a_notebook_without_the_beginning_of_a_lesson_is_named(two_lessons, tmp_path):
    path = two_lessons / "02_describe_a_tool.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("About ", "Perhaps "), encoding="utf-8")
    with pytest.raises(CourseError, match=r"02_describe_a_tool\.ipynb does not begin as a lesson does"):
        write_pages(tmp_path / "pages", two_lessons)


def test_without_lessons_the_folder_is_named(tmp_path):
    with pytest.raises(CourseError, match="no lessons in .*whole repository"):
        write_pages(tmp_path / "pages", tmp_path)


def test_without_nbconvert_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbconvert", None)
    with pytest.raises(CourseError, match="pip install -r requirements.txt"):
        write_pages(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(two_lessons, tmp_path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(CourseError, match="cannot be written to .*taken"):
        write_pages(tmp_path / "taken", two_lessons)


def test_links_between_notebooks_become_links_between_pages_and_others_stay():
    text = "[a](glossary.md) [b](05_the_loop.ipynb#Your-turn) [c](https://example.org/x.ipynb) [d](#e)"
    assert printing.led_to_pages(text) == "[a](glossary.html) [b](05_the_loop.html#Your-turn) [c](https://example.org/x.ipynb) [d](#e)"


def luminance(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_letters_stands_out_from_the_paper_and_from_the_tint_of_code(scheme):
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in STYLE.split("@media")[:2])
    colours = {"light": light, "dark": light | dark}[scheme]
    for name in set(colours) - {"paper", "code", "line"}:
        for ground in ("paper", "code"):
            low, high = sorted(luminance(colours[which]) for which in (name, ground))
            assert (high + 0.05) / (low + 0.05) >= 4.5, f"{name} on {ground}"


def test_paper_shows_solutions_and_whole_lines_and_leaves_out_what_can_only_be_clicked():
    paper = STYLE.partition("@media print")[2]
    assert re.search(r"\.prose details::details-content \{ content-visibility: visible", paper)
    assert re.search(r"pre\b.*white-space: pre-wrap !important", paper) and re.search(r"nav, \.setup\b.*display: none", paper)

"""Write the course as pages for readers who only read: ``python -m agent_steps.classroom.printing [folder]``.

One HTML file for each lesson, as it is stored, with its pictures inside; an index page; and the page of words. A page loads
nothing, so it can be read from a disk, sent to somebody, or printed. Without a folder: build/pages, in the repository.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

from agent_steps import CourseError
from agent_steps.classroom.address import MARK, NOTEBOOKS
from agent_steps.classroom.glossary import glossary_page

HERE = Path(__file__).parent      # the template and the style of a page are in the folder page
PAGES = Path(__file__).parents[2] / "build" / "pages"
COURSE = "An LLM agent, built by hand"
KINDS = ["text/html", "image/svg+xml", "image/png", "text/plain"]     # of an output, the first of these is shown

INTRODUCTION = f"""\
# {COURSE}

These pages are for reading: each is one lesson, with its code and what the code printed. To run the lessons, open the
notebooks of the same names. [Words of the course](glossary.html) explains the terms.

## The lessons
"""


class Page(NamedTuple):
    """What becomes one HTML file: its name without the ending, its title, and a notebook with its content."""
    name: str
    title: str
    book: dict
    line: str = ""         # of a lesson: what it is about, in one sentence
    minutes: str = ""


def write_pages(folder: Path = PAGES, notebooks: Path = NOTEBOOKS) -> list[Path]:
    """Write every lesson of a folder of notebooks as a page, and the index and the glossary; return the paths.

    Raises CourseError if a notebook cannot be read, nbconvert is missing or the pages cannot be written.
    """
    exporter = page_exporter()
    lessons = [read_lesson(path) for path in sorted(notebooks.glob("[0-9]*.ipynb"))]
    if not lessons:
        raise CourseError(f"There are no lessons in {notebooks}. Run this in a copy of the whole repository.")
    pages = [text_page("index", COURSE, index_text(lessons)), text_page("glossary", "Words of the course", glossary_page())]
    written = {page.name: to_html(exporter, page) for page in pages}
    for page, before, after in zip(lessons, [None, *lessons], [*lessons[1:], None]):
        written[page.name] = to_html(exporter, page, before, after)
    return save(folder, written)


def page_exporter():
    """Return nbconvert's exporter with the template of the course."""
    try:
        from nbconvert import HTMLExporter
        from traitlets.config import Config
    except ImportError:
        raise CourseError("The pages are made by nbconvert, which is not installed. Run: pip install -r requirements.txt") from None
    config = Config({"NbConvertBase": {"display_data_priority": KINDS}})
    return HTMLExporter(config=config, template_name="page", extra_template_basedirs=[str(HERE)])


def read_lesson(path: Path) -> Page:
    """Read a notebook, and from its first text its title, the sentence under it, and its minutes."""
    import nbformat

    try:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
    except Exception as error:      # nbformat raises errors of many kinds
        reason = str(error).partition("\n")[0]
        raise CourseError(f"{path.name} cannot be read as a notebook ({reason}). Mend it in JupyterLab, or take it from git again.") from None
    opening = next((cell.source for cell in book.cells if cell.source.startswith("# ") and cell.cell_type == "markdown"), "")
    title, *paragraphs = opening.split("\n\n")
    line = next((text for text in paragraphs if text[:1].isalpha()), "")
    minutes = re.search(r"About (\d+ minutes)", opening)
    if not line or not minutes:
        raise CourseError(f'{path.name} does not begin as a lesson does: "# " and a title, one sentence, "About 30 minutes".')
    return Page(path.stem, title.removeprefix("# "), book, line, minutes[1])


def text_page(name: str, title: str, text: str) -> Page:
    """Make a page from a text in Markdown."""
    from nbformat import v4

    return Page(name, title, v4.new_notebook(cells=[v4.new_markdown_cell(text)]))


def index_text(lessons: list[Page]) -> str:
    """List the lessons: title, minutes, and the sentence that says what each is about."""
    return "\n\n".join([INTRODUCTION, *(f"**[{page.title}]({page.name}.html)** {page.minutes}\\\n{page.line}" for page in lessons)])


def to_html(exporter, page: Page, before: Page | None = None, after: Page | None = None) -> str:
    """Write one page as HTML, with links to the pages before and after it."""
    for cell in page.book.cells:
        if cell.cell_type == "markdown":
            cell.source = led_to_pages(cell.source)
    resources = {"page": page.name, "title": page.title, "course": COURSE, "setup": MARK,
                 "before": before and before[:2], "after": after and after[:2]}
    return exporter.from_notebook_node(page.book, resources)[0]


def led_to_pages(text: str) -> str:
    """Let the links between the notebooks lead from page to page."""
    return re.sub(r"\]\((?!https?:)([^)#]+)\.(?:md|ipynb)(#[^)]*)?\)", r"](\1.html\2)", text)


def save(folder: Path, pages: dict[str, str]) -> list[Path]:
    """Write the files of all pages."""
    paths = {folder / f"{name}.html": html for name, html in pages.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, html in paths.items():
            path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CourseError(f"The pages cannot be written to {folder} ({error.strerror or error}). Name another folder.") from None
    return list(paths)


if __name__ == "__main__":
    try:
        paths = write_pages(*map(Path, sys.argv[1:2]))
    except CourseError as error:
        sys.exit(f"Error: {error}")
    print(f"{len(paths)} pages. Open {paths[0]}")

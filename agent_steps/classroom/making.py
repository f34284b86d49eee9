"""Make anew whatever is generated: ``python -m agent_steps.classroom.making``.

From the repository's address the setup cells, the badges and the README's links to Colab; the minutes, the page of words and
the README's picture. A test compares each.
"""
import json
import sys
from pathlib import Path

from agent_steps import CourseError
from agent_steps.classroom.address import MARK, NOTEBOOKS, setup_source
from agent_steps.classroom.badge import with_badge, write_link
from agent_steps.classroom.diagram import loop_svg
from agent_steps.classroom.glossary import glossary_page
from agent_steps.classroom.minutes import write_minutes

ROOT = Path(__file__).parents[2]


def make_all(root: Path = ROOT) -> None:
    """Write every generated part of the repository. Raises CourseError if the repository's address is none."""
    rewrite_notebooks(root / "notebooks")
    for notebook in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        write_link(notebook, root / "README.md")
        write_minutes(notebook, root / "README.md")
    (root / "notebooks" / "glossary.md").write_text(glossary_page(), encoding="utf-8", newline="\n")
    (root / "docs" / "loop.svg").write_text(loop_svg("agent"), encoding="utf-8", newline="\n")


def rewrite_notebooks(folder: Path = NOTEBOOKS) -> list[str]:
    """Bring the badge and the setup cell of every notebook up to date; return the names of the notebooks that were changed."""
    changed = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        before = path.read_text(encoding="utf-8")
        book = json.loads(before)
        rewrite_cells(book["cells"], path)
        after = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            changed.append(path.name)
    return changed


def rewrite_cells(cells: list[dict], path: Path) -> None:
    """Make the badge in the first cell and the setup cell of one notebook anew."""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if number == 0 and cell["cell_type"] == "markdown":
            source = with_badge(source, path.name)
        elif source.startswith(MARK):
            source = setup_source(path.stem[3:])
        cell["source"] = source.splitlines(keepends=True)


if __name__ == "__main__":
    try:
        make_all()
    except CourseError as error:
        sys.exit(str(error))

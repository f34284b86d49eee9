"""Make anew whatever is generated: ``python -m agent_steps.classroom.making``.

The setup cells (from the repository's address), the minutes, the page of words and the README's picture. A test compares each.
"""
from pathlib import Path

from agent_steps.classroom.address import NOTEBOOKS, rewrite_setup_cells
from agent_steps.classroom.diagram import loop_svg
from agent_steps.classroom.glossary import glossary_page
from agent_steps.classroom.minutes import write_minutes

ROOT = Path(__file__).parents[2]


def make_all() -> None:
    """Write every generated part of the repository."""
    rewrite_setup_cells()
    for notebook in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        write_minutes(notebook, ROOT / "README.md")
    (NOTEBOOKS / "glossary.md").write_text(glossary_page(), encoding="utf-8", newline="\n")
    (ROOT / "docs" / "loop.svg").write_text(loop_svg("agent"), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    make_all()

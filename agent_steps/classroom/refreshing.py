"""Store the outputs of notebooks anew: ``python -m agent_steps.classroom.refreshing notebooks/09_run_agent.ipynb``.

Runs each notebook from the top with the practice model, as a rehearsal, and stores what it prints. Without arguments, all.
"""
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from agent_steps.classroom.address import NOTEBOOKS
from agent_steps.classroom.asking import REHEARSAL_VARIABLE


def refresh(path: Path) -> None:
    """Run one notebook and write it back, with nothing in it that another machine would not have."""
    book = nbformat.read(path, as_version=4)
    book.metadata = nbformat.from_dict({"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}})
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(book, timeout=60, store_widget_state=False, coalesce_streams=True, kernel_name="python3", resources=resources).execute()
    book.metadata = nbformat.from_dict({**book.metadata, "language_info": {"name": "python"}})
    for cell in book.cells:
        cell.metadata = nbformat.from_dict({name: value for name, value in cell.metadata.items() if name == "tags"})
    nbformat.validate(book)
    path.write_text(nbformat.writes(book).rstrip("\n") + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    os.environ[REHEARSAL_VARIABLE] = "1"
    for name in sys.argv[1:] or sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        print(name)
        refresh(Path(name))

"""The repository's own address, in this one place, and the setup cell of every lesson, which is made from it.

After a fork, change REPOSITORY and run ``python -m agent_steps.classroom.making``: it writes the setup cells anew.
"""
import json
from pathlib import Path

REPOSITORY = "https://github.com/agent-by-hand/agent-steps"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
MARK = "import sys\n\nif \"google.colab\" in sys.modules:"   # how a setup cell begins


def setup_source(slug: str) -> str:
    """Return the code of a lesson's setup cell. Outside Colab it does nothing but make the lesson's folder."""
    return f"""{MARK}   # Colab starts empty: fetch the course
    import subprocess
    subprocess.run(["git", "clone", "-q", "--depth=1", "{REPOSITORY}", "/content/course"])
    sys.path.insert(0, "/content/course")
    from agent_steps.classroom.colab import install_missing
    install_missing()

from agent_steps.classroom import start_lesson

start_lesson("{slug}")"""


def rewrite_setup_cells(folder: Path = NOTEBOOKS) -> list[str]:
    """Bring the setup cell of every notebook up to date; return the names of the notebooks that were changed."""
    changed = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        book = json.loads(path.read_text(encoding="utf-8"))
        wanted = setup_source(path.stem[3:]).splitlines(keepends=True)
        for cell in book["cells"]:
            if "".join(cell["source"]).startswith(MARK) and cell["source"] != wanted:
                cell["source"] = wanted
                changed.append(path.name)
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return changed

"""How long a lesson takes: measured from its words, cells and exercises, by one rule for all lessons."""
import json
import math
import re
from pathlib import Path

from agent_steps.classroom.address import MARK

WORDS_A_MINUTE = 150      # prose that is read to be understood
MINUTES_A_CELL = 0.25     # run it, look at what it shows
LINES_A_MINUTE = 20       # code that is read
MINUTES_AN_EXERCISE = 4


def lesson_minutes(path: Path) -> int:
    """Return the minutes that a notebook takes, exercises included, rounded up to five."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    code = [source for source in code if not source.startswith(MARK)]   # nobody has to read the setup cell
    folded = re.sub(r"<details>.*?</details>", "", prose, flags=re.S)
    minutes = (
        len(folded.split()) / WORDS_A_MINUTE
        + len(code) * MINUTES_A_CELL
        + sum(len(source.splitlines()) for source in code) / LINES_A_MINUTE
        + len(re.findall(r"\*\*Exercise \d\.\*\*", prose)) * MINUTES_AN_EXERCISE
    )
    return 5 * math.ceil(minutes / 5)


def write_minutes(notebook: Path, readme: Path) -> None:
    """Put the minutes of a lesson into its first cell and into its row of the README."""
    minutes = lesson_minutes(notebook)
    text = re.sub(r"About \d+ minutes", f"About {minutes} minutes", notebook.read_text(encoding="utf-8"), count=1)
    notebook.write_text(text, encoding="utf-8", newline="\n")
    row = rf"^(\| \d+ \| \[[^\]]*\]\(notebooks/{re.escape(notebook.name)}\).*\|) [\d ]*\|$"
    table = re.sub(row, rf"\1 {minutes} |", readme.read_text(encoding="utf-8"), flags=re.M)
    readme.write_text(table, encoding="utf-8", newline="\n")

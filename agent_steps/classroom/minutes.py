"""How long a lesson takes: measured from its words, cells and exercises, by one rule for all lessons."""
import json
import math
import re
from pathlib import Path

WORDS_A_MINUTE = 150      # prose that is read to be understood
MINUTES_A_CELL = 0.25     # run it, look at what it shows
LINES_A_MINUTE = 20       # code that is read
MINUTES_AN_EXERCISE = 4


def lesson_minutes(path: Path) -> int:
    """Return the minutes that a notebook takes, exercises included, rounded up to five."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    folded = re.sub(r"<details>.*?</details>", "", prose, flags=re.S)
    minutes = (
        len(folded.split()) / WORDS_A_MINUTE
        + len(code) * MINUTES_A_CELL
        + sum(len(source.splitlines()) for source in code) / LINES_A_MINUTE
        + len(re.findall(r"\*\*Exercise \d\.\*\*", prose)) * MINUTES_AN_EXERCISE
    )
    return 5 * math.ceil(minutes / 5)

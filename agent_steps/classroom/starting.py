"""The setup of a lesson: a fresh folder with a copy of the data, made the current folder."""
import os
import shutil
import sys
import tempfile
from pathlib import Path

from agent_steps import CourseError

DATA = Path(__file__).parents[2] / "data"
FILES = ("README.md", "penguins.csv", "harbour/tides.csv", "harbour/notes.txt")
PAGES = tuple(f"library/{name}.html" for name in (
    "bay-of-fundy", "harbour-cafe-tides", "harmonic-constituents", "high-waters-of-a-year", "history-of-tide-tables",
    "how-good-are-predictions", "no-tide-points", "north-sea-flood-1953", "sea-level-and-datums", "spring-and-neap", "storm-surges",
    "thames-barrier", "tide-gauges", "tide-predicting-machines", "tide-tables-for-d-day", "tide-theories", "why-there-are-tides"))
# the lessons that read the library; the others list the data folder, and their lists stay short without it
WITH_LIBRARY = {"gather_sources", "write_the_report"}


def start_lesson(slug: str) -> None:
    """Make a fresh folder for a lesson, with a copy of `data/`, and work in it from now on. In Colab, install what is missing first.

    The library of pages in `data/` is copied for the lessons that read it.
    Raises CourseError if a data file is missing, the folder cannot be made, or a package cannot be installed.
    """
    if "google.colab" in sys.modules:
        from agent_steps.classroom.colab import install_missing   # only there: it looks through all packages

        install_missing()
    with_library = slug in WITH_LIBRARY
    missing = [name for name in FILES + (PAGES if with_library else ()) if not (DATA / name).is_file()]
    if missing:
        raise CourseError(f"The course's data folder lacks {', '.join(missing)}. Fetch it again, for example with: git checkout -- data")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{slug}_"))
        shutil.copytree(DATA, folder / "data", ignore=None if with_library else shutil.ignore_patterns("library"))
    except OSError as error:
        raise CourseError(f"No folder for the lesson could be made ({error.strerror or error}). Free some space, "
                          "or name another place in the environment variable TMPDIR.") from None
    os.chdir(folder)
    print("Ready: a fresh working folder with a copy of data/.")

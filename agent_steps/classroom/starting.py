"""The setup of a lesson: a fresh folder with a copy of the data, made the current folder."""
import os
import shutil
import sys
import tempfile
from pathlib import Path

from agent_steps import CourseError

DATA = Path(__file__).parents[2] / "data"
FILES = ("README.md", "penguins.csv", "harbour/tides.csv", "harbour/notes.txt")


def start_lesson(slug: str) -> None:
    """Make a fresh folder for a lesson, with a copy of `data/`, and work in it from now on. In Colab, install what is missing first.

    Raises CourseError if a data file is missing, the folder cannot be made, or a package cannot be installed.
    """
    if "google.colab" in sys.modules:
        from agent_steps.classroom.colab import install_missing   # only there: it looks through all packages

        install_missing()
    missing = [name for name in FILES if not (DATA / name).is_file()]
    if missing:
        raise CourseError(f"The course's data folder lacks {', '.join(missing)}. Fetch it again, for example with: git checkout -- data")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{slug}_"))
        shutil.copytree(DATA, folder / "data")
    except OSError as error:
        raise CourseError(f"No folder for the lesson could be made ({error.strerror or error}). Free some space, "
                          "or name another place in the environment variable TMPDIR.") from None
    os.chdir(folder)
    print("Ready: a fresh working folder with a copy of data/.")

"""The repository's own address, in this one place, and what is made from it: the setup cell of every lesson, and its address in Colab.

After a fork, change REPOSITORY and run ``python -m agent_steps.classroom.making``: it writes everything anew.
"""
import re
from pathlib import Path

from agent_steps import CourseError

REPOSITORY = "https://github.com/agent-by-hand/agent-steps"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
COLAB_FOLDER = "/content/course"   # where the course is put in Colab
MARK = "import subprocess\nimport sys\n\nif \"google.colab\" in sys.modules"   # how a setup cell begins


def setup_source(slug: str) -> str:
    """Return the code of a lesson's setup cell. Outside Colab it does nothing but make the lesson's folder.

    In Colab it fetches the course once in a session. A course that is there already is brought up to date, or used as it
    is where that fails.
    """
    return f"""{MARK} and "{COLAB_FOLDER}" not in sys.path:   # in Colab only: fetch the course
    status, said = subprocess.getstatusoutput(
        "git -C {COLAB_FOLDER} pull -q --ff-only origin HEAD 2>/dev/null || test -d {COLAB_FOLDER}/agent_steps"
        " || git clone -q --depth=1 {REPOSITORY} {COLAB_FOLDER}")
    if status:
        sys.exit(f"The course could not be fetched. Is there a network? Then run this cell again. {{said}}")
    sys.path.insert(0, "{COLAB_FOLDER}")

from agent_steps.classroom import start_lesson

start_lesson("{slug}")"""


def colab_address(notebook: str) -> str | None:
    """Return the address that opens a notebook in Colab, or None: Colab opens notebooks of no other host than GitHub.

    Raises CourseError if REPOSITORY is no address that everybody can fetch from.
    """
    on_github = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(\.git)?/?", REPOSITORY)
    if on_github:
        return f"https://colab.research.google.com/github/{on_github[1]}/blob/main/notebooks/{notebook}"
    if not re.fullmatch(r"https://(?!github\.com/)[\w.-]+(:\d+)?/[\w.~/-]+", REPOSITORY):
        raise CourseError(f"REPOSITORY in agent_steps/classroom/address.py is {REPOSITORY!r}. "
                          "Write the address that a browser shows, for example https://github.com/OWNER/NAME.")
    return None

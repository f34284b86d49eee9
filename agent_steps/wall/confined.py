"""Run Python code in a child that is confined as far as this machine can: limits, a trip-wire, and the strongest wall there is."""
import contextlib
import functools
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import replace

from agent_steps.wall import bubblewrap
from agent_steps.wall.child import ChildResult, child_environment, existing_folder, matplotlib_folder, run_child
from agent_steps.wall.fonts import copy_fonts
from agent_steps.wall.limits import user_namespace
from agent_steps.wall.place import PACKAGE, Place, is_inside

WALLS = ("bubblewrap", "landlock")   # in the order in which they are tried
ENDING_SIGNALS = signal.valid_signals()
THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}   # each takes memory, and there is a limit on it


def run_walled(code: str, folder: str, timeout: float = 30.0, *, script: str | None = None, walls=WALLS, tripwire: bool = True) -> ChildResult:
    """Run a program of Python and return what it printed and how it ended.

    code: the program. script: run this file of the folder instead; code is not looked at then.
    folder: the working folder. Behind a wall the program can write only there, to a scratch folder of this run and to its own /dev/shm.
    timeout: seconds, after which it is killed with all that it started.
    walls: which walls may be used: the first of them that holds on this machine is. () for none.
    tripwire: whether Python itself refuses what leads outside, with a message.

    Raises FileNotFoundError if the folder is gone, other OSErrors if no child can be started, ValueError if it is the whole disk.
    """
    folder = os.path.realpath(existing_folder(folder))
    wall = strongest_wall(tuple(walls))
    return run_behind(wall, code, folder, timeout, script, tripwire)


def run_behind(wall: str | None, code: str, folder: str, timeout: float, script: str | None = None, tripwire: bool = True) -> ChildResult:
    """Run a program behind this wall, whether or not it holds; None for no wall. The rest as for run_walled; folder: a real path."""
    check_working_folder(folder)
    with place_for(folder) as place:
        start = python_command("inside", "start", script, place.packages(), place.writable(), timeout, tripwire, wall, user_namespace())
        begin = folder if wall is None else place.top   # not where code could have put something; a wall goes to the folder itself
        child = run_child([*wall_command(wall, place), *start], folder=begin, timeout=timeout,
                          stdin_text=code if script is None else None, environment=confined_environment(place))
    if wall and child.exit_code is not None and child.exit_code - 128 in ENDING_SIGNALS:   # how a wall says that a signal ended the program
        return replace(child, exit_code=128 - child.exit_code)
    return child


def check_working_folder(folder: str) -> None:
    """Raises ValueError for a folder that cannot be confined to, with a sentence that says what to do."""
    if os.path.dirname(folder) == folder:
        raise ValueError("The whole disk cannot be a working folder. Choose one of its folders.")
    if any(is_inside(folder, kernels) for kernels in ("/proc", "/sys", "/dev")) and not is_inside(folder, "/dev/shm"):
        raise ValueError(f"{folder} belongs to the system's kernel and cannot be a working folder. Choose another one.")
    for place in (tempfile.gettempdir(), matplotlib_folder()):
        if is_inside(place, folder):   # what the host keeps there would lie open to the code
            raise ValueError(f"Temporary files are kept in the working folder ({place}). Set TMPDIR (and MPLCONFIGDIR) to another one.")


def python_command(module: str, function: str, *arguments, options=()) -> list[str]:
    """Return the command that calls a function of this package in a new Python, in isolated mode, with these arguments."""
    words = ", ".join(map(repr, arguments))
    # the package without the folder that it stands in: that one may hold much else, and is not opened for the child
    package = f'import sys; package = type(sys)("agent_steps"); package.__path__ = [{str(PACKAGE)!r}]; sys.modules["agent_steps"] = package'
    call = f"{package}; from agent_steps.wall.{module} import {function}; {function}({words})"
    return [sys.executable, "-I", "-X", "utf8", "-u", "-B", *options, "-c", call]


def wall_command(wall: str | None, place: Place) -> list[str]:
    """Return what to write before a command so that it runs behind a wall."""
    if wall is None:
        return []
    if wall == "bubblewrap":
        return bubblewrap.command(place)
    arguments = place.root, place.writable(), place.readable(), place.protected(), place.covers()
    return python_command("launch", "launch", *arguments, options=["-S"])


@functools.cache
def strongest_wall(walls: tuple[str, ...] = WALLS) -> str | None:
    """Return the first of these walls that holds on this machine, or None. Each is tried out once (see canary)."""
    from agent_steps.wall.canary import try_wall

    for wall in walls:
        with contextlib.suppress(OSError):   # what cannot even be tried does not hold
            if is_there(wall) and try_wall(wall).holds:
                return wall
    return None


def is_there(wall: str) -> bool:
    """Return whether it makes sense to try a wall here."""
    if wall == "bubblewrap":
        return bubblewrap.find() is not None
    return sys.platform == "linux"


@contextlib.contextmanager
def place_for(folder: str):
    """Make what one run needs beside its working folder, and remove it afterwards."""
    place = Place(folder, os.path.realpath(tempfile.mkdtemp(prefix="run-")))   # a short name: the path of a socket has 104 letters at most
    try:
        place.prepare()
        copy_fonts(os.path.join(place.scratch, "matplotlib"))
        yield place
    finally:
        with contextlib.suppress(RecursionError):   # thousands of folders, one in the other: they stay
            let_enter(place.top)
            shutil.rmtree(place.top, ignore_errors=True)


def let_enter(folder: str) -> None:
    """Let a folder and every folder below it be entered, so that it can be emptied, whatever the program did. No link is followed."""
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError):   # for example a path that is too long
            path = waiting.pop()
            if os.path.islink(path):
                continue
            os.chmod(path, 0o700)
            with os.scandir(path) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def confined_environment(place: Place) -> dict[str, str]:
    """Return the variables of a confined child: no key, no home folder, everything temporary in the scratch folder."""
    places = {name: place.scratch for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP")}
    libraries = {"LD_LIBRARY_PATH": os.pathsep.join(place.libraries())} if place.libraries() else {}
    inherited = {name: value for name, value in child_environment().items() if name != "LD_LIBRARY_PATH"}
    return inherited | places | libraries | THREADS | {"MPLCONFIGDIR": os.path.join(place.scratch, "matplotlib")}

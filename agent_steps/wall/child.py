"""Run a program in a child process: with a time limit, a limit on its output, and nothing left running afterwards."""
import os
import signal
import subprocess
import tempfile
import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass, field

OUTPUT_LIMIT = 18_000   # bytes of output that are kept: half from the beginning, half from the end
LAST_WORDS = 1.0        # seconds to wait for the rest of the output once every process is stopped
WINDOWS = os.name == "nt"
STOP_SIGNAL = ContextVar("stop_signal", default=None)   # an Event that ends what is run in this context, or None

# The only variables that a child inherits. A key can stand in any variable, so this list says what may pass, and
# everything else stays behind.
INHERITED = {
    "PATH",                              # where other programs are
    "HOME", "USERPROFILE",               # the person's folder: packages installed with pip --user are below it
    "APPDATA", "LOCALAPPDATA",           # the same for Windows
    "LANG", "LANGUAGE", "TZ",            # language and time zone (and LC_*, below)
    "TMPDIR", "TEMP", "TMP",             # where temporary files go
    "SYSTEMROOT", "WINDIR",              # Windows: without it Python cannot start or draw random numbers
    "COMSPEC", "PATHEXT",                # Windows: how it finds and starts programs
    "VIRTUAL_ENV", "CONDA_PREFIX",       # which environment of packages is in use
    "PYTHONPATH",                        # where Python finds modules that are not installed
    "LD_LIBRARY_PATH",                   # where some clusters keep the libraries that Python itself needs
}


@dataclass(frozen=True)
class ChildResult:
    """What a child process did.

    output: what it printed, standard output and standard error together in the order of printing, with \\n line ends.
    exit_code: 0 for success; minus the signal's number if a signal ended it (POSIX); None if the time was up.
    timed_out: True if it was killed because the time was up.
    left_out: how many bytes were left out of the middle of the output.
    """
    output: str
    exit_code: int | None
    timed_out: bool = False
    left_out: int = 0


@dataclass
class KeptOutput:
    """The beginning and the end of what a child prints. However much is added, it stays small."""
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, chunk: bytes):
        """Keep what there is room for: first at the beginning, then always the newest at the end."""
        half = OUTPUT_LIMIT // 2
        room = half - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[:-half]
        self.total += len(chunk)

    @property
    def left_out(self) -> int:
        """How many bytes were not kept."""
        return self.total - len(self.head) - len(self.tail)

    def text(self) -> str:
        """Return what was kept, as text; a notice stands where something was left out."""
        if not self.left_out:
            return as_text(self.head + self.tail)
        head, tail = as_text(self.head).rstrip("\ufffd"), as_text(self.tail).lstrip("\ufffd")   # half a character at the cut
        return f"{head}\n[cut: {self.left_out:,} bytes of output are left out here]\n{tail}"


def run_child(arguments: list[str], *, folder: str = ".", timeout: float = 30.0, stdin_text: str | None = None,
              environment: dict[str, str] | None = None) -> ChildResult:
    """Run a program in a folder, wait for its end or for the time limit, and return what it printed.

    arguments: the program and its arguments; no shell takes part.
    folder: the child's working folder.
    timeout: seconds until the child and all that it started are killed. What was printed until then is kept.
    stdin_text: what the child finds on its standard input; None for nothing at all.
    environment: the child's variables; None for child_environment().

    Nothing the child started is left running, not after Ctrl-C either, which passes through as KeyboardInterrupt. In a thread,
    which Ctrl-C does not reach, setting the Event in STOP_SIGNAL does the same.
    The exceptions are a process that moved to a session of its own, and on Windows one that outlives the child.

    Raises FileNotFoundError if the folder or the program is not there, other OSErrors if the child cannot be started,
    and UnicodeEncodeError if stdin_text holds half a character.
    """
    go_on()
    folder = existing_folder(folder)
    environment = child_environment() if environment is None else environment
    with standard_input(stdin_text) as stdin:
        process = start(arguments, folder, stdin, environment)
    try:
        kept = KeptOutput()
        reader = threading.Thread(target=read_output, args=(process.stdout, kept), daemon=True)
        reader.start()
        in_time = ends_within(process, reader, timeout)
    finally:
        kill_group(process)
        process.wait()
    reader.join(LAST_WORDS)   # not for ever: a process that got away may still hold the pipe open
    return ChildResult(kept.text(), process.returncode if in_time else None, timed_out=not in_time, left_out=kept.left_out)


def existing_folder(folder: str) -> str:
    """Return the full path of the folder. Raises FileNotFoundError if it is gone.

    Popen reports a missing folder with the same exception as a missing program, so it is looked at first.
    """
    path = os.path.abspath(folder)   # raises FileNotFoundError itself if the current folder was deleted
    if not os.path.isdir(path):
        raise FileNotFoundError(f"the working folder is gone: {folder!r}")
    return path


def child_environment() -> dict[str, str]:
    """Return the variables a child gets: the inherited ones, and some that make it behave the same everywhere."""
    inherited = {name: value for name, value in os.environ.items() if name.upper() in INHERITED or name.startswith("LC_")}
    if "LD_LIBRARY_PATH" in inherited:
        inherited["LD_LIBRARY_PATH"] = without_relative(inherited["LD_LIBRARY_PATH"])
    return inherited | {
        "PYTHONIOENCODING": "utf-8",       # it may print every character, whatever the system's code page is
        "PYTHONUTF8": "1",                 # and open() means UTF-8 on Windows too
        "PYTHONUNBUFFERED": "1",           # what was printed before the time was up is not lost
        "PYTHONDONTWRITEBYTECODE": "1",    # no __pycache__ turns up in the working folder
        "MPLBACKEND": "Agg",               # plots are drawn into files: there is no window to wait for
        "MPLCONFIGDIR": matplotlib_folder(),
    }


def without_relative(folders: str) -> str:
    """Return a list of folders without those that depend on the current one; an empty entry means the current folder itself.

    A program that is started in the working folder would otherwise take a library that lies there for the system's own.
    """
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if os.path.isabs(folder))


def matplotlib_folder() -> str:
    """Return a folder for matplotlib's list of fonts, the same one each time.

    In a home folder that cannot be written to, matplotlib would list the fonts anew in every run and print that it does.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"   # /tmp belongs to all users, Windows has one for each
    default = os.path.join(tempfile.gettempdir(), f"agent-steps-matplotlib-{user}")
    return os.environ.get("MPLCONFIGDIR", default)


def standard_input(text: str | None):
    """Return an open file to read standard input from: a temporary one with this text, or the empty device."""
    if text is None:
        return open(os.devnull, "rb")
    data = text.encode("utf-8")
    file = tempfile.TemporaryFile()   # a file, not a pipe: nobody has to keep feeding it
    file.write(data)
    file.seek(0)
    return file


def start(arguments: list[str], folder: str, stdin, environment: dict[str, str]) -> subprocess.Popen:
    """Start the child in a process group of its own, so that one signal reaches all that it starts."""
    if WINDOWS:
        own_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    else:
        own_group = {"start_new_session": True}
    return subprocess.Popen(arguments, cwd=folder, env=environment, stdin=stdin,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **own_group)


def read_output(pipe, kept: KeptOutput):
    """Read until nobody can write any more. A child whose pipe is full would stand still, so this never stops to wait."""
    with pipe:
        while chunk := pipe.read1(65_536):
            kept.add(chunk)


def ends_within(process: subprocess.Popen, reader: threading.Thread, seconds: float) -> bool:
    """Wait for the child's end. Return False if the time was up first. Raises KeyboardInterrupt if the run is stopped."""
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        go_on()
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        wait_a_moment(process, reader, min(left, 0.1))   # in short waits: a stop, and on Windows Ctrl-C, is noticed only between them
    return True


def wait_a_moment(process: subprocess.Popen, reader: threading.Thread, seconds: float):
    """Wait until the child has closed its output, or has ended.

    Most close it when they end. Popen's own waiting would look only from time to time, up to 50 ms apart.
    """
    if reader.is_alive():
        reader.join(seconds)
        return
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        pass


def go_on():
    """Raises KeyboardInterrupt if the signal to stop is given to the run that this is a part of."""
    if STOP_SIGNAL.get() is not None and STOP_SIGNAL.get().is_set():
        raise KeyboardInterrupt


def kill_group(process: subprocess.Popen):
    """Kill the child and all that it started. It is no error if they have ended already."""
    if WINDOWS:
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], stdin=subprocess.DEVNULL, capture_output=True)
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):   # nobody is left (macOS says "no permission" for an ended process)
        pass


def as_text(data: bytes) -> str:
    """Decode output, with a replacement for what is no UTF-8, and with the line ends of this side."""
    return data.decode("utf-8", "replace").replace("\r\n", "\n")

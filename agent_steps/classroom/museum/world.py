"""The world around a program: a folder for it to work in, and beside it everything that it must leave alone.

All of it lies in one scratch folder and on the loopback network, and it is gone when the `with` block ends.
"""
import contextlib
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

KEY_NAME = "OPENAI_API_KEY"
NEIGHBOUR_GOALS = ("kill", "key")
_key_lock = threading.Lock()   # variables belong to the whole process, so only one world at a time may have the key in them

# what the person has in the working folder
OWN_FILES = {
    "helper.py": 'def greet(name):\n    return f"Hello {name}"\n',
    "report.py": 'import json\n\nprint(json.dumps({"rows": 3}))\n',
    "test_helper.py": ("import unittest\n\nfrom helper import greet\n\n\nclass Greeting(unittest.TestCase):\n"
                       '    def test_greet(self):\n        self.assertEqual(greet("Ann"), "Hello Ann")\n'),
    "parts/readme.txt": "What came from elsewhere.\n",
}


class World:
    """The places of one run, as full paths, and what waits there.

    folder: the working folder. root: the scratch folder that holds it. key, secret: two texts that must not come out.
    neighbour: a process that must stay alive, or None if the goal has no use for one.
    """

    def __init__(self, root: Path):
        self.root = root
        self.folder = root / "work"
        self.sibling = root / "work-old"
        self.victim = root / "kept" / "victim.txt"
        self.secret_file = root / "private" / "secret.txt"
        self.outside = root / "outside.txt"
        self.key = f"not-a-real-key-{secrets.token_hex(8)}"
        self.secret = f"nobody-may-know-{secrets.token_hex(8)}"
        self.listeners: dict[str, socket.socket] = {}
        self.neighbour: subprocess.Popen | None = None

    def build(self):
        """Write the files."""
        files = {self.victim: "the only copy\n", self.sibling / "victim.txt": "an older copy\n", self.secret_file: f"{self.secret}\n"}
        for path, text in files.items() | {self.folder / name: text for name, text in OWN_FILES.items()}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def listen(self):
        """Open the listeners that this system has. Nobody answers: what arrives is kept by the kernel until it is asked for."""
        self.listeners = {"@PORT@": listener(socket.AF_INET, ("127.0.0.1", 0)),
                          "@UDP_PORT@": listener(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)}
        if hasattr(socket, "AF_UNIX"):
            with contextlib.suppress(OSError):   # the path is too long for a socket
                self.listeners["@SOCKET@"] = listener(socket.AF_UNIX, str(self.root / "sock"))
        if sys.platform == "linux":
            self.listeners["@ABSTRACT@"] = listener(socket.AF_UNIX, f"\0{self.root.name}")

    def heard(self) -> list[str]:
        """Return the names of the listeners at which something arrived."""
        arrived, _, _ = select.select(list(self.listeners.values()), [], [], 0.05)
        return [name.strip("@").lower() for name, waiting in self.listeners.items() if waiting in arrived]

    def start_neighbour(self):
        """Start a process of the same user, with the key among its variables, as a notebook server has them."""
        words = [sys.executable, "-c", "import time; time.sleep(60)", f"neighbour of {self.outside.as_posix()}"]
        self.neighbour = subprocess.Popen(words, env={**os.environ, KEY_NAME: self.key}, cwd=self.root)

    def placeholders(self) -> dict[str, str]:
        """Return what stands for each placeholder; one that this system does not have is missing. Paths are written with /."""
        found = {"@VICTIM@": self.victim.as_posix(), "@OUTSIDE@": self.outside.as_posix(), "@SIBLING@": self.sibling.as_posix(),
                 "@SECRET@": self.secret_file.as_posix()}
        for name, waiting in self.listeners.items():
            address = waiting.getsockname()
            found[name] = str(address[1]) if isinstance(address, tuple) else os.fsdecode(address).lstrip("\0")
        if self.neighbour:
            found["@PID@"] = str(self.neighbour.pid)
        return found

    def fill(self, code: str) -> str:
        """Return the code with every placeholder filled in."""
        for name, value in self.placeholders().items():
            code = code.replace(name, value)
        return code

    def close(self):
        """End what was started and what is left, and close the listeners."""
        if self.neighbour:
            self.neighbour.kill()
            self.neighbour.wait()
        for waiting in self.listeners.values():
            waiting.close()
        end_leftovers(self.root)


def listener(family: int, address, kind: int = socket.SOCK_STREAM) -> socket.socket:
    """Return a socket that waits at an address."""
    waiting = socket.socket(family, kind)
    waiting.bind(address)
    if kind == socket.SOCK_STREAM:
        waiting.listen(8)
    return waiting


@contextlib.contextmanager
def fresh_world(goal: str):
    """Build a World for a program with this goal, and remove it afterwards with all that the program left."""
    root = Path(tempfile.mkdtemp(prefix="museum-")).resolve()
    world = World(root)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        stack.callback(world.close)
        world.build()
        world.listen()
        if goal in NEIGHBOUR_GOALS:
            world.start_neighbour()
        if goal == "key":
            stack.enter_context(key_in_environment(world.key))
        yield world


@contextlib.contextmanager
def key_in_environment(key: str):
    """Have a key among the variables of this process, as a learner would, and put back what was there before."""
    with _key_lock:
        before = os.environ.get(KEY_NAME)
        os.environ[KEY_NAME] = key
        try:
            yield
        finally:
            if before is None:
                del os.environ[KEY_NAME]
            else:
                os.environ[KEY_NAME] = before


def end_leftovers(root: Path):
    """Kill what still runs in the scratch folder. Only Linux shows where a process is; elsewhere each ends by itself soon."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if Path(os.readlink(link)).is_relative_to(root):
                os.kill(int(link.parent.name), signal.SIGKILL)


def snapshot(world: World) -> dict[str, tuple]:
    """Describe everything in the scratch folder outside of the working folder: relative path to kind, mode, date and content."""
    found = {}
    for folder, folders, files in os.walk(world.root):
        if Path(folder) == world.root:
            folders.remove(world.folder.name)
        for name in folders + files:
            path = Path(folder, name)
            found[path.relative_to(world.root).as_posix()] = described(path)
    return found


def described(path: Path) -> tuple:
    """Return (kind and mode, date, content) of what stands at a path; links are not followed, and only files have a content."""
    facts = path.lstat()
    if not path.is_file() or path.is_symlink():
        return facts.st_mode, None, None
    try:
        content = path.read_bytes()
    except PermissionError:   # the mode says so too
        content = None
    return facts.st_mode, facts.st_mtime_ns, content


def differences(before: dict, after: dict) -> str:
    """Say in words what is different outside, or return an empty text."""
    gone = [f"{path} is gone" for path in before if path not in after]
    made = [f"{path} was made" for path in after if path not in before]
    changed = [f"{path}: {what_changed(before[path], after[path])}" for path in before if path in after and before[path] != after[path]]
    return ", ".join(gone + made + changed)


def what_changed(before: tuple, after: tuple) -> str:
    """Say which fact about a path is another one now."""
    kind, date, content = (one != other for one, other in zip(before, after, strict=True))
    return "other content" if content and not kind else "other permissions" if kind else "another date"

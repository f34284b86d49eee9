"""Where confined code may read and write: the working folder, a scratch folder for one run, and what Python itself needs."""
import os
import stat
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent_steps.wall.protected import entries_below, is_secret, is_special

PACKAGE = Path(__file__).parents[1]   # agent_steps: the child's own first lines stand in it
MOST_MOUNTS = 400                     # beyond that many protected files, a command would grow too long

# What programs of a Linux system read: libraries, fonts, time zones, certificates, names of users. No home, no /var, no /run.
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/libx32", "/bin", "/sbin", "/etc/alternatives", "/etc/fonts", "/etc/group", "/etc/host.conf", "/etc/hosts",
          "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf",
          "/etc/os-release", "/etc/passwd", "/etc/pki/ca-trust", "/etc/pki/tls", "/etc/protocols", "/etc/services", "/etc/ssl/certs",
          "/etc/ssl/openssl.cnf", "/etc/timezone", "/nix/store")


@dataclass(frozen=True)
class Place:
    """What one run may touch. All paths are full ones, without links.

    folder: the working folder. top: a folder that is made for this run and removed after it.
    """
    folder: str
    top: str

    @property
    def scratch(self) -> str:
        """Home and temporary files of the program."""
        return os.path.join(self.top, "home")

    @property
    def root(self) -> str:
        """An empty folder, where a wall may build what the program sees as its disk."""
        return os.path.join(self.top, "root")

    @cached_property
    def entries(self) -> list[os.DirEntry]:
        """What is in the working folder and below: looked at once for a run, since it may be much."""
        return list(entries_below(self.folder))

    def prepare(self) -> None:
        """Make what must be there before a run."""
        for name in ("home", "root", "empty-folder"):
            os.mkdir(os.path.join(self.top, name))
        Path(self.top, "empty").touch()

    def writable(self) -> list[str]:
        """The folders that may be written to, the working folder first."""
        return [self.folder, self.scratch]

    def readable(self) -> list[str]:
        """What may be read, as far as it is there. Nothing in it lies inside another one of it."""
        python = [*self.pythons(), os.path.dirname(os.path.realpath(sys.executable)), *self.packages()]
        found = [path for path in (*SYSTEM, *python, *self.libraries()) if os.path.exists(path)]
        return outermost(found + [os.path.realpath(path) for path in found])   # what a link leads to, too

    def libraries(self) -> list[str]:
        """The folders with libraries that the host was told of. None in the working folder: code could put one there."""
        folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
        return [path for path in folders if os.path.isabs(path) and not is_inside(path, self.folder)]

    def pythons(self) -> list[str]:
        """What the host's Python consists of: the folder of its environment, the one it was made from, and this package."""
        return [sys.prefix, sys.base_prefix, str(PACKAGE)]

    def packages(self) -> list[str]:
        """The folders in which this Python finds modules, so that the child finds the same. A broad one is not among them.

        Broad: one that holds the working folder, the home folder or this package, and with them much that is no module.
        """
        holds = [self.folder, os.path.expanduser("~"), str(PACKAGE)]
        return [path for path in sys.path if os.path.isabs(path) and os.path.exists(path) and not any(is_inside(held, path) for held in holds)]

    def protected(self) -> list[str]:
        """What lies in the working folder and may only be read in there, since the host will run it: hooks, configuration, its Python."""
        names = [path for entry in self.entries if is_special(entry.name) for path in (entry.path, git_folder(entry.path))]
        own = [path for path in (*self.pythons(), *self.packages()) if is_inside(path, self.folder)]
        if self.folder in map(os.path.realpath, own):   # an environment that was made right in the folder
            own = [path for path in own if os.path.realpath(path) != self.folder] + [
                path for name in ("bin", "lib", "Scripts", "Lib") if os.path.isdir(path := os.path.join(self.folder, name))]
        real = [os.path.realpath(path) for path in names + own if os.path.exists(path)]
        return not_too_many(outermost([path for path in real if is_inside(path, self.folder) and path != self.folder]))

    def covers(self) -> dict[str, str]:
        """What lies in the working folder and is seen empty in there: files with keys and passwords, and sockets of other programs."""
        found = {}
        for entry in self.entries:
            path = os.path.realpath(entry.path)
            if (is_secret(entry.name) or is_socket(path)) and os.path.exists(path) and is_inside(path, self.folder):
                found[path] = os.path.join(self.top, "empty-folder" if os.path.isdir(path) else "empty")
        return {path: found[path] for path in not_too_many(outermost(list(found)))}


def not_too_many(paths: list[str]) -> list[str]:
    """Return the paths. Raises ValueError if they are too many to be told to a wall: none may be left out."""
    if len(paths) > MOST_MOUNTS:
        raise ValueError(f"The working folder holds more than {MOST_MOUNTS} protected files or folders (such as .git, .env). Choose a smaller one.")
    return paths


def git_folder(path: str) -> str:
    """Return the folder that a .git file names, or the path itself: git can keep its folder elsewhere."""
    try:
        if os.path.basename(path) == ".git" and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return os.path.join(os.path.dirname(path), file.readline(4096).removeprefix("gitdir:").strip())
    except OSError:   # not ours to read: then nobody follows it for us either
        pass
    return path


def is_socket(path: str) -> bool:
    """Return whether this is a socket with a path."""
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is the folder, or lies below it, links followed."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return os.path.join(path, "").startswith(os.path.join(folder, ""))   # with the / at their ends: work-2 is not inside work


def outermost(paths: list[str]) -> list[str]:
    """Return the paths without those that lie inside another one. A link counts as a place of its own."""
    kept = []
    for path in sorted(set(map(os.path.abspath, paths)), key=len):
        if not path.startswith(tuple(os.path.join(outer, "") for outer in kept)):
            kept.append(path)
    return kept

"""A trip-wire: Python tells it what a program is about to do, and it refuses what leads outside, in words that help.

It is no wall. It sees only what Python's own functions report, runs in the same process as the program that it watches,
and can be walked round (lesson 13 shows how). It is here for its messages: a wall only says "permission denied".
"""
import os
import sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Events that name what they change: which of their arguments do, and which one says from which open folder the path is seen.
# https://docs.python.org/3/library/audit_events.html
CHANGES = {"os.remove": [(0, 1)], "os.rmdir": [(0, 1)], "os.mkdir": [(0, 2)], "os.rename": [(0, 2), (1, 3)], "os.link": [(0, 2), (1, 3)],
           "os.symlink": [(1, 2)], "os.truncate": [(0, None)], "os.chmod": [(0, 2)], "os.chown": [(0, 3)], "os.utime": [(0, 3)], "shutil.rmtree": [(0, 1)]}
CURRENT = (-1, None)         # instead of an open folder: the current one
CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
ITSELF = ("127.0.0.1", "::1", "localhost", "0.0.0.0")
STREAMS = (os.devnull, "/dev/stdout", "/dev/stderr", "/dev/tty")
SHARED_MEMORY = "/dev/shm"   # where Linux keeps what the processes of one program share
HINT = "Only the working folder can be written to. Use a relative path inside it."


def set_tripwire(folders: list[str], own_network: bool) -> None:
    """Refuse, from now on and for good, to change files outside these folders (full paths) or to connect to anything.

    own_network: there is a wall, behind which 127.0.0.1 is this program's own. Without one, other programs of the person listen there.
    """
    allowed = tuple(os.path.join(os.path.realpath(folder), "") for folder in (*folders, SHARED_MEMORY))   # each with a / at its end

    def is_outside(path) -> bool:
        if isinstance(path, int) or os.fsdecode(path) in STREAMS:   # a number is a file that is open already
            return False
        return not os.path.join(os.path.realpath(os.fsdecode(path)), "").startswith(allowed)

    def watch(event, arguments):
        if event == "open" and arguments[2] & WRITES and is_outside(arguments[0]):
            raise PermissionError(f"not written: {os.fsdecode(arguments[0])!r} is outside the working folder. {HINT}")
        for place, seen_from in CHANGES.get(event, ()):
            if (seen_from is None or arguments[seen_from] in CURRENT) and is_outside(arguments[place]):
                raise PermissionError(f"not changed: {os.fsdecode(arguments[place])!r} is outside the working folder. {HINT}")
        if event in CONNECTS and isinstance(arguments[1], tuple) and not (own_network and arguments[1][0] in ITSELF):
            raise PermissionError(f"not connected: there is no network here ({arguments[1][0]}).")

    sys.addaudithook(watch)

"""Build a wall from namespaces, Landlock and a filter for system calls, and run a command behind it.

This is done in the child, before the command. Nothing runs if the wall cannot be built.
"""
import os
import sys

from agent_steps.wall import landlock, namespaces
from agent_steps.wall.seccomp import refuse_calls

DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]


def launch(base: str, writable: list[str], readable: list[str], protected: list[str],
           covers: dict[str, str]) -> None:
    """Run the command that stands in this one's arguments behind the wall. Does not return.

    base: an empty folder. writable: the folders that may be written to, the working folder first. covers: from a path to what
    is seen in its place. The others: see Place. All are full paths. Raises OSError if the wall cannot be built.
    """
    namespaces.die_with_parent()
    namespaces.enter_namespaces()
    # the copy is the first process in the new namespace: its end is the end of all others
    first = os.fork()
    if first:
        end_like(os.waitpid(first, 0)[1])
    namespaces.die_with_parent()
    namespaces.switch_loopback_on()
    program = os.fork()
    if program:
        end_like(wait_for(program))
    enter_new_root(base, writable, readable, protected, covers)
    os.chdir(writable[0])
    namespaces.drop_capabilities()
    refuse_calls()
    landlock.confine([*writable, "/dev/shm"], [*readable, "/proc"], DEVICES)
    os.execv(sys.argv[1], sys.argv[1:])


def enter_new_root(base: str, writable: list[str], readable: list[str], protected: list[str], covers: dict[str, str]) -> None:
    """Leave nothing to be seen but what the program needs."""
    root = namespaces.NewRoot(base)
    for path in DEVICES:
        root.add(path)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        root.add_link(f"/dev/{name}", f"/proc/self/fd/{number}")
    root.add_link("/dev/fd", "/proc/self/fd")
    root.add_new("tmpfs", "/dev/shm")
    root.add_new("proc", "/proc", read_only=True)
    for path in readable:
        root.add(path, read_only=True)
    for path in writable:
        root.add(path)
    for path in protected:
        root.add(path, read_only=True)
    for path, source in covers.items():
        root.add(path, source, read_only=True)
    root.enter()


def wait_for(program: int) -> int:
    """Wait for the program's end, and for processes that were left to this one meanwhile. Return the program's status."""
    while True:
        ended, status = os.wait()
        if ended == program:
            return status


def end_like(status: int) -> None:
    """End as a child ended: with its exit code, or with 128 and the number of the signal that ended it, as a shell does."""
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)

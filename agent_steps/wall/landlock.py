"""Landlock: a Linux kernel confines the process that asks for it, and all that it starts, for good. No privilege is needed.

The rules are an allow list: what is not listed cannot be opened, made, moved or removed. They say nothing about modes, owners and times of
files, nor about who may connect: by itself this is no wall (see launch). https://docs.kernel.org/userspace-api/landlock.html
"""
import ctypes
import os
import stat

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446   # numbers of the system calls, the same on all processors
VERSION = 1                                               # a flag: only say which version (ABI) the kernel has
PATH_BENEATH = 1                                          # a rule for a path and all below it
NO_NEW_PRIVILEGES = 38                                    # prctl: no program that is started may gain rights

RIGHTS = {   # by the version that brought them; 1 << 0 to 1 << 12 came with the first
    1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15,   # 2: move between folders, 3: truncate, 5: device commands
}
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 2, 4, 8
MAKE_DEVICES = 1 << 6 | 1 << 11
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15   # the other rights mean folders
SIGNALS_AND_ABSTRACT_SOCKETS = 1 << 0 | 1 << 1            # version 6: only among the confined

libc = ctypes.CDLL(None, use_errno=True)


class Ruleset(ctypes.Structure):
    """What the rules are about: everything that is named here and that no rule allows is refused."""

    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scope", ctypes.c_uint64)]


class PathRule(ctypes.Structure):
    """Rights for an open path and all below it."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("rights", ctypes.c_uint64), ("path", ctypes.c_int32)]


def version() -> int:
    """Return the version of Landlock (its ABI) that this kernel has; 0 for none."""
    return max(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION), 0)


def confine(writable: list[str], readable: list[str], devices: list[str]) -> None:
    """Allow this process, and all that it starts, to write below the writable folders and to read below the readable ones too.

    devices: single files that may be read and written. Signals to others are refused from version 6 on. The network is left as it is.
    Raises OSError if this kernel cannot.
    """
    newest = version()
    files = sum(rights for since, rights in RIGHTS.items() if since <= newest)
    attributes = Ruleset(files, 0, SIGNALS_AND_ABSTRACT_SOCKETS if newest >= 6 else 0)
    size = 8 if newest < 4 else 16 if newest < 6 else 24   # bytes: older kernels know a shorter structure
    ruleset = called(libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0))
    for path in writable:
        allow(ruleset, path, files & ~MAKE_DEVICES)
    for path in readable:
        allow(ruleset, path, EXECUTE | READ_FILE | READ_FOLDER)
    for path in devices:
        allow(ruleset, path, WRITE_FILE | READ_FILE)
    called(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    called(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Add a rule for one path. A path that is not there needs none."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        rights &= FOR_FILES
    rule = PathRule(rights, opened)
    called(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0))
    os.close(opened)


def called(result: int) -> int:
    """Return what a system call returned. Raises OSError if it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

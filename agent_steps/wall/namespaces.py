"""Namespaces: a Linux process gets a view of its own of the network, of the processes and of the disks.

https://man7.org/linux/man-pages/man7/namespaces.7.html. An ordinary user needs a user namespace first, which some systems forbid.
"""
import ctypes
import os
import struct

from agent_steps.wall.landlock import called, libc

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE, DETACH = 0x1000, 0x4000, 0x40000, 2   # mount and umount2
MOUNT_SETATTR, WHOLE_TREE, READ_ONLY = 442, 0x8000, 1
DIE_WITH_PARENT, KILL = 1, 9                                    # prctl, and the signal
DROP_CAPABILITY, CAPABILITIES = 24, 64                          # prctl; more numbers than any kernel has
INTERNET, DATAGRAMS = 2, 2                                      # socket
SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41                        # ioctl of a network device


def enter_namespaces() -> None:
    """Leave the host's network, processes and mounts. Raises OSError where that is not allowed."""
    user, group = os.geteuid(), os.getegid()
    called(libc.unshare(NEW_USER | NEW_NETWORK | NEW_PROCESSES | NEW_MOUNTS | NEW_IPC))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def switch_loopback_on() -> None:
    """Let confined programs talk to themselves: in a new network even 127.0.0.1 is switched off."""
    device = called(libc.socket(INTERNET, DATAGRAMS, 0))
    libc.ioctl(device, SET_FLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))
    os.close(device)


def mount(source: str, target: str, kind: str | None, flags: int) -> None:
    """Mount something. Raises OSError."""
    called(libc.mount(os.fsencode(source), os.fsencode(target), kind and kind.encode(), ctypes.c_ulong(flags), None))


def set_read_only(path: str, below: int = WHOLE_TREE) -> None:
    """Let a mount only be read; with all mounts below it, unless below is 0. Raises OSError before Linux 5.12."""
    attributes = struct.pack("QQQQ", READ_ONLY, 0, 0, 0)
    called(libc.syscall(MOUNT_SETATTR, -1, os.fsencode(path), below, attributes, ctypes.c_size_t(len(attributes))))


class NewRoot:
    """A tree of folders in which only that is there which is put into it. It becomes what the process sees as its whole disk.

    What is not there cannot be opened, changed, asked about or connected to, whatever it is called. base: an empty folder.
    """

    def __init__(self, base: str):
        self.base = base
        mount("", "/", None, RECURSIVE | PRIVATE)   # nothing that is mounted from here on shows outside
        mount("tmpfs", base, "tmpfs", 0)

    def add(self, path: str, source: str | None = None, read_only: bool = False) -> None:
        """Put a file or folder in, under its own path; source: what is seen there instead. A link to another place stays a link."""
        target = self.base + path
        if source is None and os.path.islink(path):
            self.add_link(path, os.path.realpath(path))
            return
        source = source or path
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        elif not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT))
        mount(source, target, None, BIND | RECURSIVE)
        if read_only:
            set_read_only(target)

    def add_link(self, path: str, leads_to: str) -> None:
        """Put in a link."""
        os.makedirs(os.path.dirname(self.base + path), exist_ok=True)
        os.symlink(leads_to, self.base + path)

    def add_new(self, kind: str, path: str, read_only: bool = False) -> None:
        """Put in something of the kernel's that shows nothing of the host: "proc" or "tmpfs"."""
        os.makedirs(self.base + path, exist_ok=True)
        mount(kind, self.base + path, kind, 0)
        if read_only:
            set_read_only(self.base + path)

    def enter(self) -> None:
        """Make it the root of this process, and let go of the old one."""
        os.chdir(self.base)
        called(libc.pivot_root(b".", b"."))
        called(libc.umount2(b".", DETACH))
        set_read_only("/", below=0)


def drop_capabilities() -> None:
    """Give up the rights that the first process of a user namespace has, for all programs that are started from here."""
    for number in range(CAPABILITIES):
        libc.prctl(DROP_CAPABILITY, number, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the process that started this one ends, however it ends."""
    called(libc.prctl(DIE_WITH_PARENT, KILL, 0, 0, 0))

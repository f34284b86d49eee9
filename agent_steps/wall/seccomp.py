"""A filter for system calls: a few that lead round the other walls are refused.

https://docs.kernel.org/userspace-api/seccomp_filter.html. The filter is a little program that the kernel runs at each call.
"""
import ctypes
import os
import struct

from agent_steps.wall.landlock import NO_NEW_PRIVILEGES, called, libc

# by processor: how the kernel names it, and the numbers of its calls (from asm/unistd.h)
PROCESSORS = {
    "x86_64": (0xC000003E, {"socket": 41, "clone": 56, "add_key": 248, "request_key": 249, "keyctl": 250,
                            "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308}),
    "aarch64": (0xC00000B7, {"socket": 198, "clone": 220, "add_key": 217, "request_key": 218, "keyctl": 219,
                             "mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97, "setns": 268}),
}
SAME_EVERYWHERE = {"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "clone3": 435, "mount_setattr": 442}
SET_FILTER, FILTER = 22, 2              # prctl
OTHER_NUMBERS = 0x40000000              # x86_64 knows its calls by a second set of numbers
NEW_NAMESPACES = 0x7E020080             # of clone: with a namespace of one's own come rights in it, and with them ways to the host
# sockets of this machine, of the internet (4 and 6) and about the network: those belong to a namespace. Others, such as a
# virtual machine's line to its host, do not.
FAMILIES = (1, 2, 10, 16)
LOAD, EQUAL, AT_LEAST, HAS_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, PROCESSOR, FIRST_ARGUMENT = 0, 4, 16   # where these stand in what the filter is given
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 13    # 13: EACCES, "permission denied"
UNKNOWN = 0x00050000 | 38                      # ENOSYS: then the C library takes clone instead, whose flags can be seen


def refuse_calls() -> None:
    """Refuse these calls to this process, and to all that it starts. Raises OSError where that is not possible."""
    program = b"".join(struct.pack("HBBI", *line) for line in filter_lines(os.uname().machine))
    text = ctypes.create_string_buffer(program)
    called(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    called(libc.prctl(SET_FILTER, FILTER, struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text))))


def filter_lines(machine: str) -> list[tuple]:
    """Return the filter: what to do, how many lines to skip if it is so and if it is not, and the value. Raises OSError."""
    if machine not in PROCESSORS:
        raise OSError(f"no filter is known for this processor: {machine}")
    processor, numbers = PROCESSORS[machine]
    refused = {**numbers, **SAME_EVERYWHERE}
    looked_at = {name: refused.pop(name) for name in ("socket", "clone", "clone3")}
    return with_distances([   # what to do, value, and the line to go to if it is so, if it is not; None: the next one
        (LOAD, PROCESSOR, None, None),
        (EQUAL, processor, None, "refuse"),
        (LOAD, NUMBER, None, None),
        (AT_LEAST, OTHER_NUMBERS, "refuse", None),
        *((EQUAL, number, "refuse", None) for number in refused.values()),
        (EQUAL, looked_at["clone3"], "unknown", None),
        (EQUAL, looked_at["socket"], "socket", None),
        (EQUAL, looked_at["clone"], None, "allow"),
        (LOAD, FIRST_ARGUMENT, None, None),
        (HAS_BITS, NEW_NAMESPACES, "refuse", "allow"),
        "socket", (LOAD, FIRST_ARGUMENT, None, None),
        *((EQUAL, family, "allow", None) for family in FAMILIES),
        "refuse", (RETURN, REFUSE, None, None),
        "allow", (RETURN, ALLOW, None, None),
        "unknown", (RETURN, UNKNOWN, None, None),
    ])


def with_distances(lines: list) -> list[tuple]:
    """Turn the names of lines into distances, as the kernel wants them. A name stands before its line."""
    places, numbered = {}, []
    for line in lines:
        if isinstance(line, str):
            places[line] = len(numbered)
        else:
            numbered.append(line)
    return [(what, *(0 if name is None else places[name] - place - 1 for name in names), value)
            for place, (what, value, *names) in enumerate(numbered)]

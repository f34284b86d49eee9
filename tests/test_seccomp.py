"""The filter for system calls, read as the kernel reads it: line by line."""
import pytest

from agent_steps.wall.child import WINDOWS

if WINDOWS:
    pytest.skip("this is about Linux", allow_module_level=True)
from agent_steps.wall.seccomp import (
    ALLOW, AT_LEAST, EQUAL, FIRST_ARGUMENT, HAS_BITS, LOAD, NUMBER, PROCESSOR, PROCESSORS, REFUSE, RETURN, SAME_EVERYWHERE, UNKNOWN, filter_lines)

READ = {"x86_64": 0, "aarch64": 63}
CONNECT = {"x86_64": 42, "aarch64": 203}
every_processor = pytest.mark.parametrize("machine", PROCESSORS)


def verdict(machine, number, argument=0, processor=None):
    """What the filter says to a call."""
    given = {NUMBER: number, PROCESSOR: PROCESSORS[machine][0] if processor is None else processor, FIRST_ARGUMENT: argument}
    lines, place, loaded = filter_lines(machine), 0, None
    while True:
        what, if_so, if_not, value = lines[place]
        if what == RETURN:
            return value
        if what == LOAD:
            loaded = given[value]
            place += 1
        else:
            is_so = {EQUAL: loaded == value, AT_LEAST: loaded >= value, HAS_BITS: bool(loaded & value)}[what]
            place += 1 + (if_so if is_so else if_not)


@every_processor
def test_ordinary_calls_are_allowed(machine):
    for number in (READ[machine], CONNECT[machine], 59, 221, 434, 1):
        assert verdict(machine, number) == ALLOW


@every_processor
@pytest.mark.parametrize("family, said", [(1, ALLOW), (2, ALLOW), (10, ALLOW), (16, ALLOW), (0, REFUSE), (17, REFUSE), (31, REFUSE), (38, REFUSE), (40, REFUSE)])
def test_only_sockets_that_a_namespace_holds_are_made(machine, family, said):
    assert verdict(machine, PROCESSORS[machine][1]["socket"], family) == said


@every_processor
def test_other_ways_to_the_same_are_refused(machine):
    numbers = PROCESSORS[machine][1] | SAME_EVERYWHERE
    for name in ("io_uring_setup", "keyctl", "add_key", "request_key", "mount", "umount2", "pivot_root", "unshare", "setns", "fsopen", "fsmount",
                 "open_tree", "move_mount", "mount_setattr"):
        assert verdict(machine, numbers[name]) == REFUSE, name
    assert verdict(machine, 0x40000000 + 41, 40) == REFUSE   # by the second set of numbers
    assert verdict(machine, 41, 40, processor=0x40000003) == REFUSE   # as a 32-bit program


@every_processor
def test_processes_and_threads_are_made_but_no_namespaces(machine):
    clone = PROCESSORS[machine][1]["clone"]
    assert verdict(machine, clone, 17) == verdict(machine, clone, 0x3D0F00) == ALLOW   # a process, a thread
    assert verdict(machine, clone, 0x10000000 | 17) == verdict(machine, clone, 0x00020000) == REFUSE
    assert verdict(machine, 435) == UNKNOWN   # clone3 hides its flags: the C library then takes clone


def test_a_processor_that_nobody_knows_is_an_error():
    with pytest.raises(OSError, match="riscv64"):
        filter_lines("riscv64")

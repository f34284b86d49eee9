"""Prove a wall: a program behind it tries to break out in many ways, and what came of it is looked at from outside.

What it could read or open for writing stands in its output; everything else is seen in the files, sockets and processes themselves.
"""
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

WORD = "canary"   # what stands in the file that must not be read
SYSTEM_SETTING = "/proc/sys/kernel/core_pattern"   # opened, never written: who can write it runs code outside
BEAT = 0.02       # seconds between two signs of life of a process that should be dead

PROGRAM = '''
import os, signal, socket, time

def tries(attempt):
    try:
        attempt()
    except BaseException as error:
        print(type(error).__name__, error)

def live_on():
    os.setsid()
    if os.fork() == 0:
        for beat in range(150):
            open("alive.txt", "a").write(".")
            time.sleep(BEAT)
    os._exit(0)

tries(lambda: open(OUTSIDE, "w").close())
tries(lambda: os.chmod(SECRET, 0o777))
tries(lambda: print(open(SECRET).read()))
tries(lambda: socket.create_connection(("127.0.0.1", TCP), 1))
tries(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", UDP)))
tries(lambda: socket.socket(socket.AF_UNIX).connect(SOCKET))
tries(lambda: os.truncate(SECRET, 0))
tries(lambda: open(SYSTEM_SETTING, "r+").close() or print("opened a setting of the system"))
if os.fork() == 0:
    live_on()
time.sleep(2 * BEAT)
print("ran to its end")
tries(lambda: os.kill(PROCESS, signal.SIGKILL))
'''


@dataclass(frozen=True)
class Kept:
    """What a wall was seen to keep a program from, each True or False; and whether the program ran at all."""

    ran: bool
    writing_outside: bool
    changing_modes: bool
    reading_outside: bool
    connecting: bool
    sending_datagrams: bool
    unix_sockets: bool
    signals: bool
    living_on: bool

    @property
    def holds(self) -> bool:
        """Whether this is a wall: a program runs behind it, and came through nowhere."""
        return all(getattr(self, field.name) for field in fields(self))


def try_wall(wall: str | None) -> Kept:
    """Let the program try to break out from behind a wall (None: no wall), and say what it was kept from. POSIX only."""
    from agent_steps.wall.confined import run_behind

    with tempfile.TemporaryDirectory() as top, listeners(Path(top)) as (tcp, udp, unix), sacrifice() as process:
        folder, outside, secret = Path(top, "folder"), Path(top, "outside.txt"), Path(top, "secret.txt")
        folder.mkdir()
        secret.write_text(WORD, encoding="utf-8")
        secret.chmod(0o600)
        names = {"OUTSIDE": str(outside), "SECRET": str(secret), "TCP": port(tcp), "UDP": port(udp), "SOCKET": str(Path(top, "socket")),
                 "PROCESS": process.pid, "BEAT": BEAT, "SYSTEM_SETTING": SYSTEM_SETTING}
        lines = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        output = run_behind(wall, lines + PROGRAM, os.path.realpath(folder), timeout=10, tripwire=False).output
        return Kept(
            ran="ran to its end" in output.splitlines(),
            writing_outside=not outside.exists() and secret.read_text(encoding="utf-8") == WORD and "opened a setting of the system" not in output,
            changing_modes=secret.stat().st_mode & 0o777 == 0o600,
            reading_outside=WORD not in output.splitlines(), connecting=not arrived(tcp), sending_datagrams=not arrived(udp),
            unix_sockets=not arrived(unix), signals=process.poll() is None, living_on=not is_beating(folder / "alive.txt"))


@contextlib.contextmanager
def listeners(top: Path):
    """Listen as other programs of this machine do: on TCP, on UDP, and on a socket with a path."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(top / "socket"))
        for listener in (tcp, unix):
            listener.listen()
        for each in (tcp, udp, unix):
            each.setblocking(False)
        yield tcp, udp, unix


@contextlib.contextmanager
def sacrifice():
    """Start a process that does nothing: may it be killed?"""
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def port(listener: socket.socket) -> int:
    """Return the number of the port on which a socket listens."""
    return listener.getsockname()[1]


def arrived(listener: socket.socket) -> bool:
    """Return whether somebody has connected to a socket, or sent something to it."""
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(10)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def is_beating(file: Path) -> bool:
    """Return whether something still writes to a file."""
    before = file.stat().st_size if file.exists() else 0
    time.sleep(3 * BEAT)
    return file.exists() and file.stat().st_size > before

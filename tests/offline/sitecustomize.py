"""Cut off the network for the tests: a socket may reach this machine and nothing else.

Python imports a module of this name at its start, so every kernel and every child process that inherits PYTHONPATH from the
test set-up is cut off as well.
"""
import ipaddress
import socket


class NoNetwork(OSError):
    """A test tried to reach another machine."""


def _refuse_others(address) -> None:
    if not isinstance(address, tuple):   # a Unix socket is a file
        return
    host = address[0]
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host in ("localhost", "")
    if not here:
        raise NoNetwork(f"the tests reach no other machine, but something tried {host!r}")


def _guarded(method):
    def guarded(self, address, *rest):
        _refuse_others(address)
        return method(self, address, *rest)
    return guarded


if not hasattr(socket, "cut_off"):
    socket.cut_off = True
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))

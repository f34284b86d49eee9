"""What one run may use up. The child sets its own limits before it runs anything. Only root without a wall could raise them again."""
import os

MEMORY = 4 * 1024**3       # bytes that one process can fill; numpy, pandas and matplotlib together take less than 1 GB
ADDRESSES = 4 * MEMORY     # bytes of address space: big libraries reserve much more than they fill
FILE_SIZE = 100 * 1024**2  # bytes of one file
OPEN_FILES = 1024
PROCESSES = 100            # and threads, at a time; counted only where the child has a user namespace of its own, and never for root
MORE_CPU = 5               # seconds of processor time beyond the time limit on all processors, for what nobody is left to stop


def user_namespace() -> str | None:
    """Return what tells the user namespace of this process from others; None where there is no such thing."""
    try:
        return os.readlink("/proc/self/ns/user")
    except OSError:
        return None


def set_limits(seconds: float, own_user_namespace: bool) -> None:
    """Limit this process and all that it starts. Does nothing on Windows, where Python has no such limits.

    seconds: the time limit of the run.
    """
    try:
        import resource
    except ImportError:   # Windows
        return
    processor_time = int(seconds * (os.cpu_count() or 1)) + MORE_CPU
    limits = {"RLIMIT_CPU": processor_time, "RLIMIT_DATA": MEMORY, "RLIMIT_AS": ADDRESSES, "RLIMIT_FSIZE": FILE_SIZE,
              "RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_CORE": 0}
    if own_user_namespace:   # elsewhere all processes of the user count, the person's browser too
        limits["RLIMIT_NPROC"] = PROCESSES
    for name, most in limits.items():
        limit = getattr(resource, name)
        hard = resource.getrlimit(limit)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(limit, (most, most))
        except (ValueError, OSError):   # macOS refuses some
            pass

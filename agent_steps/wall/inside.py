"""The first lines of a confined child: set the limits and the trip-wire, then run the program as Python itself would.

It is imported, not run, so that the program finds no trace of it in its own names. Few imports: each takes time in every run.
"""
import os
import sys


def start(script: str | None, packages: list[str], writable: list[str], seconds: float, tripwire: bool, wall: str | None,
          host_users: str | None) -> None:
    """Run the program from standard input, or a script, after the preparations.

    packages: folders with modules that the host finds. writable: the folders that may be written to. seconds: the time limit.
    wall: the name of the wall around this process. host_users: the user namespace of the host, or None where there is no such thing.
    """
    from agent_steps.wall.limits import set_limits, user_namespace
    from agent_steps.wall.tripwire import set_tripwire

    if wall == "bubblewrap":   # the other wall has done this already
        from agent_steps.wall.seccomp import refuse_calls

        refuse_calls()
    forget_this_package()
    sys.path += [path for path in packages if path not in sys.path]
    sys.excepthook = show_without_these_lines
    set_limits(seconds, own_user_namespace=host_users != user_namespace())
    if tripwire:
        set_tripwire(writable, own_network=wall is not None)
    run(script)


def forget_this_package() -> None:
    """Forget the modules of this package: the working folder may hold a program of the same name."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "agent_steps"]:
        del sys.modules[name]


def run(script: str | None) -> None:
    """Run the program as the main module. A script finds modules beside it, but none in place of Python's own."""
    main = type(sys)("__main__")
    if script is None:
        name, source = "<stdin>", sys.stdin.buffer.read().decode("utf-8")
        sys.path.append(os.getcwd())
    else:
        name = main.__file__ = os.path.abspath(script)
        sys.path.append(os.path.dirname(name))
        with open(script, "rb") as file:
            source = file.read()   # bytes: the first lines may name an encoding
    sys.argv = [script or "-"]
    sys.modules["__main__"] = main
    exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)


def show_without_these_lines(kind, error, trace) -> None:
    """Show an error as Python does, without the three steps that lead from the command through this file to the program."""
    for _ in range(3):
        trace = trace and trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)

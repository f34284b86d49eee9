"""Ask a person: at a prompt where somebody can answer, from rehearsed lines where a test runs the notebook."""
import os
import sys

from agent_steps.classroom.show_call import show_call, stamp

REHEARSAL_VARIABLE = "AGENT_STEPS_REHEARSAL"   # set by the test set-up; it declares that nobody sits at the keyboard
MOST_QUESTIONS = 10

_rehearsed = {"cell": None, "lines": []}


def rehearse(*lines: str) -> None:
    """Lay down what a person would type in this cell. Used only in a declared rehearsal, and only by this cell."""
    _rehearsed.update(cell=_current_cell(), lines=list(lines))


def ask(prompt: str) -> str:
    """Return what the person types, without spaces around it.

    Where nobody can type, the answer is the next rehearsed line of this cell if this run is a rehearsal, and "n"
    otherwise. The end of a pipe is "q".
    """
    answer, at_its_end = _typed(prompt)
    if answer is not None:
        return answer
    print("\n(No more input: taken as q.)" if at_its_end else f"{prompt.rstrip()}\n(Nobody is here to answer: taken as n.)")
    return "q" if at_its_end else "n"


def typed_line(prompt: str) -> str | None:
    """As ask, but None where nobody can type: there are questions to which no answer may be made up."""
    return _typed(prompt)[0]


def _typed(prompt: str) -> tuple[str | None, bool]:
    """What was typed, or None; and whether that is because the input is at its end."""
    prompt = prompt.rstrip()
    in_notebook = _current_cell() is not None
    try:
        answer = input(prompt if in_notebook else f"{prompt} ")   # JupyterLab puts a space behind the prompt by itself
    except NotImplementedError:   # a notebook without a front end, as under nbval or nbconvert
        return _rehearsed_answer(prompt), False
    except (EOFError, RuntimeError, OSError, ValueError):   # a pipe at its end, no standard input at all, or a closed one
        rehearsed = os.environ.get(REHEARSAL_VARIABLE) and _rehearsed["lines"]
        return (_rehearsed_answer(prompt), False) if rehearsed else (None, True)
    if not in_notebook and not sys.stdin.isatty():
        print(answer)   # a terminal shows what was typed, a pipe does not
    return answer.strip(), False


def _rehearsed_answer(prompt: str) -> str | None:
    answer = next_rehearsed_line()
    if answer is None:
        return None
    print(f"{prompt} {answer}")
    return answer.strip()


def next_rehearsed_line() -> str | None:
    """Take the next rehearsed line of this cell. None if there is none left, or if this run is no rehearsal."""
    if is_rehearsed():
        return _rehearsed["lines"].pop(0)
    return None


def is_rehearsed() -> bool:
    """Whether this run is a rehearsal and lines are left for this cell."""
    return bool(os.environ.get(REHEARSAL_VARIABLE) and _rehearsed["lines"] and _rehearsed["cell"] == _current_cell())


def somebody_is_there() -> bool:
    """Whether this is a cell of a notebook that somebody has open: a front end that can be asked says so in every request."""
    parent = _request()
    return bool(parent and parent["content"].get("allow_stdin"))


def ask_approval(call, folder=".") -> str:
    """Show a tool call and ask about it until the answer is clear. Returns "y", "n", "n: a reason" or "q".

    folder: where the paths of the call begin: there it is looked up what a write would replace.
    """
    seen = None
    for _ in range(MOST_QUESTIONS):
        if seen != (seen := (show_call(call, folder), stamp(call, folder))):
            print(f"\n{seen[0]}")
        answer = ask("Run this tool? [y = yes, n = no, n: reason, q = quit]:")
        if answer.lower() == "y" and (show_call(call, folder), stamp(call, folder)) != seen:
            print("A file that this call is about has changed since you were asked. Look again.")
            continue
        if answer.lower() in ("y", "n", "q"):
            return answer.lower()
        if answer.lower().startswith("n:") and answer[2:].strip():
            return f"n: {answer[2:].strip()}"
        print("Please type y, n or q. To say why not, type n: and the reason.")
    print("(No clear answer: taken as q.)")
    return "q"


def _current_cell():
    """What tells one run of a cell from another: the id of the message that asked for it. None outside a notebook."""
    request = _request()
    return request["header"]["msg_id"] if request else None


def _request():
    """The message that asked for the cell that runs. None outside a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell.kernel.get_parent("shell") if hasattr(shell, "kernel") else None

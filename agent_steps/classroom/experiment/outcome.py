"""What a check finds on the disk, as a part of a row."""
import os
from pathlib import Path

from agent_steps.classroom.experiment.results_file import as_kept
from agent_steps.classroom.experiment.table import COLUMNS


ABSENT = (FileNotFoundError, IsADirectoryError, NotADirectoryError)   # the agent did not make a file, or not as one
MISTAKES = (NameError, TypeError, AttributeError, ImportError)          # an error in the check itself
UNKNOWN = (*MISTAKES, MemoryError, SystemExit)                          # after these nothing is known about the agent


def outcome(check, folder) -> dict:
    """Return what a check finds in a folder: success, and whatever else it gives. Never raises.

    A check that raises has found no success. But if the error is a mistake in the check, or one of this machine, success is
    None, for unknown. check: from the folder's Path to True or False, or to a dict with "success" in it.
    """
    try:
        return as_outcome(check(Path(folder)))
    except (Exception, SystemExit) as error:
        unknown = isinstance(error, UNKNOWN) or (isinstance(error, OSError) and not isinstance(error, ABSENT))
        reason = f"The check raised {type(error).__name__}: {error}".replace(f"{folder}{os.sep}", "")
        return {"success": None if unknown else False, "reason": reason}


def as_outcome(found) -> dict:
    """Return what a check gave as a part of a row. Raises TypeError if it cannot be one."""
    found = as_kept(found if isinstance(found, dict) else {"success": found})
    if found.get("success") not in (True, False):
        raise TypeError(f"The check gave {found!r}. Let it give True or False, or a dict with 'success' in it.")
    if taken := found.keys() & (COLUMNS.keys() - {"success"}):
        raise TypeError(f"The check uses the name {min(taken)!r}, which the table has already. Choose another.")
    return found | {"success": bool(found["success"])}


def check_the_check(check, folder) -> None:
    """Try a check in a folder where no agent has been. Raises ValueError if it is broken, or finds success there."""
    here, found = os.getcwd(), False
    try:
        found = check(Path(folder))
    except UNKNOWN as error:
        raise ValueError(f"The check does not work in a folder where nothing was done. {type(error).__name__}: {error}") from error
    except Exception:   # a file that only the agent can make is not there
        pass
    if os.getcwd() != here:
        os.chdir(here)
        raise ValueError("The check changes the current folder, which all runs share. Let it look into the folder that it is given.")
    if as_outcome(found)["success"]:
        raise ValueError("The check finds success before the agent has done anything. "
                         "Let it look for what only the agent can have made, or take that out of the files.")

"""What a check finds on the disk, as a part of a row."""
import os
from pathlib import Path

from agent_steps.classroom.experiment.results_file import as_kept
from agent_steps.classroom.experiment.table import COLUMNS


def outcome(check, folder) -> dict:
    """Return what a check finds in a folder: success, and whatever else it gives. A check that raises has found no success.

    check: from the folder's Path to True or False, or to a dict with "success" in it. Raises TypeError if it gives something
    else, ValueError if it uses a name that the table has already.
    """
    try:
        found = check(Path(folder))
    except Exception as error:
        return {"success": False, "reason": f"The check raised {type(error).__name__}: {error}".replace(f"{folder}{os.sep}", "")}
    found = as_kept(found if isinstance(found, dict) else {"success": found})
    if found.get("success") not in (True, False):
        raise TypeError(f"The check gave {found!r}. Let it give True or False, or a dict with 'success' in it.")
    if taken := found.keys() & (COLUMNS.keys() - {"success"}):
        raise ValueError(f"The check uses the name {min(taken)!r}, which the table has already. Choose another.")
    return found | {"success": bool(found["success"])}


MISTAKES = (NameError, TypeError, AttributeError, ImportError)   # what an error in the check itself raises, and a missing file does not


def check_the_check(check, folder) -> None:
    """Try a check in a folder where no agent has been. Raises ValueError if it is broken, or finds success there."""
    here = os.getcwd()
    try:
        check(Path(folder))
    except MISTAKES as error:
        raise ValueError(f"The check raised {type(error).__name__}: {error}. It is given the folder's Path, here one where nothing was done.") from error
    except Exception:   # a file that only the agent can make is not there
        pass
    found = outcome(check, folder)
    if os.getcwd() != here:
        os.chdir(here)
        raise ValueError("The check changes the current folder, which all runs share. Let it look into the folder that it is given.")
    if found["success"]:
        raise ValueError("The check finds success before the agent has done anything. "
                         "Let it look for what only the agent can have made, or take that out of the files.")

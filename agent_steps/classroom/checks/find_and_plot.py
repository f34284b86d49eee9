"""The exercises of lesson 11."""
from types import SimpleNamespace

from agent_steps.classroom.checks import want


def _names(run):
    return [turn.call.name for turn in run.turns if turn.call]


def exercise_1(run):
    """A run whose agent looks at the folder again before it says that it is done."""
    want(hasattr(run, "turns"), "Give the check the run, the first of the two things that find_and_plot returns.")
    names = _names(run)
    want(run.completed, f"The run was not completed: {run.stop_reason}.")
    drawn = max((place for place, name in enumerate(names) if name.startswith("run_python")), default=None)
    want(drawn is not None, "The agent never ran any code.")
    want("list_files" in names[drawn:], "After its last script the agent went straight to task_complete. The practice model saw no request to check: "
                                            "try another verb (check, verify, make sure), and name the picture or the folder.")


def exercise_2(is_proven):
    """is_proven(run, paths): True if the run claims to be complete and a picture is there."""
    done, stuck = SimpleNamespace(completed=True, stop_reason="completed"), SimpleNamespace(completed=False, stop_reason="max_steps")
    answers = [is_proven(done, ["a.png"]), is_proven(done, []), is_proven(stuck, []), is_proven(stuck, ["a.png"])]
    want(None not in answers and ... not in answers, "It gave back nothing. Return True or False.")
    want(all(isinstance(answer, bool) for answer in answers), f"It gave {answers}. Return True or False, nothing else.")
    want(answers[0], "Completed, and the picture is there: that is proven.")
    want(is_proven(done, ["a.png", "b.png"]), "Completed, and two pictures are there: that is proven, too.")
    want(not answers[1], "The run says completed, and there is no picture. That is only a claim.")
    want(not answers[3], "There is a picture, but the run was not completed: nobody says that it is the right one.")
    want(not answers[2], "Neither completed nor a picture: nothing is proven.")


def exercise_3(run):
    """A run that draws a histogram of the body mass."""
    want(hasattr(run, "turns"), "Give the check the run, the first of the two things that find_and_plot returns.")
    scripts = [turn.call.arguments.get("content") or turn.call.arguments.get("code", "") for turn in run.turns if turn.call]
    drawn = [script for script in scripts if "savefig" in script]
    want(drawn, "The agent wrote no script that saves a picture.")
    want("hist(" in drawn[-1], "The agent drew another kind of plot. Name the kind in the task.")
    want("body_mass_g" in drawn[-1], "It is a histogram of another column. Name the column as the file spells it.")
    want(run.completed, f"The run was not completed: {run.stop_reason}.")

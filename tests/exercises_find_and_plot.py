"""Right and wrong answers to the exercises of lesson 11: (exercise, arguments of the check) and, if wrong, words of the reason.

A function without arguments stands for what it returns: such an answer takes a run of the agent.
"""
from agent_steps.find_and_plot import TASK, find_and_plot
from agent_steps.providers import connect


def a_run(task=TASK, rules=""):
    return lambda: find_and_plot(connect(), task, rules, approve=lambda call: "y", quiet=True)[0]


RIGHT = [
    (1, a_run(rules="Check your picture before you say that you are done.")),
    (1, a_run(rules="Before finishing, list_files to see whether the file is there.")),
    (2, lambda run, paths: bool(paths) and run.stop_reason == "completed"),
    (2, lambda run, paths: False if not run.completed or len(paths) == 0 else True),
    (3, a_run("Make a histogram of body_mass_g and save it.")),
    (3, a_run("I need a picture: the column body_mass_g as a histogram")),
]
WRONG = [
    (1, a_run(rules="Do not verify the picture."), "straight to task_complete"), (1, a_run(rules="Be quick."), "straight to task_complete"),
    (2, lambda run, paths: run.completed, "only a claim"), (2, lambda run, paths: len(paths) > 0, "not completed"),
    (2, lambda run, paths: run.completed and paths, "nothing else"), (2, lambda run, paths: run.completed and len(paths) == 1, "two pictures"),
    (3, a_run("Plot body_mass_g."), "another kind of plot"), (3, a_run("Make a histogram of flipper_length_mm."), "another column"),
]

# what the exercises' cells use of the lesson
PREPARE = "model, approve_all = connect(), lambda call: 'y'"

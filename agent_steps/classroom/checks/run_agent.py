"""The exercises of lesson 9."""
from types import SimpleNamespace

from agent_steps.classroom.checks import want


def _call(name, **arguments):
    return SimpleNamespace(name=name, arguments=arguments)


def _run(completed, stop_reason, steps):
    def to_frame():
        import pandas

        return pandas.DataFrame([{"steps": steps, "tool_calls": steps, "completed": completed, "stop_reason": stop_reason}])
    return SimpleNamespace(steps=steps, tool_calls=steps, completed=completed, stop_reason=stop_reason, turns=[], to_frame=to_frame)


def exercise_1(approve):
    """approve(call): "y" for list_files and task_complete, "n: a reason" for every other tool."""
    answers = {name: approve(_call(name)) for name in ("list_files", "task_complete", "delete_file", "run_python_code")}
    want(None not in answers.values() and ... not in answers.values(), "It gave back nothing. Return a text.")
    want(not any(isinstance(answer, bool) for answer in answers.values()), "True is no answer here. Return 'y', or 'n: ' and a reason.")
    for name in ("list_files", "task_complete"):
        want(answers[name] == "y", f"{name} only looks or ends, but the answer was {answers[name]!r}.")
    for name in ("delete_file", "run_python_code"):
        want(answers[name] != "y", f"It approved {name}, a tool that it knows nothing of. Name what is allowed, not what is forbidden.")
        want(str(answers[name]).startswith("n: ") and answers[name][3:].strip(),
             f"For {name} it gave {answers[name]!r}. Begin with 'n: ', a space behind the colon, and say why.")


def exercise_2(completion_rate):
    """completion_rate(runs): the share of completed runs, 0.0 for no runs."""
    done, stuck = _run(True, "completed", 3), _run(False, "max_steps", 10)
    found = completion_rate([done, stuck, done, done])
    want(found is not None and found is not ..., "completion_rate gave back nothing. Return a number.")
    want(found != 3, "That is the number of completed runs. Divide it by the number of all runs.")
    want(found != 75, "Give the share, from 0 to 1, not the percentage.")
    want(found == 0.75, f"Of four runs three were completed, but it gave {found!r}.")
    want(completion_rate([stuck]) == 0, "One run, not completed: that should give 0.")
    want(completion_rate([]) == 0, "For an empty list it should give 0.0.")


def exercise_3(with_log):
    """with_log(call_tool, log): a call_tool that writes the names of the tools it runs into the list `log`."""
    log = []

    def call_tool(name, arguments):
        return f"{name} saw {arguments}"

    logged = with_log(call_tool, log)
    want(callable(logged), "with_log should give back a function: define one inside, and return it.")
    want(log == [], "The log is filled before any tool is called.")
    result = logged("list_files", {"path": "."})
    want(result is not None, "The new function calls the tool but does not return its result.")
    want(result == "list_files saw {'path': '.'}", f"The result changed on its way: {result!r}.")
    logged("read_file", {"path": "a.txt"})
    want(log == ["list_files", "read_file"], f"After list_files and read_file the log is {log!r}.")

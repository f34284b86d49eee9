"""The exercises of lesson 9."""
from types import SimpleNamespace

from agent_steps.classroom.checks import want
from agent_steps.providers import connect


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


CASES = {   # what happens: the model's fault, the person's answers, and stop_reason, steps, tool_calls
    "y to everything": (None, ["y"], ("completed", 2, 2)),
    "q": (None, ["q"], ("quit", 1, 0)),
    "n, then y": (None, ["n", "y"], ("completed", 2, 1)),
    "a first reply that is broken": ({1: "malformed_call"}, ["y"], ("completed", 3, 2)),
    "a service that fails in step 2": ({2: "always overload"}, ["y"], ("error", 2, 1)),
    "a model that repeats itself": ("repeat", ["y"], ("repeating", 4, 4)),
}


def exercise_4(my_agent, new_chat):
    """my_agent(chat, task, approve, max_steps): the loop, with the parts of the lesson. new_chat(model): a fresh chat."""
    for case, (faults, answers, wanted) in CASES.items():
        run = _run_of(my_agent, new_chat, faults, answers)
        want(run is not None and run is not ..., "my_agent gave back nothing. Return the run.")
        found = (run.stop_reason, run.steps, run.tool_calls)
        want(found == wanted, f"With {case}, the stop reason, steps and tool calls should be {wanted}, not {found}.")
    run = _run_of(my_agent, new_chat, "repeat", ["y"], max_steps=2)
    want((run.stop_reason, run.steps) == ("max_steps", 2), f"With max_steps=2 it should stop after 2 steps for that reason, not {(run.stop_reason, run.steps)}.")


def _run_of(my_agent, new_chat, faults, answers, **options):
    left = list(answers)

    def approve(call):
        return left.pop(0) if len(left) > 1 else left[0]
    chat = new_chat(connect("practice", faults=faults, max_retries=0))
    return my_agent(chat, "How many CSV files are in this folder?", approve, **options)

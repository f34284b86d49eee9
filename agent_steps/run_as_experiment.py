"""Lesson 14: many runs, one table. Each run has its own chat, its own folder and its own seed, and a check looks at the disk."""
import os
import random
import tempfile
import time
from dataclasses import dataclass, field

from agent_steps.classroom.experiment.identity import fingerprint, fresh_copy, is_drawn
from agent_steps.classroom.experiment.in_flight import Job
from agent_steps.classroom.experiment.marks import mark_of
from agent_steps.classroom.experiment.outcome import check_the_check, outcome
from agent_steps.classroom.experiment.results_file import check_place
from agent_steps.classroom.experiment.running import carry_out, stoppable
from agent_steps.classroom.experiment.table import as_table, check_row
from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Policy, Workspace
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt
from agent_steps.wall.confined import strongest_wall


@dataclass(frozen=True)
class Condition:
    """One way to run the agent. What differs between two conditions is what is compared.

    name: what the table calls it. provider, model, options: for connect. system_prompt: the whole prompt; prompt_name:
    what the table calls that. deny: rules of a Policy, for calls that are refused.
    """

    name: str
    provider: str = "practice"
    model: str | None = None
    prompt_name: str = "usual"
    system_prompt: str = build_system_prompt(TOOL_DEFINITIONS)
    max_steps: int = 15
    deny: tuple = ()
    options: dict = field(default_factory=dict)


def run_seed(seed, number):
    """Return the seed of one run. It depends on the experiment's seed and the run's number alone: any order is right."""
    return random.Random(f"{seed} {number}").getrandbits(32)


def nobody(call):
    """Answer what no rule decides: nobody sits beside an experiment."""
    return "n: nobody is here to ask. Do without it, and say in the summary what you could not do."


def fresh_agent(condition, folder, seed):
    """Return a chat without a history, a Workspace, and a Policy that asks nobody.

    Raises ValueError or ModelError for a condition that cannot work.
    """
    options = dict(condition.options)
    if condition.provider == "practice":
        options["seed"] = seed
    model = connect(condition.provider, condition.model, **options)
    workspace = Workspace(folder)
    # the practice model's programs are known, and no other's
    walled = condition.provider == "practice" or strongest_wall() is not None
    policy = Policy(workspace, deny=condition.deny, allow="*", walled=walled, approve=nobody)
    return Chat(model, condition.system_prompt), workspace, policy


def run_once(condition, task, folder, seed):
    """Let a fresh agent work on a task in a folder. Return the AgentRun, and the model, which counted its tokens."""
    chat, workspace, policy = fresh_agent(condition, folder, seed)
    run = run_agent(chat, task, condition.max_steps, approve=stoppable(policy),
                    call_tool=workspace.call_tool, quiet=True)
    return run, chat.model


def run_row(condition, task, number, seed, check, files):
    """Do one run in a fresh copy of the files. Return its row, a dict.

    What went wrong stands in it, under reason. If the service or this machine failed, success is None: unknown.
    """
    begun = time.perf_counter()
    own_seed = run_seed(seed, number)
    row = settings(condition) | {"run": number, "success": None, "seed": own_seed if is_drawn(condition) else None}
    try:
        with tempfile.TemporaryDirectory(prefix="run_", ignore_cleanup_errors=True) as top:
            folder = fresh_copy(files, top)
            row["began_with"] = fingerprint(folder)
            run, model = run_once(condition, task, folder, own_seed)
            row |= effort(run, model)
            if run.stop_reason != "error":
                row |= outcome(check, folder)
    except Exception as error:
        row |= {"stop_reason": "error", "reason": f"{type(error).__name__}: {error}"}
    return row | {"seconds": time.perf_counter() - begun}


def settings(condition):
    """Return what a condition sets, as a part of a row."""
    rules = [condition.deny] if isinstance(condition.deny, str) else condition.deny
    return {
        "condition": condition.name, "provider": condition.provider, "model": condition.model,
        "prompt": condition.prompt_name, "temperature": condition.options.get("temperature"),
        "max_steps": condition.max_steps, "denied": ", ".join(rules)}


def effort(run, model):
    """Return what a run took and how it ended, as a part of a row. Tokens that nobody reported are None."""
    return run.to_row() | {
        "provider": model.provider.name, "model": model.name, "calls": model.usage.calls,
        "input_tokens": model.usage.input_tokens, "output_tokens": model.usage.output_tokens,
        "cost": model.usage.cost, "no_call": sum(turn.call is None for turn in run.turns),
        "reason": "" if run.completed else run.turns[-1].note or ""}


def run_experiment(conditions, task, *, check, files=None, runs=20, seed=0,
                   results=None, executor=None, at_once=8, max_calls=None):
    """Let the agent do a task again and again under each condition. Return a table (DataFrame) with one row a run.

    conditions: a list of Condition. check: from the working folder, a Path, to True or False, or to a dict with
    "success" in it, whose other entries become columns. files: the folder of which each run gets a copy. runs: for each
    condition. results: a file for the rows; the same call later does what is missing there, and tries errors again.
    executor: who does the runs: any concurrent.futures.Executor; threads if none. at_once: runs at a time. max_calls: the
    most calls of a model (one a step, a client's own tries apart); a must where they cost money.
    Raises ValueError, TypeError or ModelError for what could not work, before the first run.
    """
    conditions = [conditions] if isinstance(conditions, Condition) else list(conditions)
    if not all(isinstance(each, Condition) for each in conditions):
        raise TypeError("conditions is a list of Condition.")
    if min(runs, at_once, *(each.max_steps for each in conditions)) < 1:
        raise ValueError("runs, at_once and max_steps are 1 or more.")
    if files:
        files = os.path.abspath(files)
    try_out(conditions, check, files, max_calls)
    check_place(results, files)
    began_with = fingerprint(files)
    marks = {each.name: mark_of(each, task, seed, check, began_with) for each in conditions}
    jobs = [Job(each.name, number, (each, task, number, seed, check, files), each.max_steps)
            for number in range(1, runs + 1) for each in conditions]
    rows = carry_out(run_row, jobs, marks, results=results, executor=executor, at_once=at_once, max_calls=max_calls)
    return as_table(rows, list(marks))


def try_out(conditions, check, files, max_calls):
    """Find mistakes before the first run. No model is called for it."""
    if not conditions or len({each.name for each in conditions}) < len(conditions):
        raise ValueError("Give at least one condition, and each a name of its own.")
    for each in conditions:
        check_row(settings(each))
    costs = False
    with tempfile.TemporaryDirectory() as top:
        folder = fresh_copy(files, top)
        for each in conditions:
            if not each.provider or {"api_key", "seed"} & each.options.keys():
                raise ValueError("Name the provider. A key comes from the environment, a seed from the experiment.")
            chat, workspace, policy = fresh_agent(each, folder, 0)
            costs = costs or chat.model.provider.costs
        check_the_check(check, folder)
    if costs and max_calls is None:
        most = sum(each.max_steps for each in conditions)
        raise ValueError(f"These calls cost money. Set max_calls. (One run of each makes up to {most} calls.)")

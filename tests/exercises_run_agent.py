"""Right and wrong answers to the exercises of lesson 9: (exercise, arguments of the check) and, if wrong, words of the reason."""
from agent_steps.dispatch_table import call_tool
from agent_steps.plain_chat import Chat
from agent_steps.run_agent import AgentRun, Turn, approval, nudge, observe, refusal, run_agent, think
from agent_steps.tool_definitions import TOOL_DEFINITIONS, build_system_prompt


def by_list(call):
    return "y" if call.name in {"list_files", "task_complete"} else "n: not allowed"


def by_steps(call):
    if call.name == "list_files":
        return "y"
    if call.name == "task_complete":
        return "y"
    return f"n: {call.name} may change something"


def by_forbidding(call):
    return "n: no code" if call.name.startswith("run_") else "y"


def rate_by_loop(runs):
    done = 0
    for run in runs:
        done += 1 if run.completed else 0
    return done / len(runs) if runs else 0.0


def rate_by_mean(runs):
    return sum([run.completed for run in runs]) / max(1, len(runs))


class Logged:
    def __init__(self, call_tool, log):
        self.call_tool, self.log = call_tool, log

    def __call__(self, name, arguments):
        self.log.append(name)
        return self.call_tool(name, arguments)


def logged_by_closure(call_tool, log):
    def call(name, arguments):
        result = call_tool(name, arguments)
        log.append(name)
        return result
    return call


def logged_without_result(call_tool, log):
    return lambda name, arguments: (log.append(name), call_tool(name, arguments)) and None


def new_chat(model):
    return Chat(model, build_system_prompt(TOOL_DEFINITIONS))


def agent_of_the_lesson(chat, task, approve, max_steps=10):
    return run_agent(chat, task, max_steps, approve=approve, quiet=True)


def agent_by_for(chat, task, approve, max_steps=10):
    run, message = AgentRun(task), task
    for step in range(1, max_steps + 1):
        run.steps = step
        turn = Turn(step, message)
        run.turns.append(turn)
        think(chat, run, turn)
        if turn.call is None:
            message = nudge(chat, run, turn)
        else:
            turn.answer = approval(approve, turn.call)
            if turn.answer == "q":
                run.stop_reason = "quit"
            elif turn.answer == "y":
                run.tool_calls += 1
                turn.result = call_tool(turn.call.name, turn.call.arguments)
                message = observe(run, turn)
            else:
                message = refusal(turn)
        if run.stop_reason:
            return run
    run.stop_reason = "max_steps"
    return run


def agent_that_counts_refusals(chat, task, approve, max_steps=10):
    run = agent_by_for(chat, task, approve, max_steps)
    run.tool_calls = sum(turn.call is not None for turn in run.turns)
    return run


def agent_without_limit(chat, task, approve, max_steps=10):
    return agent_by_for(chat, task, approve, 50)


RIGHT = [
    (4, agent_of_the_lesson, new_chat), (4, agent_by_for, new_chat),
    (1, by_list), (1, by_steps), (2, rate_by_loop), (2, rate_by_mean), (3, Logged), (3, logged_by_closure),
]
WRONG = [
    (4, agent_that_counts_refusals, new_chat, "With q"), (4, agent_without_limit, new_chat, "max_steps=2"),
    (4, lambda chat, task, approve, max_steps=10: None, new_chat, "Return the run"),
    (1, lambda call: True, "True is no answer"), (1, by_forbidding, "delete_file"), (1, lambda call: "n: never", "only looks"),
    (2, lambda runs: sum(run.completed for run in runs), "number of all runs"),
    (2, lambda runs: sum(run.completed for run in runs) / len(runs), "ZeroDivisionError"),
    (3, logged_without_result, "does not return"), (3, lambda call_tool, log: call_tool, "the log is"),
]

# what the exercises' cells use of the lesson
PREPARE = "prompt = build_system_prompt(TOOL_DEFINITIONS)"

"""Right and wrong answers to the exercises of lesson 9: (exercise, arguments of the check) and, if wrong, words of the reason."""


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


RIGHT = [
    (1, by_list), (1, by_steps), (2, rate_by_loop), (2, rate_by_mean), (3, Logged), (3, logged_by_closure),
]
WRONG = [
    (1, lambda call: True, "True is no answer"), (1, by_forbidding, "delete_file"), (1, lambda call: "n: never", "only looks"),
    (2, lambda runs: sum(run.completed for run in runs), "number of all runs"),
    (2, lambda runs: sum(run.completed for run in runs) / len(runs), "ZeroDivisionError"),
    (3, logged_without_result, "does not return"), (3, lambda call_tool, log: call_tool, "the log is"),
]

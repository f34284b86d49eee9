"""Right and wrong answers to the exercises of lesson 16: (exercise, arguments of the check) and, if wrong, words of the reason."""
from collections import Counter

import pandas

from agent_steps.call_with_tools import ToolLimitReached, call_with_tools


def by_usage(result):
    total = result.usage["total_tokens"]
    return f"{result.spend['model_calls']} requests, " + ("tokens unknown" if total is None else f"{total} tokens")


def by_used(result):
    used = result.used
    if used.input_tokens is None or used.output_tokens is None:
        return f"{used.calls} requests, tokens unknown"
    return f"{used.calls} requests, {used.input_tokens + used.output_tokens} tokens"


def too_low(result):
    spend = result.spend
    if spend["sent"] is None and spend["received"] is None:
        return f"{spend['model_calls']} requests, tokens unknown"
    return f"{spend['model_calls']} requests, {(spend['sent'] or 0) + (spend['received'] or 0)} tokens"


def zero_is_unknown(result):
    total = result.usage["total_tokens"]
    return f"{result.spend['model_calls']} requests, {f'{total} tokens' if total else 'tokens unknown'}"


def only_sent(result):
    return f"{result.spend['model_calls']} requests, {result.spend['sent']} tokens"


def by_dict(limit):
    counts = {}

    def approve(call):
        counts[call.name] = counts.get(call.name, 0) + 1
        return "y" if counts[call.name] <= limit else f"n: {call.name} was called {limit} times"
    return approve


class ByCounter:
    def __init__(self, limit):
        self.limit, self.counts = limit, Counter()

    def __call__(self, call):
        if self.counts[call.name] >= self.limit:
            return "n: that is enough of this tool, use another"
        self.counts[call.name] += 1
        return "y"


def all_together(limit):
    left = [limit]

    def approve(call):
        left[0] -= 1
        return "y" if left[0] >= 0 else "n: no more calls"
    return approve


def shared_by_all():
    counts = Counter()

    def at_most(limit):
        def approve(call):
            counts[call.name] += 1
            return "y" if counts[call.name] <= limit else "n: too often"
        return approve
    return at_most


def no_reason(limit):
    approve = by_dict(limit)
    return lambda call: approve(call)[0]


def true_or_false(limit):
    approve = by_dict(limit)
    return lambda call: approve(call) == "y"


def one_more(limit):
    return by_dict(limit + 1)


def no_function(limit):
    return "y"


def with_concat(model, task, tools, limit):
    try:
        return call_with_tools(model, task, tools, max_tool_calls=limit).tool_history
    except ToolLimitReached as reached:
        rest = call_with_tools(model, reached.result.messages, tools, max_tool_calls=2 * limit)
        return pandas.concat([reached.result.tool_history, rest.tool_history])


def with_rows(model, task, tools, limit):
    messages, rows = [{"role": "user", "content": task}], []
    for most in (limit, 2 * limit):
        try:
            result = call_with_tools(model, messages, tools, max_tool_calls=most)
        except ToolLimitReached as reached:
            result = reached.result
        rows += result.rows
        if result.stop_reason == "answer":
            break
    return pandas.DataFrame(rows)


def no_going_on(model, task, tools, limit):
    try:
        return call_with_tools(model, task, tools, max_tool_calls=limit).tool_history
    except ToolLimitReached as reached:
        return reached.result.tool_history


def only_the_rest(model, task, tools, limit):
    try:
        return call_with_tools(model, task, tools, max_tool_calls=limit).tool_history
    except ToolLimitReached as reached:
        return call_with_tools(model, reached.result.messages, tools, max_tool_calls=2 * limit).tool_history


def begins_anew(model, task, tools, limit):
    try:
        return call_with_tools(model, task, tools, max_tool_calls=limit).tool_history
    except ToolLimitReached as reached:
        rest = call_with_tools(model, task, tools, max_tool_calls=5 * limit)
        return pandas.concat([reached.result.tool_history, rest.tool_history])


def backwards(model, task, tools, limit):
    return with_concat(model, task, tools, limit)[::-1]


def no_limit(model, task, tools, limit):
    return call_with_tools(model, task, tools).tool_history


def the_result(model, task, tools, limit):
    return call_with_tools(model, task, tools)


def not_caught(model, task, tools, limit):
    return call_with_tools(model, task, tools, max_tool_calls=limit).tool_history


RIGHT = [
    (1, by_usage), (1, by_used), (2, by_dict), (2, ByCounter), (3, with_concat), (3, with_rows),
]
WRONG = [
    (1, too_low, "Then the sum is not known"), (1, zero_is_unknown, "0 is not unknown"), (1, only_sent, "412 together"), (1, lambda result: None, "nothing"),
    (2, all_together, "Each tool may be called twice"), (2, one_more, "After these three"),
    (2, no_reason, "'n: ' and a reason"), (2, true_or_false, "It answered True"), (2, no_function, "no function"), (2, shared_by_all, "counts for itself"),
    (3, no_going_on, "second part"), (3, only_the_rest, "first part"), (3, begins_anew, "do not begin anew"), (3, backwards, "order"),
    (3, no_limit, "first part"), (3, the_result, "Return a table"), (3, not_caught, "ToolLimitReached"), (3, lambda model, task, tools, limit: None, "nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import pandas
from agent_steps.call_with_tools import ToolLimitReached, call_with_tools
"""

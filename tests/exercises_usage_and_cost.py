"""Right and wrong answers to the exercises of lesson 18: (exercise, arguments of the check) and, if wrong, words of the reason."""
import math

from agent_steps.providers.usage import tokens_sent
from agent_steps.usage_and_cost import cost_by_hand


def in_order(dollars):
    if dollars is None:
        return "unknown"
    if dollars == 0:
        return "free"
    return "under $0.0001" if dollars < 0.0001 else f"${dollars:.4f}"


def from_the_other_end(dollars):
    if dollars is not None and dollars >= 0.0001:
        return "$" + format(dollars, ".4f")
    return "unknown" if dollars is None else "under $0.0001" if dollars else "free"


def none_is_nothing(dollars):
    return f"${dollars:.4f}" if dollars else "free"


def none_is_unknown_and_so_is_nothing(dollars):
    return f"${dollars:.4f}" if dollars else "unknown"


def little_is_nothing(dollars):
    return "unknown" if dollars is None else f"${dollars:.4f}" if round(dollars, 4) else "free"


def by_rounding(dollars):
    if not dollars:
        return in_order(dollars)
    return f"${dollars:.4f}" if round(dollars, 4) else "under $0.0001"


def as_python_writes_it(dollars):
    return f"${dollars}" if dollars else in_order(dollars)


def with_the_lesson(requests, rates):
    costs = [each and cost_by_hand(each, rates) for each in requests]
    if not costs or None in costs:
        return None
    return costs.index(max(costs))


def by_hand(requests, rates):
    best, most = None, -1
    for place, usage in enumerate(requests):
        cost = None if usage is None else cost_by_hand(usage, rates)
        if cost is None:
            return None
        if cost > most:
            best, most = place, cost
    return best


def of_those_that_are_known(requests, rates):
    costs = [(each and cost_by_hand(each, rates)) or 0 for each in requests]
    return costs.index(max(costs)) if costs else None


def largest(requests, rates):
    if not requests or None in requests:
        return None
    sizes = [each["total_tokens"] for each in requests]
    return sizes.index(max(sizes))


def without_the_cache(requests, rates):
    if not requests or None in requests:
        return None
    costs = [tokens_sent(each) * rates["input"] + each["output_tokens"] * rates["output"] for each in requests]
    return costs.index(max(costs))


def with_rates_of_its_own(requests, rates):
    return with_the_lesson(requests, {"input": 1, "output": 5, "read": 0.1})


def the_cost_itself(requests, rates):
    return max(cost_by_hand(each, rates) for each in requests)


def zero_is_unknown(requests, rates):
    costs = [each and cost_by_hand(each, rates) for each in requests]
    return costs.index(max(costs)) if costs and all(costs) else None


def fails_for_none(requests, rates):
    costs = [cost_by_hand(each, rates) for each in requests]
    return costs.index(max(costs))


def one_by_one(budget, first, growth):
    number, left, size = 0, budget, first
    while size <= left:
        number, left, size = number + 1, left - size, size + growth
    return number


def by_the_formula(budget, first, growth):
    if not growth:
        return budget // first
    b = 2 * first - growth   # of growth * n² + b * n = 2 * budget
    return (math.isqrt(b * b + 8 * growth * budget) - b) // (2 * growth)


def does_not_grow(budget, first, growth):
    return budget // first


def one_too_many(budget, first, growth):
    number, spent, size = 0, 0, first
    while spent < budget:
        number, spent, size = number + 1, spent + size, size + growth
    return number


def never_all_of_it(budget, first, growth):
    number, left, size = 0, budget, first
    while size < left:
        number, left, size = number + 1, left - size, size + growth
    return number


def by_the_last_request_alone(budget, first, growth):
    return max(0, (budget - first) // growth + 1) if growth else budget // first


RIGHT = [
    (1, in_order), (1, from_the_other_end), (2, with_the_lesson), (2, by_hand), (3, one_by_one), (3, by_the_formula),
]
WRONG = [
    (1, none_is_nothing, "That is not 0"), (1, none_is_unknown_and_so_is_nothing, "It is known"), (1, little_is_nothing, "not nothing"),
    (1, lambda dollars: f"${dollars:.4f}", "For None your code raised TypeError"), (1, lambda dollars: "free", "more than a hundredth"),
    (1, by_rounding, "whatever rounding"), (1, as_python_writes_it, "four digits"), (1, lambda dollars: None, "gave back nothing"),
    (2, of_those_that_are_known, "It may be the dearest"), (2, largest, "five times as much"), (2, without_the_cache, "came from the cache"),
    (2, with_rates_of_its_own, "Use the rates"), (2, the_cost_itself, "and should give back 1"),
    (2, lambda requests, rates: 1 + (with_the_lesson(requests, rates) or 0), "places count from 0"), (2, zero_is_unknown, "known, and cheap"),
    (2, fails_for_none, "raised TypeError"), (2, lambda requests, rates: ..., "gave back nothing"),
    (3, does_not_grow, "100 + 200 + 300 is 600"), (3, one_too_many, "300 more would be too much"), (3, never_all_of_it, "nothing grows"),
    (3, by_the_last_request_alone, "100 + 200 + 300"), (3, lambda budget, first, growth: None, "gave back nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
from agent_steps.usage_and_cost import cost_by_hand
"""

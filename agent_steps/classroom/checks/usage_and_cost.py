"""The exercises of lesson 18."""
import copy

from agent_steps.classroom.checks import NotYet, want
from agent_steps.providers.usage import read_usage, tokens_sent

WRITTEN_OUT = "It is more than a hundredth of a cent, so it is written with four digits behind the point."


def exercise_1(say_cost):
    """say_cost(dollars): a text that tells unknown, free, very little and the rest apart."""
    for dollars, right, why in [
        (0.0123, "$0.0123", WRITTEN_OUT),
        (1.5, "$1.5000", WRITTEN_OUT),
        (12.34567, "$12.3457", WRITTEN_OUT),
        (None, "unknown", "Nobody knows what it cost. That is not 0."),
        (0.0, "free", "It is known, and it is 0."),
        (0, "free", "It is known, and it is 0."),
        (0.00002, "under $0.0001", "That is little, but not nothing."),
        (0.00009, "under $0.0001", "It is less than a hundredth of a cent, whatever rounding makes of it."),
        (0.0001, "$0.0001", "That is a hundredth of a cent, and not less."),
    ]:
        try:
            said = say_cost(dollars)
        except (TypeError, ValueError) as error:
            raise NotYet(f"For {dollars!r} your code raised {type(error).__name__}: {error}. {why}") from None
        want(said is not None and said is not ..., f"For {dollars!r} say_cost gave back nothing. Return a text.")
        want(said == right, f"For {dollars!r} it says {said!r}, and should say {right!r}. {why}")


RATES = {"input": 1, "output": 5, "read": 0.1}


def _request(sent, received, cached=0):
    return read_usage({"prompt_tokens": sent, "completion_tokens": received, "prompt_tokens_details": {"cached_tokens": cached}}, "openai")


def exercise_2(dearest):
    """dearest(requests, rates): the place of the request that cost most, or None."""
    few, many, cached = _request(100, 10), _request(900, 20), _request(5000, 20, cached=4900)
    written = read_usage({"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 5}, "anthropic")
    for requests, right, why in [
        ([few, many, few], 1, "The second costs most, and places count from 0."),
        ([many], 0, "There is only one."),
        ([_request(400, 10), _request(100, 100), few], 1, "Received tokens cost five times as much as sent ones here."),
        ([many, cached], 0, "Most of the second came from the cache, and is cheap: 4,900 tokens at 0.1."),
        ([_request(0, 0), few], 1, "A request that costs 0 is known, and cheap."),
        ([many, None, few], None, "Nobody knows what the second cost. It may be the dearest."),
        ([None], None, "Nobody knows what it cost."),
        ([many, written], None, "There is no rate for what the cache took, so the cost of the second is unknown. It may be the dearest."),
        ([], None, "There is none."),
    ]:
        shown = [each and {"sent": tokens_sent(each), "received": each["output_tokens"]} for each in requests]
        try:
            came = dearest(copy.deepcopy(requests), dict(RATES))
        except (TypeError, ValueError, KeyError) as error:
            raise NotYet(f"For the requests {shown}: your code raised {type(error).__name__}: {error}. {why}") from None
        want(came is not ..., "dearest gave back nothing. Return a place, or None.")
        want(came == right and not isinstance(came, bool), f"For the requests {shown} it gave back {came!r}, and should give back {right!r}. {why}")
    other = dearest([_request(400, 10), _request(100, 100)], {"input": 5, "output": 1})
    want(other == 0, f"With a rate of 5 for the input and of 1 for the output, the first of two requests costs more, but it gave back {other!r}. Use the rates.")


def exercise_3(requests_within):
    """requests_within(budget, first, growth): how many requests fit into a budget of tokens."""
    for budget, first, growth, right, why in [
        (1000, 100, 0, 10, "Ten of 100 tokens each: nothing grows."),
        (600, 100, 100, 3, "100 + 200 + 300 is 600, which is not more than the budget."),
        (599, 100, 100, 2, "100 + 200 is 300, and 300 more would be too much."),
        (50, 100, 10, 0, "Not even the first is possible."),
        (0, 100, 10, 0, "Not even the first is possible."),
        (100, 100, 50, 1, "The first uses all of it up."),
        (10_000, 100, 100, 13, "The requests grow, so each costs more than the last."),
        (20_000, 100, 100, 19, "Twice the budget of 10,000, where 13 were possible."),
    ]:
        came = requests_within(budget, first, growth)
        want(came is not None and came is not ..., "requests_within gave back nothing. Return a number.")
        want(came == right and not isinstance(came, bool),
             f"With a budget of {budget}, a first request of {first} and a growth of {growth} it says {came!r}, and should say {right}. {why}")

"""Lesson 18: what a run takes: tokens, dollars, and an honest "unknown". And a budget that ends a run in time."""
import copy
import datetime
import json
import math
from dataclasses import dataclass, field

from agent_steps.providers import ModelError
from agent_steps.providers.prices import CACHE_TAKES, date_of_prices, provider_called, request_cost
from agent_steps.providers.usage import Usage, read_usage, tokens_sent, total


def cost_by_hand(usage, rates):
    """Return what the tokens of one request cost in dollars, or None where a rate is missing.

    usage: as read_usage returns it. rates: dollars for a million tokens, by kind: "input",
    "output", "read" and "written" for what a cache gave and took, "kept" for what it keeps an hour.
    """
    written, kept = usage["cache_creation"].values()
    read = usage["cache_read_input_tokens"]
    plain = tokens_sent(usage) - read - written - kept
    counts = {"input": plain, "output": usage["output_tokens"],
              "read": read, "written": written, "kept": kept}
    dollars = total(count * rates[kind] if kind in rates else None
                    for kind, count in counts.items() if count)
    return None if dollars is None else dollars / 1_000_000


def usage_cost(model, provider, usage, when=None):
    """Return what tokens cost in dollars, or None where nobody can say. An estimate, made offline.

    model: its name. provider: its name, or `model.provider`. usage: what one reply reported, in
    either format, or the usage of a run. when: the time of the request, a datetime; None is now.
    """
    row = provider_called(provider)
    if row is None or not isinstance(model, str):
        return None
    reported = usage.to_dict() if hasattr(usage, "to_dict") else usage   # as a client gives it
    requests = reported.get("requests") if isinstance(reported, dict) else None
    if not isinstance(requests, list):   # no run
        requests = [read_usage(reported, row.wire)]
    return total(request_cost(model, row, each, when) for each in requests)


def prices_snapshot_date():
    """Return the date of the prices, a datetime.date: not when they were loaded, but looked up."""
    return date_of_prices()


def prices_snapshot_stale(max_age_days=90, today=None):
    """Return whether the prices are older than this. today: a date, also as text; None is the real day."""
    day = datetime.date.fromisoformat(str(today or datetime.date.today())[:10])   # without an hour
    looked_up = prices_snapshot_date() or datetime.date.min
    return (day - looked_up).days > max_age_days


class BudgetReached(ModelError):
    """The next request might take more than is left. It was not made."""

    stop_reason = "budget"


def tokens_ahead(text, text_before="", tokens_before=0):
    """Estimate the tokens of a request with this text, from the one before it.

    What was sent before takes what it took. What is new is reckoned at a token for two bytes.
    """
    if not text.startswith(text_before):   # another conversation, or a shortened one: all is new
        text_before, tokens_before = "", 0
    new = text[len(text_before):].encode("utf-8", "replace")
    return tokens_before + math.ceil(len(new) / 2)


def what_it_takes(model, sent, received, cache=None):
    """Return what a request of so many tokens may take, in "dollars" and in "tokens".

    cache: the option of this name (lesson 19). With one, all that is sent might be written to it.
    """
    reckoned = math.ceil(sent * CACHE_TAKES.get(cache, 1))
    usage = read_usage({"input_tokens": reckoned, "output_tokens": received}, model.wire)
    return {"dollars": request_cost(model.name, model.provider, usage), "tokens": sent + received}


def shown(number, kind):
    """Write an amount of dollars or tokens for people."""
    return f"${number:.4f}" if kind == "dollars" else f"{number:,} tokens"


def check_room(kind, limit, spent, ahead):
    """Raise BudgetReached if the limit, None for no limit, might be exceeded."""
    if limit is not None and spent is None:
        raise BudgetReached("Nobody knows what an earlier reply took, so nothing was sent.")
    if limit is not None and spent + ahead > limit:
        raise BudgetReached(
            f"The budget is {shown(limit, kind)}, of which {shown(spent, kind)} is used up. "
            f"The next request might take {shown(ahead, kind)} more, so it was not sent.")


@dataclass
class Budget:
    """What a model may use up, in "dollars" and in "tokens", and what it has."""

    model: object
    limits: dict
    longest_reply: int
    wider: object = None      # what looked at the model's requests already, as another budget
    spent: dict = field(default_factory=lambda: {"dollars": 0.0, "tokens": 0})
    counted: int = 0          # requests that are in `spent`
    asked: str = ""           # the last request that was let through
    before: tuple = ("", 0)   # the last one that was answered, and its tokens

    def look_ahead(self, system, messages, tools, parameters):
        """Look at a request before it is made. Raises BudgetReached if it might be too much."""
        if self.wider:
            self.wider(system, messages, tools, parameters)
        self.count()
        parts = [system, list(tools), *messages]
        text = "".join(json.dumps(part, ensure_ascii=False) for part in parts)
        options = {**self.model.options, **parameters}
        longest = options.get("max_tokens") or self.longest_reply
        sent = tokens_ahead(text, *self.before)
        ahead = what_it_takes(self.model, sent, longest, options.get("cache"))
        for kind, limit in self.limits.items():
            check_room(kind, limit, self.spent[kind], ahead[kind])
        self.asked = text

    def count(self):
        """Add what the replies since the last time reported."""
        requests = self.model.usage.requests
        for request in requests[self.counted:]:
            cost = request_cost(self.model.name, self.model.provider, request)
            took = {"dollars": cost, "tokens": request and request["total_tokens"]}
            self.spent = {kind: total([self.spent[kind], took[kind]]) for kind in took}
            if request:
                self.before = (self.asked, tokens_sent(request))
        self.counted = len(requests)


def within_budget(model, dollars=None, tokens=None, longest_reply=1000):
    """Return a copy of the model that makes no request which might exceed a budget, and counts anew.

    dollars, tokens: for all its requests together; None is no limit. longest_reply: tokens that
    a reply is reckoned with, and limited to. Its requests, one at a time, raise BudgetReached.
    The model counts them, too, and its own budget, if it has one, holds for them as well.
    Raises ValueError for a budget that cannot be kept.
    """
    limits = {"dollars": dollars, "tokens": tokens}
    if longest_reply < 1 or not all(limit is None or limit >= 0 for limit in limits.values()):
        raise ValueError("A budget is 0 or more, longest_reply is 1 or more.")
    limited = copy.copy(model)
    limited.usage = Usage(model=limited, part_of=model.usage)
    longest_reply = min(longest_reply, model.options.get("max_tokens") or longest_reply)
    limited.options = {**model.options, "max_tokens": longest_reply}
    budget = Budget(limited, limits, longest_reply, wider=model.before_request)
    if dollars is not None and what_it_takes(model, 1, 1)["dollars"] is None:
        raise ValueError(f"Nobody knows what {model.name!r} costs. Give the budget in tokens.")
    limited.before_request = budget.look_ahead
    return limited

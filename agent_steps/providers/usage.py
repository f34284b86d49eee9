"""What requests took: counted as they are answered, and put under one set of names for both formats."""
import math
from dataclasses import dataclass, field
from numbers import Integral

from agent_steps.providers.prices import request_cost, shown_cost

COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
PARTS = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")   # of the last one: kept for five minutes, for an hour

OWN_NAMES = {"openai": ("prompt_tokens", "completion_tokens"), "anthropic": ("input_tokens", "output_tokens")}


@dataclass
class Usage:
    """What a model was used for so far. Token counts turn to None for good once a reply reports none.

    model: the Model that was used. requests: what each reply reported, as read_usage returns it. part_of: a Usage that counts it too.
    """

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    model: object = field(default=None, repr=False, compare=False)
    requests: list = field(default_factory=list, repr=False)
    part_of: "Usage | None" = field(default=None, repr=False, compare=False)

    def count(self, request: dict | None) -> None:
        """Add one call. request: what read_usage made of its report."""
        self.calls += 1
        self.requests.append(request)
        self.input_tokens = total([self.input_tokens, request and tokens_sent(request)])
        self.output_tokens = total([self.output_tokens, request and request["output_tokens"]])
        if self.part_of:
            self.part_of.count(request)

    def to_dict(self) -> dict:
        """Return the sums, the requests, and the cost in dollars: what usage_cost of lesson 18 takes. Unknown is None.

        The requests stay in it: some prices depend on the size of a single request, so a sum alone could not be priced.
        """
        sums = {name: total(each and each[name] for each in self.requests) for name in COUNTS}
        parts = {part: total(each and each["cache_creation"][part] for each in self.requests) for part in PARTS}
        return sums | {"cache_creation": parts, "cost": self.cost, "requests": list(self.requests)}

    @property
    def cost(self) -> float | None:
        """What it cost so far in dollars, at today's prices; None for unknown."""
        return self.model and total(request_cost(self.model.name, self.model.provider, each) for each in self.requests)


def shown_use(uses: list) -> str:
    """Say how many tokens some requests took together, sent and received, and what they cost. uses: a Usage each, or None for unknown."""
    counts = [(use.input_tokens, use.output_tokens, use.cost) if use else (None,) * 3 for use in uses]
    sent, received, dollars = (total(numbers) for numbers in zip(*counts, strict=True)) if counts else (None,) * 3
    if sent is None:
        return "unknown"
    return f"{sent:,} sent, {received:,} received, {shown_cost(dollars, uses[0].model.provider)}"


def total(numbers):
    """Add numbers up. One that is unknown makes the sum unknown."""
    numbers = list(numbers)
    if None in numbers:
        return None
    if any(isinstance(number, float) for number in numbers):
        return math.fsum(numbers)   # rounded once, at the end; sum rounds in other places since Python 3.12
    return sum(numbers)


def tokens_sent(usage: dict) -> int:
    """All tokens that were sent in one request, whatever a cache had of them."""
    return usage["total_tokens"] - usage["output_tokens"]


def read_usage(reported, wire: str) -> dict | None:
    """Put what a reply reported, in either format, under the names COUNTS and "cache_creation". None for unknown.

    input_tokens stays as each format has it: in OpenAI's it is all that was sent, in Anthropic's it is without what a cache
    gave (read) and took (creation). total_tokens is all that was sent and received, in both.
    """
    own_sent, own_received = OWN_NAMES[wire]   # first: some servers report 0 under the other format's names
    sent = _tokens(reported, own_sent, "input_tokens", "prompt_tokens")
    received = _tokens(reported, own_received, "output_tokens", "completion_tokens")
    if sent is None or received is None:
        return None
    thought = _tokens(reported, "completion_tokens_details.reasoning_tokens") or 0
    if _tokens(reported, "total_tokens") == sent + received + thought:   # a service that counts thoughts apart, as xAI; they are paid for
        received += thought
    read = _tokens(reported, "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens") or 0
    taken = _tokens(reported, "prompt_tokens_details.cache_write_tokens", "input_tokens_details.cache_write_tokens", "cache_creation_input_tokens") or 0
    short, hour = (_tokens(reported, f"cache_creation.{part}") or 0 for part in PARTS)
    short = max(short, taken - hour)   # a sum that is not told apart is of the short kind
    apart = read + short + hour if wire == "anthropic" else 0
    sent_in_all = max(sent + apart, read + short + hour)   # a server that miscounts
    return dict(zip(COUNTS, (sent, received, sent_in_all + received, read, short + hour))) | {"cache_creation": dict(zip(PARTS, (short, hour)))}


def _tokens(reported, *names: str) -> int | None:
    """The first of these counts that was reported. A dot leads into a dict."""
    for name in names:
        value = reported
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, (Integral, float)) and not isinstance(value, bool) and value >= 0 and value % 1 == 0:
            return int(value)   # a whole number may have become a float in a table
    return None

"""What tokens cost: by the table of the library genai-prices, which is installed with the course. No network is used.

Estimates at the standard rates. A bill may differ: there are batches, service tiers, discounts and taxes.
"""
import re
from datetime import date, datetime
from decimal import Decimal

from agent_steps.providers.catalogue import PROVIDERS, Provider

# The practice model costs nothing. So that there is something to reckon with, it has pretended prices, in dollars for a
# million tokens. Those of its cache stand to the first one as Anthropic's do.
PRACTICE_PRICES = {"input_mtok": "1", "output_mtok": "5", "cache_read_mtok": "0.1", "cache_write_mtok": "1.25", "cache_write_1h_mtok": "2"}
# What a cache takes costs so many times what plain input does, by Anthropic's rates. The keys are how long it is kept.
CACHE_TAKES = {"5m": 1.25, "auto": 1.25, "1h": 2}
CHECKED = re.compile(r"(?:as of|checked|checked on|verified|verified on|last updated)\s+(20\d\d-[01]\d-[0-3]\d)", re.I)


def provider_called(provider: str | Provider | None) -> Provider | None:
    """Return the provider of this name, in capitals or not; a Provider itself is returned as it is. None if there is none."""
    return provider if isinstance(provider, Provider) else PROVIDERS.get(str(provider).strip().lower())


def request_cost(model: str, provider: Provider, usage: dict | None, when: datetime | None = None) -> float | None:
    """Return what one request cost in dollars; None for unknown, also if there is no rate for a kind of its tokens; 0 on one's own machine.

    usage: as read_usage returns it, None for unknown. when: the time of the request; some prices change with the date or the hour. None: now.
    """
    if provider.name == "ollama" and not model.endswith("-cloud"):   # those with this ending run elsewhere, for money
        return 0.0
    if usage is None:   # then no prices are loaded
        return None
    price = price_of(model, provider, when)
    short, hour = usage["cache_creation"].values()
    needed = {"input_mtok": 1, "output_mtok": 1, "cache_read_mtok": usage["cache_read_input_tokens"],
              "cache_write_mtok": short, "cache_write_1h_mtok": hour}
    if any(count and getattr(price, rate, None) is None for rate, count in needed.items()):
        return None
    from genai_prices import Usage

    tokens = Usage(   # here, what a cache gave and took is a part of the input
        input_tokens=usage["total_tokens"] - usage["output_tokens"], output_tokens=usage["output_tokens"],
        cache_read_tokens=usage["cache_read_input_tokens"], cache_write_tokens=short + hour, cache_write_1h_tokens=hour)
    return float(price.calc_price(tokens)["total_price"])


def price_of(model: str, provider: Provider, when: datetime | None = None):
    """Return the price of a model, a genai_prices.types.ModelPrice, or None where none is known. when: as for request_cost.

    model: its name, which may begin with the provider's and a slash, as many programs write it.
    """
    from genai_prices import Usage, calc_price   # here, since loading the table takes half a second
    from genai_prices.types import ModelPrice

    if provider.name == "practice":
        return ModelPrice(**{name: Decimal(price) for name, price in PRACTICE_PRICES.items()})
    name = model.removeprefix(f"{provider.name}/")
    try:
        return calc_price(Usage(), model_ref=name, provider_api_url=provider.base_url, genai_request_timestamp=when).model_price
    except LookupError:
        return None


def date_of_prices() -> date | None:
    """Return the newest day on which a price in the table was checked: the table is not older. None if it names no such day.

    The library stamps its table with the time at which it was loaded. But those who keep it write down when they looked.
    """
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    if snapshot.from_auto_update:   # fetched in this session, so that the stamp is right
        return snapshot.timestamp.date()
    kept = [*snapshot.providers, *(model for provider in snapshot.providers for model in provider.models)]
    days = [day for each in kept for day in CHECKED.findall(each.price_comments or "")]
    return date.fromisoformat(max(days)) if days else None


def shown_cost(dollars: float | None, provider: Provider) -> str:
    """A cost for people: "$0.0123", "cost unknown", and of the practice model "as if $0.0123"."""
    if dollars is None:
        return "cost unknown"
    return ("as if " if provider.name == "practice" else "") + f"${dollars:.4f}"

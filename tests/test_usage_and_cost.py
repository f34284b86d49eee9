"""Lesson 18: a price for tokens, or an honest "unknown". And a budget that ends a run before too much was spent."""
import contextlib
import datetime
import json
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import anthropic
import httpx2
import numpy
import openai
import pandas
import pytest
from genai_prices import data_snapshot
from genai_prices.types import StartDateConstraint, TieredPrices, TimeOfDateConstraint
from scripted import call_text, done, scripted_chat

from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom.worker import Worker
from agent_steps.find_and_plot import TASK
from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Workspace
from agent_steps.plain_chat import Chat
from agent_steps.providers import ModelError, connect, prices
from agent_steps.providers.catalogue import COMPATIBLE, PROVIDERS
from agent_steps.providers.clients import practice_client
from agent_steps.providers.prices import price_of, request_cost
from agent_steps.providers.usage import read_usage, tokens_sent, total
from agent_steps.run_agent import run_agent
from agent_steps.run_as_experiment import Condition, run_experiment
from agent_steps.sessions import ChatSession
from agent_steps.tool_definitions import build_system_prompt
from agent_steps.usage_and_cost import (
    Budget, BudgetReached, cost_by_hand, prices_snapshot_date, prices_snapshot_stale, tokens_ahead, usage_cost, what_it_takes, within_budget)

DATA = Path(__file__).parents[1] / "data"
DEFINITIONS = [each for each in TOOL_DEFINITIONS if each["name"] != "task_complete"]
INDEX = "Write INDEX.md: one line for each CSV file in this folder, with its path and the names of its columns."   # runs no program: quick
COUNT = "How many CSV files are in this folder?"
HELLO = {"role": "user", "content": "Hello"}
KINDS = {"input": "input_mtok", "output": "output_mtok", "read": "cache_read_mtok", "written": "cache_write_mtok", "kept": "cache_write_1h_mtok"}

both_wires = pytest.mark.parametrize("wire", ["openai", "anthropic"])


def openai_report(sent=1000, received=500, cached=None):
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received, **details}


def anthropic_report(sent=1000, received=500, **more):
    return {"input_tokens": sent, "output_tokens": received, **more}


def kept(five_minutes=0, hour=0):
    return {"cache_creation": {"ephemeral_5m_input_tokens": five_minutes, "ephemeral_1h_input_tokens": hour}}


def list_files(path: str = ".") -> str:
    """List all files in a folder."""
    return "a.csv\nb.csv"


# ---- what is checked against known prices ----

DEFAULT = PROVIDERS["openai"].model
KNOWN = [
    ("gpt-4o", "openai", openai_report(), 0.0075),
    (DEFAULT, "openai", openai_report(cached=400), 0.00273),
    ("claude-sonnet-4-6", "anthropic", anthropic_report(), 0.0105),
    ("claude-sonnet-4-6", "anthropic", anthropic_report(**kept(five_minutes=1000)), 0.01425),
    ("claude-sonnet-4-6", "anthropic", anthropic_report(**kept(hour=1000)), 0.0165),
    ("claude-sonnet-4-6", "anthropic", anthropic_report(cache_read_input_tokens=1000), 0.0108),
]


@pytest.mark.parametrize("model, provider, usage, dollars", KNOWN, ids=lambda value: "" if isinstance(value, dict) else value)
def test_the_checked_prices_come_out(model, provider, usage, dollars):
    assert usage_cost(model, provider, usage) == pytest.approx(dollars, abs=1e-12)


def test_a_name_with_its_date_and_one_by_openrouter_are_known():
    assert usage_cost("gpt-4o-2024-11-20", "openai", openai_report()) == pytest.approx(0.0075)
    assert usage_cost("openai/gpt-4o", "openrouter", openai_report()) == pytest.approx(0.0075)


def test_the_pretended_prices_of_the_practice_model_stand_as_anthropics_do():
    for usage, dollars in [({}, 3500), ({"cache_read_input_tokens": 1000}, 3600), (kept(five_minutes=1000), 4750), (kept(hour=1000), 5500)]:
        assert usage_cost("practice", connect("practice", wire="anthropic").provider, anthropic_report(**usage)) == pytest.approx(dollars / 1e6)


# ---- unknown, and known to be nothing ----

@pytest.mark.parametrize("model, provider", [
    ("my-model", "openai"), ("", "openai"), (None, "openai"), (3, "openai"), ("gpt-4o", "a friend"), ("gpt-4o", None), ("gpt-4o", ""),
    ("my-model", COMPATIBLE), ("gpt-4o", "ollama-cloud"), ("big-model-cloud", "ollama")])
def test_what_nobody_knows_is_none_and_not_0(model, provider):
    assert usage_cost(model, provider, openai_report()) is None


@pytest.mark.parametrize("usage", [
    None, {}, [], "100", 7, {"prompt_tokens": 5}, {"completion_tokens": 5}, {"prompt_tokens": None, "completion_tokens": None},
    {"prompt_tokens": -1, "completion_tokens": 5}, {"prompt_tokens": "100", "completion_tokens": 5}, {"prompt_tokens": True, "completion_tokens": 5},
    {"prompt_tokens": 1.5, "completion_tokens": 5}, {"prompt_tokens": float("nan"), "completion_tokens": 5}])
def test_a_report_without_counts_is_unknown(usage):
    assert usage_cost("gpt-4o", "openai", usage) is None


@pytest.mark.parametrize("details", [None, {}, {"cached_tokens": None}, {"cached_tokens": -4}, {"cached_tokens": "5"}, {"cached_tokens": True}, [], "x"])
def test_a_cache_that_reports_nothing_had_nothing(details):
    assert usage_cost("gpt-4o", "openai", openai_report() | {"prompt_tokens_details": details}) == pytest.approx(0.0075)


def test_on_ones_own_machine_it_is_0_whatever_the_model_and_the_report():
    assert usage_cost("my-model", "ollama", openai_report()) == usage_cost("my-model", PROVIDERS["ollama"], None) == 0


def test_no_request_costs_nothing():
    assert usage_cost("gpt-4o", "openai", {"requests": []}) == usage_cost("gpt-4o", "openai", openai_report(0, 0)) == 0


def test_one_unknown_request_makes_a_run_unknown():
    known = read_usage(openai_report(), "openai")
    assert usage_cost("gpt-4o", "openai", {"requests": [known, known]}) == pytest.approx(0.015)
    assert usage_cost("gpt-4o", "openai", {"requests": [known, None]}) is None
    assert total([1, None]) is None and total([]) == 0


def models_of(row):
    """The models that the library has for a provider of the catalogue."""
    found = [each for each in data_snapshot.get_snapshot().providers if row.base_url and re.match(each.api_pattern, row.base_url)]
    return found[0].models if found else []


PRICED = [name for name, row in PROVIDERS.items() if models_of(row)]


def test_cached_tokens_without_a_rate_are_unknown_and_never_at_the_full_rate():
    found = 0
    for row in map(PROVIDERS.get, PRICED):
        for model in models_of(row):
            price = price_of(model.id, row)
            if not price or None in (price.input_mtok, price.output_mtok) or price.cache_read_mtok is not None:
                continue
            found += 1
            assert usage_cost(model.id, row.name, openai_report()) is not None
            assert request_cost(model.id, row, read_usage(openai_report(cached=1), "openai")) is None
    assert found > 50


@pytest.mark.parametrize("name", PRICED)
def test_by_hand_it_is_what_the_library_says_for_every_price_that_is_flat(name):
    row, compared = PROVIDERS[name], 0
    usages = [openai_report(), openai_report(1000, 500, cached=400), openai_report(10, 0, cached=10)]
    if row.wire == "anthropic":
        usages = [anthropic_report(), anthropic_report(cache_read_input_tokens=700), anthropic_report(**kept(300, 200))]
    for model in models_of(row):
        price = price_of(model.id, row)
        known = {kind: getattr(price, key) for kind, key in KINDS.items() if getattr(price, key, None) is not None}
        others = [key for key, value in vars(price).items() if value is not None and key not in KINDS.values()] if price else []
        if not {"input", "output"} <= known.keys() or others or not all(isinstance(rate, Decimal) for rate in known.values()):
            continue
        rates = {kind: float(rate) for kind, rate in known.items()}
        for usage in usages:
            expected = cost_by_hand(read_usage(usage, row.wire), rates)
            assert usage_cost(model.id, name, usage) == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-15)), (model.id, usage)
            compared += 1
    assert compared


def test_many_small_requests_are_not_priced_as_a_large_one():
    model, start = next((model.id, price.input_mtok.tiers[0].start) for model in models_of(PROVIDERS["anthropic"])
                        if isinstance((price := price_of(model.id, PROVIDERS["anthropic"])).input_mtok, TieredPrices))
    small, large = anthropic_report(start - 1, 0), anthropic_report(start + 1, 0)
    one, dear = usage_cost(model, "anthropic", small), usage_cost(model, "anthropic", large)
    assert dear > 1.1 * one
    requests = [read_usage(small, "anthropic")] * 4
    run = {"input_tokens": 4 * (start - 1), "output_tokens": 0, "requests": requests}
    assert usage_cost(model, "anthropic", run) == pytest.approx(4 * one)
    assert usage_cost(model, "anthropic", {name: run[name] for name in ("input_tokens", "output_tokens")}) > 4.4 * one   # a sum has no price


def test_a_price_that_changed_on_a_day_is_that_of_the_request():
    def changed():
        for row in map(PROVIDERS.get, PRICED):
            for model in models_of(row):
                for entry in model.prices if isinstance(model.prices, list) else []:
                    if isinstance(entry.constraint, StartDateConstraint):
                        yield row, model.id, entry.constraint.start_date

    different = 0
    for row, model, day in changed():
        noon = datetime.datetime.combine(day, datetime.time(12), datetime.UTC)
        before, after = (usage_cost(model, row.name, openai_report(), when=noon + datetime.timedelta(days)) for days in (-1, 0))
        different += before != after
    assert different


def test_a_price_of_some_hours_is_that_of_the_hour():
    row = PROVIDERS["deepseek"]
    model, hours = next((model.id, entry.constraint) for model in models_of(row) if isinstance(model.prices, list)
                        for entry in model.prices if isinstance(entry.constraint, TimeOfDateConstraint))
    days = [datetime.datetime(2026, 11, 1, hour, 59, tzinfo=datetime.UTC) for hour in range(24)]
    assert len({usage_cost(model, row.name, openai_report(), when=when) for when in days}) > 1, hours


# ---- reports ----

def test_a_flat_count_of_what_a_cache_took_is_kept_for_five_minutes():
    flat = read_usage(anthropic_report(cache_creation_input_tokens=1000), "anthropic")
    assert flat == read_usage(anthropic_report(**kept(1000)), "anthropic") and flat["cache_creation_input_tokens"] == 1000


def test_what_the_parts_leave_open_is_kept_for_five_minutes_too():
    usage = read_usage(anthropic_report(cache_creation_input_tokens=1000, **kept(hour=400)), "anthropic")
    assert usage["cache_creation"] == {"ephemeral_5m_input_tokens": 600, "ephemeral_1h_input_tokens": 400}


def test_both_formats_have_the_same_total():
    ours = read_usage(openai_report(1000, 500, cached=800), "openai")
    theirs = read_usage(anthropic_report(200, 500, cache_read_input_tokens=800), "anthropic")
    assert ours["total_tokens"] == theirs["total_tokens"] == 1500 and tokens_sent(ours) == tokens_sent(theirs) == 1000


def test_a_cache_that_had_more_than_was_sent_makes_no_negative_price():
    usage = read_usage(openai_report(100, 10, cached=400), "openai")
    assert tokens_sent(usage) == 400 and cost_by_hand(usage, {"input": 1, "output": 1, "read": 1}) == pytest.approx(410 / 1e6)
    assert usage_cost(DEFAULT, "openai", openai_report(100, 10, cached=400)) > 0


def test_by_hand_only_the_rates_that_are_needed_are_needed():
    assert cost_by_hand(read_usage(openai_report(1000, 0), "openai"), {"input": 2}) == pytest.approx(0.002)
    for missing in ("input", "output", "read", "written", "kept"):
        rates = {kind: 1 for kind in KINDS if kind != missing}
        usage = read_usage(anthropic_report(1, 2, cache_read_input_tokens=3, **kept(4, 5)), "anthropic")
        assert cost_by_hand(usage, rates) is None and cost_by_hand(usage, rates | {missing: 1}) == pytest.approx(15 / 1e6)


REPORTS = {
    "openai": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "prompt_tokens_details": {"cached_tokens": 700}},
    "anthropic": {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 200, **kept(150, 50)},
}
CHUNK = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "practice"}


def whole(wire):
    if wire == "openai":
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "practice", "choices": [choice], "usage": REPORTS[wire]}
    return {"id": "1", "type": "message", "role": "assistant", "model": "practice", "content": [{"type": "text", "text": "Hello."}],
            "stop_reason": "end_turn", "usage": REPORTS[wire]}


def events(wire):
    """The same reply as a stream; in Anthropic's format the first event already counts what was sent, and one token of the reply."""
    if wire == "openai":
        deltas = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello."}, "finish_reason": None}]},
                  {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": REPORTS[wire]}]
        return "".join(f"data: {json.dumps(CHUNK | delta)}\n\n" for delta in deltas) + "data: [DONE]\n\n"
    told = [{"type": "message_start", "message": whole(wire) | {"content": [], "stop_reason": None, "usage": REPORTS[wire] | {"output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 50}},
            {"type": "message_stop"}]
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in told)


def reporting(wire):
    """A model over the real client whose replies report what a cache had."""
    def respond(request):
        return httpx2.Response(200, text=events(wire)) if json.loads(request.content).get("stream") else httpx2.Response(200, json=whole(wire))

    model = connect("practice", wire=wire)
    model.client = practice_client(wire, httpx2.MockTransport(respond), model.base_url, 0)
    return model


@both_wires
def test_the_reports_of_both_clients_are_read_whole_or_streamed(wire):
    model = reporting(wire)
    model.native_reply([HELLO])
    in_one = model.last_request
    assert (in_one["cache_read_input_tokens"], in_one["total_tokens"]) == (700, 1050)
    list(model.native_chunks([HELLO]))
    assert model.last_request == in_one
    assert model.usage.cost == pytest.approx(2 * usage_cost("practice", model.provider, REPORTS[wire])) and model.usage.calls == 2


@both_wires
def test_a_streamed_reply_of_the_practice_model_costs_what_the_whole_one_does(wire):
    model = connect("practice", wire=wire)
    session = ChatSession(model)
    said = session.chat("Hello")
    session.clear()
    session.stream("Hello", show=lambda *words, **more: None)
    assert session.last_reply.usage == said.usage and said.usage["cost"] > 0 and len(model.usage.requests) == 2


def test_the_names_are_those_of_the_field():
    usage = connect().usage.to_dict()
    assert list(usage) == ["input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation",
                           "cost", "requests"]


@pytest.mark.parametrize("provider", ["OpenAI", "OPENAI", " openai "])
def test_a_provider_may_be_written_in_capitals(provider):
    assert usage_cost("gpt-4o", provider, openai_report()) == pytest.approx(0.0075)


def test_a_name_may_begin_with_its_provider():
    assert usage_cost("openai/gpt-4o", "openai", openai_report()) == pytest.approx(0.0075)
    assert usage_cost("anthropic/claude-sonnet-4-6", "anthropic", anthropic_report()) == pytest.approx(0.0105)
    assert usage_cost("anthropic/gpt-4o", "openai", openai_report()) is None


@pytest.mark.parametrize("provider", [["openai"], {}, 7])
def test_what_is_no_provider_has_no_prices(provider):
    assert usage_cost("gpt-4o", provider, openai_report()) is None


def test_flat_names_are_read_for_a_model_of_openais_format_too():
    flat = {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500, "cache_read_input_tokens": 400}
    assert usage_cost(model=DEFAULT, provider="openai", usage=flat) == pytest.approx(0.00273)
    assert usage_cost(DEFAULT, "openai", read_usage(flat, "openai")) == pytest.approx(0.00273)


@pytest.mark.parametrize("said", [{"total_tokens": 7}, {"total_tokens": None}, {"total_tokens": "many"}, {"requests": 1}, {"requests": None}, {"cost": 9}])
def test_what_else_a_report_says_changes_no_price(said):
    assert usage_cost("gpt-4o", "openai", openai_report() | said) == usage_cost("gpt-4o", "openai", openai_report())


@both_wires
def test_where_both_formats_are_reported_its_own_names_count(wire):
    mixed = {**openai_report(), **anthropic_report()}
    other = {"openai": ("input_tokens", "output_tokens"), "anthropic": ("prompt_tokens", "completion_tokens")}[wire]
    usage = read_usage(mixed | dict.fromkeys(other, 0), wire)   # some servers report 0 there
    assert (usage["input_tokens"], usage["output_tokens"]) == (1000, 500)


@pytest.mark.parametrize("kind", [float, numpy.int64, numpy.int32, numpy.float64])
def test_numbers_from_a_table_are_read(kind):
    assert usage_cost("gpt-4o", "openai", {"prompt_tokens": kind(1000), "completion_tokens": kind(500)}) == pytest.approx(0.0075)


@pytest.mark.parametrize("count", [1.5, float("inf"), float("nan"), numpy.float64("nan"), -1.0])
def test_numbers_that_count_nothing_are_not(count):
    assert usage_cost("gpt-4o", "openai", {"prompt_tokens": count, "completion_tokens": 500}) is None


def test_what_a_client_gives_is_read_as_it_is():
    ours = openai.types.CompletionUsage.model_validate(openai_report(cached=400))
    theirs = anthropic.types.Usage.model_validate(anthropic_report(**kept(five_minutes=1000)))
    assert usage_cost(DEFAULT, "openai", ours) == pytest.approx(0.00273)
    assert usage_cost("claude-sonnet-4-6", "anthropic", theirs) == pytest.approx(0.01425)


def test_what_a_model_was_used_for_is_read_as_it_is():
    model = connect()
    model.reply("", [HELLO])
    assert usage_cost(model.name, model.provider, model.usage) == model.usage.cost > 0


def test_what_openais_other_format_says_of_a_cache_is_read_too():
    usage = anthropic_report(1000, 500) | {"input_tokens_details": {"cached_tokens": 400}}
    assert usage_cost(DEFAULT, "openai", usage) == pytest.approx(0.00273)


def test_thoughts_that_are_counted_apart_are_paid_for_and_others_are_not_counted_twice():
    thought = {"completion_tokens_details": {"reasoning_tokens": 300}}
    within, apart = openai_report(1000, 500) | thought, openai_report(1000, 200) | thought | {"total_tokens": 1500}
    assert read_usage(within, "openai") == read_usage(apart, "openai") == read_usage(openai_report(1000, 500), "openai")


# ---- runs ----

@pytest.fixture
def handler(tmp_path):
    """Make the folder anew, and what works in it."""
    def fresh():
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        shutil.copytree(DATA, tmp_path / "work")
        return Workspace(tmp_path / "work").call_tool
    return fresh


@both_wires
def test_the_usage_of_a_run_can_be_priced_again_also_from_a_file(wire, handler):
    model = connect("practice", wire=wire)
    usage = call_with_tools(model, TASK, DEFINITIONS, handler=handler()).usage
    assert usage["cost"] == usage_cost(model.name, model.provider, usage) == usage_cost(model.name, "practice", json.loads(json.dumps(usage)))
    plain = usage["input_tokens"] - 0.9 * usage["cache_read_input_tokens"]   # a cache gives a token for a tenth
    assert usage["cost"] == pytest.approx((plain + 5 * usage["output_tokens"]) / 1e6)
    assert usage["cost"] == model.usage.cost and len(usage["requests"]) == 7


@both_wires
@pytest.mark.parametrize("turn", [1, 2])
def test_one_reply_without_usage_makes_cost_and_spend_unknown(wire, turn):
    model = connect("practice", wire=wire, faults={turn: "missing_usage"})
    result = call_with_tools(model, COUNT, list_files)
    assert result.usage["cost"] is result.usage["total_tokens"] is result.spend["sent"] is model.usage.cost is None
    assert result.usage["requests"].count(None) == 1 and usage_cost(model.name, model.provider, result.usage) is None


def test_a_run_counts_for_itself_and_the_model_for_all():
    model = connect()
    first, second = (call_with_tools(model, COUNT, list_files) for _ in range(2))
    assert first.usage == second.usage and model.usage.cost == pytest.approx(2 * first.usage["cost"])


# ---- how old the prices are ----

def test_the_date_is_the_newest_day_on_which_somebody_looked_and_not_that_of_loading():
    notes = [each.price_comments or "" for provider in data_snapshot.get_snapshot().providers for each in [provider, *provider.models]]
    days = [day for note in notes for day in prices.CHECKED.findall(note)]
    assert prices_snapshot_date() == max(map(datetime.date.fromisoformat, days)) < datetime.date.today()
    assert data_snapshot.get_snapshot().timestamp.date() > prices_snapshot_date()


def test_it_does_not_move_with_the_clock(monkeypatch):
    before, snapshot = prices_snapshot_date(), data_snapshot.get_snapshot()
    monkeypatch.setattr(snapshot, "timestamp", snapshot.timestamp + datetime.timedelta(400))
    assert prices_snapshot_date() == before


def snapshot_of(comments, **more):
    provider = data_snapshot.get_snapshot().providers[0]
    kept = [type(provider)(id=str(place), name="", api_pattern="x", models=[], price_comments=comment) for place, comment in enumerate(comments)]
    return data_snapshot.DataSnapshot(providers=kept, **more)


def test_prices_that_were_fetched_in_this_session_have_the_date_of_fetching(monkeypatch):
    fetched = snapshot_of(["as of 2026-01-02"], from_auto_update=True, timestamp=datetime.datetime(2026, 10, 9, 8))
    monkeypatch.setattr(data_snapshot, "_custom_snapshot", fetched)
    assert prices_snapshot_date() == datetime.date(2026, 10, 9)


def test_a_table_that_names_no_day_has_no_date_and_is_stale(monkeypatch):
    monkeypatch.setattr(data_snapshot, "_custom_snapshot", snapshot_of(["cheap since 2026-01-02", None], from_auto_update=False))
    assert prices_snapshot_date() is None and prices_snapshot_stale()


@pytest.mark.parametrize("days, limit, stale", [(0, 90, False), (90, 90, False), (91, 90, True), (1, 0, True), (0, 0, False), (-5, 90, False), (31, 30, True)])
def test_stale_is_older_than_the_limit_and_not_as_old(days, limit, stale):
    assert prices_snapshot_stale(limit, prices_snapshot_date() + datetime.timedelta(days)) is stale


@pytest.mark.parametrize("days, stale", [(90, False), (91, True), (-400, False)])
def test_a_day_may_be_a_text_or_have_an_hour(days, stale):
    day = prices_snapshot_date() + datetime.timedelta(days)
    late = datetime.datetime.combine(day, datetime.time(23, 59))
    for today in (day, str(day), late, late.replace(tzinfo=datetime.UTC), late.isoformat(), pandas.Timestamp(late), numpy.datetime64(day)):
        assert prices_snapshot_stale(today=today) is stale


def test_without_a_day_it_is_today_that_counts():
    age = (datetime.date.today() - prices_snapshot_date()).days
    assert prices_snapshot_stale(age - 1) and not prices_snapshot_stale(age + 1)


def in_a_fresh_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.split()


def test_no_prices_are_loaded_before_they_are_needed():
    code = ("import sys; from agent_steps.providers import connect; model = connect(); "
            "model.reply('', [{'role': 'user', 'content': 'Hello'}]); print('genai_prices' in sys.modules); model.usage.cost; print('genai_prices' in sys.modules)")
    assert in_a_fresh_python(code) == ["False", "True"]


def test_no_socket_is_opened_for_a_price():
    code = ("import socket; socket.socket.connect = socket.getaddrinfo = None; from agent_steps.usage_and_cost import *; "
            "print(usage_cost('gpt-4o', 'openai', {'prompt_tokens': 1000, 'completion_tokens': 500}), prices_snapshot_date() is None)")
    assert in_a_fresh_python(code) == ["0.0075", "False"]


# ---- budgets ----

def bounds(cost):
    return [cost * share / 20 for share in range(1, 50, 3)]


@both_wires
def test_no_budget_of_a_loop_is_exceeded_and_the_history_can_be_gone_on_from(wire, handler):
    whole_run = call_with_tools(connect("practice", wire=wire), INDEX, DEFINITIONS, handler=handler()).usage
    endings = []
    for dollars in bounds(whole_run["cost"]):
        model, work, messages = within_budget(connect("practice", wire=wire), dollars=dollars), handler(), [{"role": "user", "content": INDEX}]
        try:
            endings.append(call_with_tools(model, messages, DEFINITIONS, handler=work).stop_reason)
        except BudgetReached as error:
            endings.append(error.result.stop_reason)
            assert error.result.messages is messages and error.result.usage["cost"] == pytest.approx(model.usage.cost)
            rest = call_with_tools(within_budget(connect("practice", wire=wire), dollars=1), messages, DEFINITIONS, handler=work)
            assert rest.stop_reason == "answer" and rest.messages is messages
            assert rest.usage["cost"] + error.result.usage["cost"] == pytest.approx(whole_run["cost"])
        assert model.usage.cost <= dollars
    assert endings == sorted(endings, reverse=True) and {"budget", "answer"} == set(endings)   # more money never gets less far


@both_wires
def test_no_budget_of_an_agent_is_exceeded_and_its_run_says_why_it_ended(wire, handler):
    prompt = build_system_prompt(TOOL_DEFINITIONS)
    for limit in ({"dollars": 0.001}, {"dollars": 0.012}, {"dollars": 0.014}, {"dollars": 0.017}, {"tokens": 3000}, {"tokens": 12_000}, {"dollars": 9, "tokens": 9000}):
        model = within_budget(connect("practice", wire=wire), **limit)
        run = run_agent(Chat(model, prompt), INDEX, approve=lambda call: "y", call_tool=handler(), quiet=True)
        assert run.stop_reason == "budget" and not run.completed
        assert model.usage.cost <= limit.get("dollars", 9) and model.usage.input_tokens + model.usage.output_tokens <= limit.get("tokens", 10**9)
        assert run.turns[-1].note.startswith("The budget is ") and run.turns[-1].used is None


@both_wires
def test_a_budget_of_twice_what_a_run_costs_is_enough(wire, handler):
    whole_run = call_with_tools(connect("practice", wire=wire), TASK, DEFINITIONS, handler=handler()).usage
    for limit in ({"dollars": 2 * whole_run["cost"]}, {"tokens": 2 * whole_run["total_tokens"]}):
        result = call_with_tools(within_budget(connect("practice", wire=wire), **limit), TASK, DEFINITIONS, handler=handler())
        assert result.stop_reason == "answer" and result.usage == whole_run


def test_it_stops_only_where_the_request_might_have_been_too_much():
    model = within_budget(connect(), tokens=5000)
    with pytest.raises(BudgetReached, match=r"^The budget is 5,000 tokens, of which 0 tokens is used up\. The next request might take 6,0\d\d tokens more"):
        model.reply("", [{"role": "user", "content": "x" * 10_000}])
    assert model.usage.calls == 0
    assert model.reply("", [HELLO]) and model.usage.calls == 1


def test_what_is_not_sent_reaches_no_transport():
    asked = []
    model = connect()
    model.client = practice_client("openai", httpx2.MockTransport(lambda request: asked.append(request)), model.base_url, 0)
    limited = within_budget(model, dollars=0)
    for say in (lambda: limited.reply("", [HELLO]), lambda: limited.native_reply([HELLO]), lambda: list(limited.native_chunks([HELLO])),
                lambda: ChatSession(limited).chat("Hello"), lambda: list(ChatSession(limited).pieces("Hello"))):
        with pytest.raises(BudgetReached):
            say()
    assert asked == []


def test_a_session_keeps_within_a_budget_and_goes_on_with_another():
    model = within_budget(connect(), tokens=1300)
    session = ChatSession(model, "You are kind.")
    with pytest.raises(BudgetReached):
        for _ in range(100):
            session.chat("My name is Ada.")
    length = len(session.history)
    assert length == 2 * model.usage.calls and 200 <= model.usage.input_tokens + model.usage.output_tokens <= 1300
    session.model = within_budget(connect(), tokens=2000)
    assert session.chat("What is my name?").content == "Your name is Ada." and len(session.history) == length + 2


@both_wires
def test_after_a_reply_without_usage_nobody_knows_what_is_left(wire):
    for limit in ({"dollars": 1}, {"tokens": 10**6}):
        model = within_budget(connect("practice", wire=wire, faults={1: "missing_usage"}), **limit)
        with pytest.raises(BudgetReached, match="^Nobody knows what an earlier reply took") as stopped:
            call_with_tools(model, COUNT, list_files)
        assert stopped.value.result.usage["cost"] is None and model.usage.calls == 1


def test_a_stream_that_was_left_early_leaves_nobody_knowing():
    session = ChatSession(within_budget(connect(), tokens=10**6))
    next(session.pieces("Hello"))
    with pytest.raises(BudgetReached, match="Nobody knows"):
        session.chat("Hello")


def test_without_a_limit_it_only_counts():
    model = within_budget(connect("practice", faults={1: "missing_usage"}))
    assert call_with_tools(model, COUNT, list_files).stop_reason == "answer" and model.usage.calls == 2


def test_a_model_without_a_known_price_takes_a_budget_in_tokens_only():
    for model in (connect("auto", model="my-model", base_url="http://localhost:8000/v1"), connect("ollama", "big-model-cloud")):
        with pytest.raises(ValueError, match=f"Nobody knows what '{model.name}' costs"):
            within_budget(model, dollars=1, tokens=100)
        assert within_budget(model, tokens=100).name == model.name
    assert within_budget(connect("ollama", "my-model"), dollars=0)   # which costs nothing


@pytest.mark.parametrize("wrong", [{"dollars": -1}, {"tokens": -1}, {"dollars": float("nan")}, {"tokens": float("nan")}, {"dollars": 1, "longest_reply": 0}])
def test_a_budget_that_cannot_be_kept_is_refused(wrong):
    with pytest.raises(ValueError, match="A budget is 0 or more"):
        within_budget(connect(), **wrong)


@both_wires
def test_a_reply_is_limited_to_what_was_reckoned(wire):
    question = [{"role": "user", "content": "How do I list the files in a folder in Python?"}]
    model = within_budget(connect("practice", wire=wire), tokens=10_000, longest_reply=12)
    model.native_reply(question)
    assert (model.stop_reason, model.last_request["output_tokens"]) == ("length", 12)
    stricter = within_budget(connect("practice", wire=wire, max_tokens=8), tokens=10_000)
    stricter.native_reply(question)
    assert stricter.last_request["output_tokens"] == 8


def test_a_request_with_a_limit_of_its_own_is_reckoned_with_that():
    model = within_budget(connect(), tokens=2000)
    assert model.native_reply([HELLO], max_tokens=1900)
    with pytest.raises(BudgetReached):
        model.native_reply([HELLO], max_tokens=2000)


def test_the_model_itself_is_left_as_it_was():
    model = connect("practice", max_tokens=50)
    limited = within_budget(model, tokens=0)
    assert model.before_request is None and model.options == {"max_tokens": 50} and model.reply("", [HELLO])
    assert (model.usage.calls, limited.usage.calls) == (1, 0)


def test_the_model_counts_what_its_copy_uses():
    model = connect()
    within_budget(within_budget(model, dollars=1), tokens=5000).reply("", [HELLO])
    assert model.usage.calls == 1 and model.usage.cost > 0


@both_wires
@pytest.mark.parametrize("wide, narrow", [({"tokens": 1500}, {"tokens": 10**6}), ({"tokens": 10**6}, {"tokens": 1500}),
                                          ({"dollars": 0.006}, {"tokens": 10**6}), ({"tokens": 10**6}, {"dollars": 0.006})])
def test_of_two_budgets_both_hold_whichever_model_is_used(wire, wide, narrow):
    wider = within_budget(connect("practice", wire=wire), **wide)
    both = within_budget(wider, **narrow)
    with pytest.raises(BudgetReached, match="1,500|0.0060"):
        for _ in range(100):
            both.reply("", [HELLO])
            if narrow.get("tokens") == 10**6:   # then the wider one is the smaller
                wider.reply("", [HELLO])
    used, limits = wider.usage, wide | {name: min(value, wide.get(name, value)) for name, value in narrow.items()}
    assert used.calls > 1 and used.cost <= limits.get("dollars", 1) and used.input_tokens + used.output_tokens <= limits["tokens"]


def test_what_somebody_else_looks_for_before_a_request_is_still_looked_for():
    model, seen = connect(), []
    model.before_request = lambda *request: seen.append(request)
    within_budget(model, tokens=10_000).reply("Be kind.", [HELLO])
    assert seen == [("Be kind.", [HELLO], (), {})]


def test_a_request_that_failed_does_not_spoil_the_estimate():
    model = within_budget(connect("practice", faults={2: "always overload"}, max_retries=0), tokens=10**6)
    budget = model.before_request.__self__
    model.reply("", [HELLO])
    long = [HELLO, {"role": "assistant", "content": "x" * 20_000}, HELLO]
    for _ in range(2):
        with pytest.raises(ModelError, match="overloaded"):
            model.reply("", long)
    assert len(budget.before[0]) < 200 and budget.spent["tokens"] == model.usage.requests[0]["total_tokens"]


def test_the_estimate_grows_by_a_token_for_two_bytes():
    assert tokens_ahead("x" * 100) == 50 and tokens_ahead("x" * 101) == 51 and tokens_ahead("") == 0
    assert tokens_ahead("x" * 1000, "x" * 900, 200) == 250 and tokens_ahead("x" * 900, "x" * 900, 200) == 200


def test_of_a_shortened_conversation_or_another_one_all_is_new():
    assert tokens_ahead("x" * 450, "x" * 900, 200) == 225 and tokens_ahead("y" * 1000, "x" * 900, 200) == 500


@both_wires
def test_another_conversation_of_the_same_size_is_not_taken_for_the_one_before(wire):
    model = within_budget(connect("practice", wire=wire), tokens=1600, longest_reply=60)
    for _ in range(3):   # three bytes each, of which the practice model makes a quarter of a token
        model.native_reply([{"role": "user", "content": "\u4f60" * 1000}])
    with pytest.raises(BudgetReached):   # as many bytes, three times the tokens
        model.native_reply([{"role": "user", "content": "x" * 3000}])
    assert model.usage.calls == 3


@both_wires
@pytest.mark.parametrize("cache, times", [("none", 1), (None, 1), ("5m", 1.25), ("auto", 1.25), ("1h", 2)])
def test_what_a_cache_might_take_is_reckoned_with_where_one_is_asked_for(wire, cache, times):
    model = connect("practice", wire=wire)
    model.options = {"cache": cache}
    assert what_it_takes(model, 1000, 100, cache) == {"dollars": pytest.approx((1000 * times + 500) / 1e6), "tokens": 1100}
    budget = Budget(model, {"dollars": 0.0015}, 100)
    with pytest.raises(BudgetReached) if times > 1 else contextlib.nullcontext():
        budget.look_ahead("", [{"role": "user", "content": "x" * 1700}], [], {})


def test_a_cache_that_is_asked_for_with_one_request_is_reckoned_with_too():
    budget = Budget(connect(), {"dollars": 0.0015}, 100)
    with pytest.raises(BudgetReached):
        budget.look_ahead("", [{"role": "user", "content": "x" * 1700}], [], {"cache": "1h"})


def test_no_limit_on_the_length_of_a_reply_is_none_at_all():
    model = connect()
    model.options = {"max_tokens": None}
    assert within_budget(model, tokens=100, longest_reply=7).options == {"max_tokens": 7}


def test_a_reply_with_a_price_that_nobody_knows_ends_a_budget_in_dollars_with_a_true_reason():
    row = PROVIDERS["openai"]
    name = next(model.id for model in models_of(row) if usage_cost(model.id, row, openai_report()) and usage_cost(model.id, row, openai_report(cached=1)) is None)
    model = connect("openai", name, api_key="k")
    limited = within_budget(model, dollars=1)
    limited.usage.count(read_usage(openai_report(cached=1), "openai"))
    with pytest.raises(BudgetReached, match="^Nobody knows what an earlier reply took, so nothing was sent.$"):
        limited.reply("", [HELLO])


@both_wires
def test_a_request_that_is_tried_again_stays_within_the_budget(wire):
    model, messages = within_budget(connect("practice", wire=wire, faults={2: "always overload"}, max_retries=0), tokens=10_000), [{"role": "user", "content": COUNT}]
    with pytest.raises(ModelError, match="overloaded"):
        call_with_tools(model, messages, list_files, tries=3, wait_seconds=0)
    assert model.usage.calls == 1 and len(messages) == 3
    model.client = connect("practice", wire=wire).client
    assert call_with_tools(model, messages, list_files).stop_reason == "answer" and model.usage.calls == 2
    stopped = within_budget(connect("practice", wire=wire), tokens=10)
    with pytest.raises(BudgetReached):   # and a budget is no reason to try again
        call_with_tools(stopped, COUNT, list_files, tries=3, wait_seconds=60)


def test_bytes_are_counted_and_not_characters():
    budget = Budget(connect(), {"tokens": 10**9}, 10)
    budget.look_ahead("", [{"role": "user", "content": "x" * 300}], [], {})
    assert tokens_ahead("\u4f60" * 300) == tokens_ahead("x" * 900) == 450
    budget.look_ahead("", [{"role": "user", "content": "\ud83d"}], [], {})   # half a character


# ---- where it shows ----

LIST = call_text("list_files", path=".")


def test_the_run_table_says_that_the_budget_ended_it():
    chat = scripted_chat(LIST, done())
    chat.model = within_budget(chat.model, tokens=1050)
    run = run_agent(chat, "look around", approve=lambda call: "y", quiet=True)
    assert run.stop_reason == "budget" and run.steps == 2
    for view in (repr(run), run._repr_html_()):
        assert "the next request might have cost more than the budget allows" in view and "The budget is 1,050 tokens" in view
    took = f"{chat.model.usage.input_tokens} sent, {chat.model.usage.output_tokens} received, as if ${chat.model.usage.cost:.4f}"
    assert f"Tokens: {took}." in repr(run)


def test_a_run_that_could_not_begin_is_shown_too():
    chat = scripted_chat(done())
    chat.model = within_budget(chat.model, dollars=0)
    run = run_agent(chat, "look around", approve=lambda call: "y", quiet=True)
    assert (run.stop_reason, run.steps, run.tool_calls) == ("budget", 1, 0)
    assert "budget" in repr(run) and run.to_row()["stop_reason"] == "budget"


def test_the_panel_is_told_what_was_used_so_far():
    worker = Worker(run_agent, scripted_chat(LIST, done()), "look around", quiet=True)
    worker.answers.put("y")
    worker.answers.put("y")
    worker.start()
    worker.join(10)
    told = []
    while not worker.events.empty():
        told.append(worker.events.get().took)
    assert told[0] == "" and re.fullmatch(r"\d+ sent, \d+ received, as if \$\d\.\d{4}", told[1])
    assert told[-1] != told[1] and told[-1].startswith(f"{worker.original.model.usage.input_tokens:,} sent")


def yes(folder):
    return (folder / "a.txt").exists()


WRITER = Condition("writer", options={"script": [call_text("write_file", path="a.txt", content="1"), done()]})


def test_the_column_of_an_experiment_is_the_cost_of_each_run_and_unknown_is_missing():
    silent = Condition("silent", options=WRITER.options | {"faults": {1: "missing_usage"}})
    table = run_experiment([WRITER, silent], "Write a.txt.", check=yes, runs=2)
    known, unknown = (table[table["condition"] == name] for name in ("writer", "silent"))
    assert known["cost"].tolist() == pytest.approx(((known["input_tokens"] + 5 * known["output_tokens"]) / 1e6).tolist())
    assert unknown["cost"].isna().all() and unknown["success"].all() and str(table["cost"].dtype) == "Float64"


def test_results_from_before_there_was_a_cost_are_read_and_their_cost_is_unknown(tmp_path):
    results = tmp_path / "results.jsonl"
    first = run_experiment(WRITER, "Write a.txt.", check=yes, runs=2, results=results)
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        del line["row"]["cost"]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    table = run_experiment(WRITER, "Write a.txt.", check=yes, runs=3, results=results)
    assert table["cost"].isna().tolist() == [True, True, False] and list(table.columns) == list(first.columns)
    assert table["success"].all() and len(results.read_text(encoding="utf-8").splitlines()) == 3   # those of before were not done again


def test_a_budget_that_is_reached_is_an_outcome_of_the_agent_and_no_broken_run(monkeypatch, tmp_path):
    monkeypatch.setattr("agent_steps.run_as_experiment.connect", lambda *names, **options: within_budget(connect(*names, **options), tokens=1700))
    results = tmp_path / "results.jsonl"
    table = run_experiment(WRITER, "Write a.txt.", check=yes, runs=2, results=results)
    assert table["stop_reason"].tolist() == ["budget"] * 2 and table["success"].notna().all()
    assert table["reason"].str.startswith("The budget is 1,700 tokens").all() and (table["cost"] < 0.0085).all()
    run_experiment(WRITER, "Write a.txt.", check=yes, runs=2, results=results)
    assert len(results.read_text(encoding="utf-8").splitlines()) == 2   # nor is it tried again


def test_a_sum_of_dollars_is_the_same_in_every_python():
    assert total([0.1] * 10) == 1.0 and total([0.1, None]) is None
    assert total([1, 2]) == 3 and isinstance(total([1, 2]), int) and total([]) == 0

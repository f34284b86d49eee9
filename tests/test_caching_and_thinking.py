"""Lesson 19: what a run sends in all, what a cache gives and takes, thoughts apart from the answer, and the two options of connect."""
import copy
import json
import random
import struct
import warnings

import httpx2
import pytest

from agent_steps.caching_and_thinking import cache_savings, same_beginning, split_thinking, tokens_of_run, without_cache
from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom.plot_lines import plot_lines
from agent_steps.plain_chat import Chat
from agent_steps.providers import ModelError, connect
from agent_steps.providers.catalogue import PROVIDERS
from agent_steps.providers.clients import practice_client
from agent_steps.providers.extras import DEFAULT_MAX_TOKENS, in_request, warn_if_all_thought
from agent_steps.providers.usage import read_usage, tokens_sent
from agent_steps.sessions import ChatSession, ask
from agent_steps.usage_and_cost import cost_by_hand, usage_cost, within_budget

WIRES = ("openai", "anthropic")
both_wires = pytest.mark.parametrize("wire", WIRES)
HELLO = {"role": "user", "content": "Hello"}
GREETING = "Hello. I am the practice model. Ask me what the lesson asks."
QUESTION = {"role": "user", "content": "How many CSV files are in the data folder?"}
RULES = "\n".join(f"Rule {number}: look first, then act, and say which file you mean." for number in range(1, 101))
SYSTEM = {"role": "system", "content": RULES}
SHORT_MARK, LONG_MARK = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
RATES = {"input": 1, "output": 5, "read": 0.1, "written": 1.25, "kept": 2}   # the practice model's
THINKING = {"type": "thinking", "thinking": "2 and 2.", "signature": "sealed"}
ALL_THOUGHT = "still thinking"


def list_files(path: str) -> str:
    """List all files in a folder."""
    return "data/README.md\ndata/harbour/notes.txt\ndata/harbour/tides.csv\ndata/penguins.csv"


def run_of(rounds, *first, wire="anthropic", **options):
    """The usage of a run with so many rounds."""
    model = connect("practice", wire=wire, faults="repeat", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call_with_tools(model, [*first, QUESTION], list_files, max_rounds=rounds).usage


def warned(what):
    """The texts of the warnings that a function gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        what()
    return [str(each.message) for each in caught]


def message_of(*blocks, stop_reason="end_turn"):
    """A response in Anthropic's format."""
    return httpx2.Response(200, json={"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop_reason,
                                      "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 5}})


def answering(*responses, **options):
    """A model whose real client gets these responses, and the list of what it sends."""
    model, sent = connect("practice", wire="anthropic", **options), []
    waiting = list(responses) or [message_of({"type": "text", "text": "Hello."})] * 3

    def respond(request):
        sent.append(json.loads(request.content))
        return waiting[len(sent) - 1]

    model.client = practice_client("anthropic", httpx2.MockTransport(respond), model.base_url, 0)
    return model, sent


def request_of(messages=(SYSTEM, HELLO), parameters=(), **options):
    """The request that is really sent."""
    model, sent = answering(**options)
    model.native_reply(list(messages), **dict(parameters))
    return sent[0]


# ---- what a run sends ----

@pytest.mark.parametrize("first, each, requests, tokens", [(64, 45, 0, 0), (64, 45, 1, 64), (64, 45, 3, 64 + 109 + 154), (10, 0, 7, 70)])
def test_a_run_sends_its_first_request_and_what_each_round_adds_again_and_again(first, each, requests, tokens):
    assert tokens_of_run(first, each, requests) == tokens


def test_the_formula_of_the_lesson_gives_the_same_sum():
    assert all(tokens_of_run(64, 45, n) == 64 * n + 45 * n * (n - 1) // 2 for n in range(100))


@both_wires
@pytest.mark.parametrize("rounds", [1, 5, 20])
def test_a_measured_run_sends_what_is_reckoned(wire, rounds):
    sent = [tokens_sent(request) for request in run_of(rounds, wire=wire)["requests"]]
    assert sum(sent[:-1]) == tokens_of_run(sent[0], sent[1] - sent[0] if rounds > 1 else 0, rounds)


def test_twice_a_long_run_sends_four_times_as_much():
    assert 3.9 < tokens_of_run(64, 45, 2000) / tokens_of_run(64, 45, 1000) < 4


def test_a_history_that_grows_at_its_end_keeps_all_but_the_closing_bracket():
    messages = [SYSTEM, HELLO, {"role": "assistant", "content": GREETING}, HELLO]
    assert same_beginning(messages[:2], messages) == len(json.dumps(messages[:2])) - 1


def test_what_changes_at_the_beginning_leaves_nothing_and_at_the_end_nearly_all():
    clocks = "12:00:01", "12:00:02"
    first = same_beginning(*([{"role": "system", "content": f"{clock} {RULES}"}, HELLO] for clock in clocks))
    last = same_beginning(*([{"role": "system", "content": f"{RULES} {clock}"}, HELLO] for clock in clocks))
    assert first < 50 and last > len(RULES)


def test_equal_requests_have_everything_in_common_and_others_the_bracket():
    assert same_beginning([HELLO], [HELLO]) == len(json.dumps([HELLO]))
    assert same_beginning([], [HELLO]) == 1


def test_every_letter_counts_as_one_character():
    before, after = ([{"role": "user", "content": text}] for text in ("日本ä", "日本ö"))
    assert same_beginning(before, before) == same_beginning([{"role": "user", "content": "abc"}], [{"role": "user", "content": "abc"}])
    assert same_beginning(before, after) == len('[{"role": "user", "content": "日本')


# ---- what a cache saved ----

def reported(**counts):
    return read_usage({"output_tokens": 10, **counts}, "anthropic")


def test_without_a_cache_everything_is_plain_input():
    request = reported(input_tokens=5, cache_read_input_tokens=1000, cache_creation_input_tokens=300, cache_creation={"ephemeral_1h_input_tokens": 100})
    plain = without_cache(request)
    assert plain == read_usage({"input_tokens": 1305, "output_tokens": 10}, "anthropic")
    assert request["cache_read_input_tokens"] == 1000


def test_savings_are_the_difference_of_two_costs_by_hand_for_usage_drawn_at_random():
    draw = random.Random(19)
    for _ in range(300):
        short, hour = (draw.choice([0, draw.randrange(5000)]) for _ in range(2))
        counts = {"input_tokens": draw.randrange(5000), "output_tokens": draw.randrange(500), "cache_read_input_tokens": draw.choice([0, draw.randrange(9000)]),
                  "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": hour}}
        request = read_usage(counts, "anthropic")
        by_hand = cost_by_hand(without_cache(request), RATES) - cost_by_hand(request, RATES)
        provider = connect("practice", wire="anthropic").provider
        assert cache_savings("practice", provider, counts) == pytest.approx(by_hand)
        assert cache_savings("practice", "practice", {"requests": [request, request]}) == pytest.approx(2 * by_hand)


@pytest.mark.parametrize("cache, pays_from", [("5m", 2), ("1h", 3), ("auto", 2)])
def test_a_mark_costs_more_at_first_and_pays_from_the_second_or_third_request_on(cache, pays_from):
    requests = run_of(4, SYSTEM, cache=cache)["requests"]
    saved = [cache_savings("practice", "practice", {"requests": requests[:count]}) for count in range(1, 6)]
    assert [dollars > 0 for dollars in saved] == [count >= pays_from for count in range(1, 6)]


@both_wires
def test_what_was_paid_and_what_was_saved_is_the_price_in_full(wire):
    model = connect("practice", wire=wire, cache="5m") if wire == "anthropic" else connect("practice")
    usage = call_with_tools(model, [SYSTEM, QUESTION], list_files).usage
    plain = usage_cost("practice", "practice", {"requests": [without_cache(each) for each in usage["requests"]]})
    assert cache_savings("practice", model.provider, usage) == pytest.approx(plain - usage["cost"]) and cache_savings("practice", model.provider, usage) > 0


def test_what_openais_format_reports_as_cached_was_saved_too():
    usage = {"prompt_tokens": 1500, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 1408}}
    assert cache_savings("practice", "practice", usage) == pytest.approx(1408 * 0.9 / 1_000_000)


def test_a_service_without_a_cache_and_a_run_without_requests_saved_nothing():
    assert cache_savings("practice", "practice", {"prompt_tokens": 100, "completion_tokens": 10}) == 0
    assert cache_savings("practice", "practice", {"requests": []}) == 0
    assert cache_savings("my-model", "ollama", {"prompt_tokens": 100, "completion_tokens": 10}) == 0


@pytest.mark.parametrize("usage", [None, {}, {"requests": [None]}])
def test_on_ones_own_machine_nothing_is_saved_also_where_nothing_is_reported(usage):
    assert usage_cost("my-model", "ollama", usage) == cache_savings("my-model", "ollama", usage) == 0


@pytest.mark.parametrize("model, provider, usage", [
    ("practice", "a friend", {"prompt_tokens": 1, "completion_tokens": 1}), ("practice", None, None), ("practice", "practice", None),
    ("practice", "practice", {}), ("practice", "practice", "many"), (None, "practice", {"prompt_tokens": 1, "completion_tokens": 1}),
    ("my-model", "openai", {"prompt_tokens": 1, "completion_tokens": 1}), ("practice", "a friend", {"requests": []}),
    ("practice", "practice", {"requests": [reported(input_tokens=5), None]}),
])
def test_what_nobody_knows_is_none_and_never_0(model, provider, usage):
    assert cache_savings(model, provider, usage) is None


# ---- thoughts apart from the answer ----

@pytest.mark.parametrize("message", [
    {"role": "assistant", "content": "Four.", "reasoning_content": "2 and 2."},
    {"role": "assistant", "content": "Four.", "reasoning": "2 and 2."},
    {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Four."}]},
    {"role": "assistant", "content": "<think>2 and 2.</think>Four."},
    {"role": "assistant", "content": [{"type": "text", "text": "<think>2 and 2.</think>Four."}]},
    "<think>2 and 2.</think>Four.", "\n<thinking>\n2 and 2.\n</thinking>\n\nFour.", "<reasoning>2 and 2.</reasoning> Four.",
    "2 and 2.\n</think>\n\nFour.",
])
def test_thoughts_are_found_wherever_a_service_puts_them(message):
    before = copy.deepcopy(message)
    assert split_thinking(message) == ("2 and 2.", "Four.") and message == before


def test_the_content_alone_will_do():
    assert split_thinking([THINKING, {"type": "text", "text": "Four."}]) == ("2 and 2.", "Four.")


@pytest.mark.parametrize("text", ["Four.", "", "Write <think> and </think>.", "Four. <think>No, five.</think>", "<thinker>2</thinker>", "I <b>think</b> so.", " Four."])
def test_a_text_that_does_not_begin_with_thoughts_is_the_answer(text):
    assert split_thinking(text) == ("", text)


@pytest.mark.parametrize("text", ["<think>2 and", "<think>2 and</think>", "<think>\n2 and\n"])
def test_a_reply_that_was_cut_off_while_it_was_thought_about_has_no_answer(text):
    assert split_thinking(text) == ("2 and", "")


@pytest.mark.parametrize("text, parts", [
    ("<think></think>Four.", ("", "Four.")), ("</think>Four.", ("", "Four.")), ("<think>a</think>b</think>c", ("a", "b</think>c")),
    ("<think>a <think> b</think>c", ("a <think> b", "c")),
])
def test_odd_tags_are_read_from_the_first_to_its_end(text, parts):
    assert split_thinking(text) == parts


def test_thoughts_in_a_field_and_in_tags_are_put_together():
    assert split_thinking({"content": "<think>b</think>c", "reasoning": "a"}) == ("a\nb", "c")


@pytest.mark.parametrize("message", [{"role": "assistant", "content": None}, {"role": "assistant"}, {"role": "assistant", "content": []},
                                     {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]}])
def test_a_reply_with_calls_only_has_neither_thoughts_nor_an_answer(message):
    assert split_thinking(message) == split_thinking(message.get("content")) == ("", "")


def test_a_long_text_is_split_without_delay():
    text = "<" * 100_000
    assert split_thinking(text) == ("", text) and split_thinking(f"<think>{text}") == (text, "")


# ---- the option cache ----

def test_without_a_cache_the_system_prompt_is_plain_text():
    for options in ({}, {"cache": "none"}, {"cache": None}):
        request = request_of(**options)
        assert request["system"] == RULES and "cache" not in json.dumps(request | {"system": ""})


@pytest.mark.parametrize("cache, mark", [("5m", SHORT_MARK), ("1h", LONG_MARK)])
def test_five_minutes_and_an_hour_mark_the_end_of_the_system_prompt(cache, mark):
    request = request_of(cache=cache)
    assert request["system"] == [{"type": "text", "text": RULES, "cache_control": mark}]
    assert request["messages"] == [HELLO] and not {"cache", "cache_control"} & request.keys()


def test_auto_leaves_the_marks_to_the_service():
    request = request_of(cache="auto")
    assert request["cache_control"] == SHORT_MARK and request["system"] == RULES and request["messages"] == [HELLO]


@pytest.mark.parametrize("cache", ["5m", "1h"])
def test_without_a_system_prompt_there_is_nothing_to_mark(cache):
    assert not {"system", "cache_control"} & request_of([HELLO], cache=cache).keys()


def test_of_several_system_messages_the_last_block_is_marked_and_none_is_lost():
    block = {"type": "text", "text": "Be brief."}
    texts = request_of([{"role": "system", "content": "Be kind."}, {"role": "system", "content": "Be brief."}, HELLO], cache="5m")["system"]
    blocks = request_of([{"role": "system", "content": "Be kind."}, {"role": "system", "content": [block]}, HELLO], cache="5m")["system"]
    assert texts == [{"type": "text", "text": "Be kind.\n\nBe brief.", "cache_control": SHORT_MARK}]
    assert blocks == [{"type": "text", "text": "Be kind."}, block | {"cache_control": SHORT_MARK}]
    assert "cache_control" not in block


def test_a_system_prompt_given_as_blocks_is_sent_as_it_is():
    blocks = [{"type": "text", "text": RULES, "cache_control": LONG_MARK}, {"type": "text", "text": "It is noon."}]
    assert request_of([{"role": "system", "content": blocks}, HELLO])["system"] == blocks


def test_a_request_can_have_a_cache_of_its_own():
    assert request_of(parameters={"cache": "1h"}, cache="5m")["system"][0]["cache_control"] == LONG_MARK
    assert request_of(parameters={"cache": "none"}, cache="5m")["system"] == request_of(parameters={"cache": None}, cache="5m")["system"] == RULES


@pytest.mark.parametrize("cache", ["2h", "1H", "", 5, True])
def test_a_cache_that_there_is_not_is_refused_with_the_ones_that_there_are(cache):
    with pytest.raises(ValueError, match="'none', '5m', '1h', 'auto'"):
        connect("practice", wire="anthropic", cache=cache)
    with pytest.raises(ValueError, match="'none', '5m', '1h', 'auto'"):
        request_of(parameters={"cache": cache})


@pytest.mark.parametrize("way", ["reply", "chat", "stream", "loop"])
def test_every_way_to_ask_sends_the_mark(way):
    model, sent = answering()
    model.options["cache"] = "5m"
    if way == "reply":
        model.reply(RULES, [HELLO])
    elif way == "chat":
        ChatSession(model, RULES).chat("Hello")
    elif way == "loop":
        call_with_tools(model, [SYSTEM, HELLO], list_files)
    else:
        with pytest.raises(ModelError):   # what comes back here is no stream
            ChatSession(model, RULES).stream("Hello", show=lambda *pieces, **how: None)
    assert sent[0]["system"][0]["cache_control"] == SHORT_MARK


def test_options_are_not_changed_when_a_request_is_made_of_them():
    options = {"system": "x", "cache": "5m", "thinking": 2048, "max_tokens": 4096}
    before = copy.deepcopy(options)
    assert in_request(options) == {"system": [{"type": "text", "text": "x", "cache_control": SHORT_MARK}], "max_tokens": 4096,
                                   "thinking": {"type": "enabled", "budget_tokens": 2048}}
    assert options == before


# ---- the option thinking ----

def test_a_number_becomes_a_thinking_budget():
    request = request_of(thinking=2048)
    assert request["thinking"] == {"type": "enabled", "budget_tokens": 2048} and request["max_tokens"] == DEFAULT_MAX_TOKENS
    assert "thinking" not in request_of() and "thinking" not in request_of(thinking=None)


def test_a_request_can_have_a_budget_of_its_own_or_none():
    assert request_of(parameters={"thinking": 1024}, thinking=2048)["thinking"]["budget_tokens"] == 1024
    assert "thinking" not in request_of(parameters={"thinking": None}, thinking=2048)
    assert request_of(parameters={"thinking": 6000, "max_tokens": 6001})["thinking"]["budget_tokens"] == 6000


@pytest.mark.parametrize("thinking", [{"type": "adaptive"}, {"type": "disabled"}, {"type": "enabled", "budget_tokens": 1500}])
def test_a_dict_is_sent_as_it_is(thinking):
    assert request_of(parameters={"thinking": thinking})["thinking"] == request_of(thinking=thinking)["thinking"] == thinking


@pytest.mark.parametrize("thinking", [0, -1, 1023, 2048.0, "2048", True, [2048]])
def test_a_budget_is_a_whole_number_of_at_least_1024_tokens(thinking):
    with pytest.raises(ValueError, match="at least 1024"):
        connect("practice", wire="anthropic", thinking=thinking)
    with pytest.raises(ValueError, match="at least 1024"):
        request_of(parameters={"thinking": thinking})


@pytest.mark.parametrize("thinking, options", [(DEFAULT_MAX_TOKENS, {}), (2048, {"max_tokens": 2048}), (2048, {"max_tokens": 1000}), (DEFAULT_MAX_TOKENS, {"max_tokens": None})])
def test_a_budget_leaves_room_for_an_answer(thinking, options):
    with pytest.raises(ValueError, match="leaves no room"):
        connect("practice", wire="anthropic", thinking=thinking, **options)


def test_the_default_limit_is_what_counts_where_none_is_given():
    assert request_of(thinking=DEFAULT_MAX_TOKENS - 1)["max_tokens"] == DEFAULT_MAX_TOKENS
    assert request_of(thinking=DEFAULT_MAX_TOKENS, max_tokens=DEFAULT_MAX_TOKENS + 1)["thinking"]["budget_tokens"] == DEFAULT_MAX_TOKENS


@pytest.mark.parametrize("options", [{}, {"thinking": 2048}])
def test_a_limit_of_none_is_the_default_limit(options):
    assert request_of(max_tokens=None, **options)["max_tokens"] == DEFAULT_MAX_TOKENS
    assert request_of(parameters={"max_tokens": None}, max_tokens=3000, **options)["max_tokens"] == DEFAULT_MAX_TOKENS


def test_a_limit_of_one_request_below_the_budget_is_refused_before_anything_is_sent():
    model, sent = answering(thinking=2048)
    with pytest.raises(ValueError, match="max_tokens .* is 100"):
        model.native_reply([HELLO], max_tokens=100)
    assert sent == [] and model.usage.calls == 0


def test_a_limited_model_says_that_its_replies_are_too_short_to_think():
    limited = within_budget(connect("practice", wire="anthropic", thinking=2048), tokens=100_000)
    with pytest.raises(ValueError, match="leaves no room.*longest_reply"):   # where it can be mended
        limited.reply("", [HELLO])
    assert within_budget(connect("practice", wire="anthropic", thinking=2048), tokens=100_000, longest_reply=3000).reply("", [HELLO]) == GREETING


# ---- providers that lack them ----

BOTH = "cache and thinking can be set for Anthropic's format only"


@pytest.mark.parametrize("how", [{}, {"provider": "practice", "wire": "openai"}, {"provider": "openai", "api_key": "no-key"}, {"provider": "ollama"},
                                 {"provider": "auto", "model": PROVIDERS["openai"].model, "api_key": "no-key"},
                                 {"provider": "auto", "model": "my-model", "base_url": "http://localhost:8000/v1"}])
def test_a_provider_without_them_says_so_once_and_goes_on(how):
    models = []
    [warning] = warned(lambda: models.append(connect(**how, cache="5m", thinking=2048, temperature=0)))
    assert warning.startswith(BOTH) and models[0].options == {"temperature": 0}


@pytest.mark.parametrize("options, names", [({"cache": "auto"}, "cache can"), ({"thinking": 2048}, "thinking can"), ({"cache": "none", "thinking": 2048}, "thinking can")])
def test_the_warning_names_what_was_asked_for_and_points_to_the_line(options, names):
    with pytest.warns(UserWarning, match=f"^{names}") as caught:
        connect("practice", **options)
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize("options", [{}, {"cache": "none"}, {"cache": None}, {"thinking": None}, {"cache": "none", "thinking": None}])
def test_who_asks_for_nothing_is_not_warned(options):
    for wire in WIRES:
        assert warned(lambda: connect("practice", wire=wire, **options)) == []


@pytest.mark.parametrize("how", [{"provider": "practice", "wire": "anthropic"}, {"provider": "anthropic", "api_key": "no-key"},
                                 {"provider": "auto", "model": PROVIDERS["anthropic"].model, "api_key": "no-key"}])
def test_a_provider_that_has_them_keeps_them_without_a_word(how):
    models = []
    assert warned(lambda: models.append(connect(**how, cache="1h", thinking=2048))) == []
    assert models[0].options == {"cache": "1h", "thinking": 2048}


def test_a_warned_model_answers_and_warns_no_more():
    with pytest.warns(UserWarning, match=BOTH):
        model = connect("practice", cache="5m", thinking=2048)
    assert warned(lambda: Chat(model).send("Hello")) == []


@pytest.mark.parametrize("options", [{"cache": "2h"}, {"thinking": 5}])
def test_nonsense_is_refused_there_too(options):
    with pytest.raises(ValueError, match="is one of|at least"):
        connect("practice", **options)
    with pytest.raises(ValueError, match="is one of|at least"):
        connect("practice").native_reply([HELLO], **options)


ASKED = {
    "native_reply": lambda model, **more: model.native_reply([HELLO], **more)["content"],
    "call_with_tools": lambda model, **more: call_with_tools(model, [HELLO], list_files, **more).text,
    "ask": lambda model, **more: ask(model, "Hello", **more).content,
    "chat": lambda model, **more: ChatSession(model).chat("Hello", **more).content,
    "stream": lambda model, **more: ChatSession(model).stream("Hello", show=silent, **more),
    "limited": lambda model, **more: within_budget(model, tokens=100_000, longest_reply=3000).native_reply([HELLO], **more)["content"],
}


@pytest.mark.parametrize("way", ASKED)
@pytest.mark.parametrize("thinking", [2048, {"type": "adaptive"}])
def test_set_for_one_request_they_are_ignored_with_a_warning_too(way, thinking):
    answers = []
    [warning] = warned(lambda: answers.append(ASKED[way](connect("practice"), cache="5m", thinking=thinking)))
    assert warning.startswith(BOTH) and answers == [GREETING]


@pytest.mark.parametrize("way", ASKED)
def test_unset_for_one_request_they_are_not_spoken_of(way):
    assert warned(lambda: ASKED[way](connect("practice"), cache="none", thinking=None)) == []


def test_a_run_of_many_requests_shows_the_warning_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = call_with_tools(connect("practice"), [QUESTION], list_files, cache="5m")
    assert result.used.calls > 1 and len(caught) == 1


# ---- the practice model's cache ----

def by_hand(system=RULES, messages=(HELLO,), **more):
    """The usage of one request in Anthropic's format, made with the client itself."""
    model = connect("practice", wire="anthropic")
    return model.client.messages.create(model="practice", max_tokens=100, system=system, messages=list(messages), **more).usage.to_dict()


def block(text=RULES, mark=SHORT_MARK):
    return {"type": "text", "text": text} | ({"cache_control": mark} if mark else {})


def answered(messages=(HELLO,)):
    return [*messages, {"role": "assistant", "content": GREETING}, HELLO]


@pytest.mark.parametrize("cache", ["none", "5m", "1h", "auto"])
@pytest.mark.parametrize("system", [RULES, "Be kind."])
def test_read_written_and_plain_input_are_together_what_was_sent(cache, system):
    plain = run_of(30, {"role": "system", "content": system})["requests"]
    for request, without in zip(run_of(30, {"role": "system", "content": system}, cache=cache)["requests"], plain, strict=True):
        assert request["input_tokens"] + request["cache_read_input_tokens"] + request["cache_creation_input_tokens"] == tokens_sent(request) == without["input_tokens"]
        assert sum(request["cache_creation"].values()) == request["cache_creation_input_tokens"]


@pytest.mark.parametrize("cache, part", [("5m", "ephemeral_5m_input_tokens"), ("1h", "ephemeral_1h_input_tokens")])
def test_a_marked_system_prompt_is_written_once_and_then_read(cache, part):
    first, *later = run_of(3, SYSTEM, cache=cache)["requests"]
    assert first["cache_creation"][part] == first["cache_creation_input_tokens"] > 1400 and first["cache_read_input_tokens"] == 0
    assert all(each["cache_read_input_tokens"] == first["cache_creation_input_tokens"] and not each["cache_creation_input_tokens"] for each in later)


def test_with_auto_all_that_was_written_so_far_is_what_is_read_next():
    requests, written = run_of(10, SYSTEM, cache="auto")["requests"], 0
    for request in requests:
        assert request["cache_read_input_tokens"] == written and request["input_tokens"] == 0
        written += request["cache_creation_input_tokens"]


def test_a_history_that_grows_long_enough_is_kept_from_then_on():
    requests = run_of(40, cache="auto")["requests"]
    kept = [each["cache_creation_input_tokens"] for each in requests]
    begins = next(place for place, request in enumerate(requests) if tokens_sent(request) >= 1024)
    assert not any(kept[:begins]) and kept[begins] == tokens_sent(requests[begins]) and all(kept[begins:])


@pytest.mark.parametrize("cache", ["5m", "1h"])
def test_a_short_system_prompt_is_never_kept_and_nothing_says_so(cache):
    for request in run_of(40, {"role": "system", "content": "Be kind."}, cache=cache)["requests"]:
        assert request["cache_read_input_tokens"] == request["cache_creation_input_tokens"] == 0


def test_the_first_1024_tokens_are_the_border():
    assert by_hand([block("x" * 4 * 1023)])["cache_creation_input_tokens"] == 0
    assert by_hand([block("x" * 4 * 1024)])["cache_creation_input_tokens"] == 1024


def test_a_mark_for_an_hour_and_one_for_five_minutes_are_written_apart():
    marked = {"role": "user", "content": [block("Hello")]}
    usage = by_hand([block(mark=LONG_MARK)], [marked])
    assert usage["cache_creation"] == {"ephemeral_1h_input_tokens": 1498, "ephemeral_5m_input_tokens": 2} and usage["input_tokens"] == 0


def test_a_mark_at_a_message_keeps_what_stands_before_it_too():
    messages = [{"role": "user", "content": [block("Hello")]}]
    assert by_hand(messages=messages)["cache_creation_input_tokens"] == 1500
    again = by_hand(messages=answered(messages))
    assert again["cache_read_input_tokens"] == 1500 and again["cache_creation_input_tokens"] > 0


def test_a_mark_at_a_tool_counts_as_one_before_the_system_prompt():
    described = {"name": "list_files", "input_schema": {"type": "object", "properties": {}}, "cache_control": SHORT_MARK}
    assert by_hand(tools=[described])["cache_creation_input_tokens"] > 1498


def test_four_marks_are_taken_and_five_are_refused():
    assert by_hand([block("a"), block("b"), block("c"), block()])["cache_creation_input_tokens"] > 1400
    with pytest.raises(Exception, match="at most 4 blocks"):
        by_hand([block("a"), block("b"), block("c"), block()], cache_control=SHORT_MARK)


@pytest.mark.parametrize("mark", [{"type": "ephemeral", "ttl": "2h"}, {"type": "for ever"}, {"ttl": "5m"}])
def test_another_mark_is_refused(mark):
    with pytest.raises(Exception, match="ephemeral"):
        by_hand([block(mark=mark)])


def cached(messages):
    completion = connect("practice").client.chat.completions.create(model="practice", messages=messages)
    return completion.usage.prompt_tokens, completion.usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize("tokens, found", [(1022, 0), (1023, 1024), (1150, 1024), (1151, 1152), (1500, 1408)])
def test_openais_format_finds_whole_steps_of_128_from_1024_tokens_on(tokens, found):
    """1 token more than these is sent first: the question."""
    asked = [{"role": "system", "content": "x" * 4 * tokens}, {"role": "user", "content": "Hi!"}]
    assert cached(asked) == (tokens + 1, 0)
    sent, again = cached([*asked, {"role": "assistant", "content": "Hello."}, HELLO])
    assert again == found < sent


def test_what_openais_format_finds_is_a_part_of_the_input():
    for request in run_of(40, wire="openai")["requests"]:
        assert request["input_tokens"] == tokens_sent(request) > request["cache_read_input_tokens"] and request["cache_read_input_tokens"] % 128 == 0


@both_wires
def test_a_streamed_reply_reports_the_same_usage(wire):
    options = {"cache": "auto", "thinking": 2048} if wire == "anthropic" else {"faults": "thinks"}
    whole, streamed = (ChatSession(connect("practice", wire=wire, **options), RULES) for _ in range(2))
    for text in ("Hello", "My name is Ada."):
        whole.chat(text)
        streamed.stream(text, show=lambda *pieces, **how: None)
        assert streamed.model.usage.requests == whole.model.usage.requests
        assert [split_thinking(message) for message in streamed.history] == [split_thinking(message) for message in whole.history]
    assert whole.model.usage.requests[1]["cache_read_input_tokens"] > 1024


# ---- thoughts on their way ----

def silent(*pieces, **how):
    """A `show` that shows nothing."""


def thinking_session(wire):
    return ChatSession(connect("practice", wire=wire, **({"thinking": 2048} if wire == "anthropic" else {"faults": "thinks"})))


@both_wires
@pytest.mark.parametrize("way", ["chat", "stream"])
def test_thoughts_are_told_from_the_answer_and_the_conversation_goes_on(wire, way):
    session = thinking_session(wire)
    for text in ("My name is Ada.", "What is my name?"):
        session.chat(text) if way == "chat" else session.stream(text, show=silent)
        assert text in session.last_reply.thinking and "I am asked" not in session.last_reply.content
        assert split_thinking(session.history[-1]) == (session.last_reply.thinking, session.last_reply.content)
    assert session.last_reply.content == "Your name is Ada."


def test_a_streamed_thought_has_its_signature_and_goes_back_with_it():
    session = thinking_session("anthropic")
    session.stream("My name is Ada.", show=silent)
    [thought, text] = session.history[1]["content"]
    assert thought["type"] == "thinking" and thought["signature"] and text["text"] == "Nice to meet you, Ada."
    del thought["signature"]
    with pytest.raises(ModelError, match="signature"):
        session.stream("What is my name?", show=silent)


def test_streamed_thoughts_are_never_shown_as_the_answer():
    for wire in WIRES:
        assert "".join(thinking_session(wire).pieces("Hello")) == GREETING


def test_a_run_with_thoughts_keeps_each_block_with_its_signature():
    result = call_with_tools(connect("practice", wire="anthropic", thinking=2048), [QUESTION], list_files)
    replies = [message for message in result.messages if message["role"] == "assistant"]
    assert [[part["type"] for part in reply["content"]] for reply in replies] == [["thinking", "text", "tool_use"], ["thinking", "text"]]
    assert all(reply["content"][0]["signature"] for reply in replies) and result.stop_reason == "answer"
    assert result.text == call_with_tools(connect("practice", wire="anthropic"), [QUESTION], list_files).text


def test_over_many_rounds_thoughts_go_back_every_time():
    assert len(run_of(6, thinking=2048)["requests"]) == 7


def test_hidden_thoughts_go_back_as_they_came():
    hidden = {"type": "redacted_thinking", "data": "sealed"}
    call = {"type": "tool_use", "id": "a", "name": "list_files", "input": {"path": "data"}}
    model, sent = answering(message_of(THINKING, hidden, call, stop_reason="tool_use"), message_of({"type": "text", "text": "Two."}), thinking=2048)
    assert call_with_tools(model, [QUESTION], list_files).text == "Two."
    assert sent[1]["messages"][1] == {"role": "assistant", "content": [THINKING, hidden, call]}


def test_thoughts_are_counted_and_paid_as_output():
    plain, thinking = (connect("practice", wire="anthropic", **options) for options in ({}, {"thinking": 2048}))
    for model in (plain, thinking):
        model.native_reply([HELLO])
    assert thinking.usage.output_tokens > plain.usage.output_tokens == 15 and thinking.usage.input_tokens == plain.usage.input_tokens
    more = thinking.usage.output_tokens - 15
    assert thinking.usage.cost - plain.usage.cost == pytest.approx(more * 5 / 1_000_000)


@pytest.mark.parametrize("budget", [5, 100, "many"])
def test_the_practice_model_refuses_a_budget_as_the_service_does(budget):
    with pytest.raises(Exception, match="budget_tokens"):
        by_hand(thinking={"type": "enabled", "budget_tokens": budget})


# ---- nothing but thoughts ----

def too_short(wire):
    return connect("practice", wire=wire, faults="thinks", max_tokens=10)


WAYS = {
    "reply": lambda model: model.reply("", [HELLO]),
    "native_reply": lambda model: model.native_reply([HELLO]),
    "Chat.send": lambda model: Chat(model).send("Hello"),
    "ask": lambda model: ask(model, "Hello"),
    "chat": lambda model: ChatSession(model).chat("Hello"),
    "stream": lambda model: ChatSession(model).stream("Hello", show=silent),
    "pieces": lambda model: list(ChatSession(model).pieces("Hello")),
    "call_with_tools": lambda model: call_with_tools(model, [HELLO], list_files),
}


@both_wires
@pytest.mark.parametrize("way", WAYS)
def test_a_reply_that_is_all_thought_gives_one_warning_whichever_way_it_came(wire, way):
    [warning] = warned(lambda: WAYS[way](too_short(wire)))
    assert ALL_THOUGHT in warning and "max_tokens" in warning


@both_wires
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [{"faults": "thinks"}, {"max_tokens": 5}, {"faults": "silence"}, {"faults": "thinks", "max_tokens": 30}])
def test_a_whole_reply_a_cut_answer_and_an_empty_one_give_none(wire, way, options):
    assert warned(lambda: WAYS[way](connect("practice", wire=wire, **options))) == []


@both_wires
def test_a_reply_that_is_all_thought_is_empty_but_was_paid_for_and_leaves_a_usable_session(wire):
    session = ChatSession(too_short(wire))
    with pytest.warns(UserWarning, match=ALL_THOUGHT):
        reply = session.chat("Hello")
    assert (reply.content, reply.finish_reason) == ("", "length") and reply.thinking and reply.usage["output_tokens"] == 10
    assert session.chat("Hello", max_tokens=100).content == GREETING


CALL = {"id": "a", "type": "function", "function": {"name": "list_files", "arguments": "{"}}


@pytest.mark.parametrize("message", [
    {"content": "<think>2 and"}, {"content": "\n<thinking>\n2 and 2.\n</thinking>\n"}, {"content": "<reasoning>"},
    {"content": [{"type": "text", "text": "<think>2 and"}]}, {"content": None, "reasoning": "2 and"}, {"content": " \n", "reasoning_content": "2 and"},
    {"content": [THINKING | {"thinking": ""}]}, {"content": [{"type": "redacted_thinking", "data": "sealed"}]},
])
def test_thoughts_between_tags_and_hidden_ones_are_no_answer_either(message):
    with pytest.warns(UserWarning, match=ALL_THOUGHT):
        warn_if_all_thought(message, "length")
    assert split_thinking(message)[1].strip() == "" and warned(lambda: warn_if_all_thought(message, "end")) == []


@pytest.mark.parametrize("message", [
    {"content": "<think>2 and 2.</think>Fo"}, {"content": "Write <think> and"}, {"content": "<thinker>"}, {"content": ""}, {"content": None}, {"content": []},
    {"content": [THINKING, {"type": "text", "text": "Fo"}]},
    {"content": None, "reasoning_content": "A file.", "tool_calls": [CALL]}, {"content": "<think>A file.</think>", "tool_calls": [CALL]},
    {"content": [THINKING, {"type": "tool_use", "id": "a", "name": "list_files", "input": {}}]},
])
def test_a_cut_answer_and_a_cut_call_were_not_cut_off_in_thought(message):
    assert warned(lambda: warn_if_all_thought(message, "length")) == []


def test_a_call_after_thoughts_is_no_empty_answer():
    model = connect("practice", wire="anthropic", thinking=2048)
    assert warned(lambda: call_with_tools(model, [QUESTION], list_files)) == []


# ---- the pictures ----

LINES = {"sent": {5: 1080, 10: 3200}, "as expected": {5: 1080, 10: 2160}}


def test_the_words_of_a_picture_hold_all_its_numbers():
    image = plot_lines(LINES, "rounds", "tokens sent")
    assert image.metadata["alt"] == "Tokens sent over rounds. sent: 1,080 at 5, 3,200 at 10. as expected: 1,080 at 5, 2,160 at 10."
    assert "0.018 at 5" in plot_lines({"none": {5: 0.0181}}, "rounds", "dollars", "{:.3f}").metadata["alt"]


def test_a_picture_is_small_700_dots_wide_and_repeats_to_the_byte():
    image = plot_lines(LINES, "rounds", "tokens sent")
    assert image.data.startswith(b"\x89PNG") and len(image.data) < 60_000 and image.data == plot_lines(LINES, "rounds", "tokens sent").data
    assert struct.unpack(">II", image.data[16:24])[0] == 700


@pytest.mark.parametrize("lines", [{}, {"a": {}}, {"a": {1: 1}, "b": {}}, dict.fromkeys("abcde", {1: 1})])
def test_no_line_an_empty_one_and_too_many_are_refused(lines):
    with pytest.raises(ValueError, match="1 to 4 lines"):
        plot_lines(lines, "x", "y")

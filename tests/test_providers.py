"""Connecting to a model, and the way to a real service: what is sent, what is tried again, what a person is told."""
import email.utils
import json
import re
import subprocess
import sys
import time
import types
from urllib.parse import urlsplit

import pytest
from loopback import AT_ONCE, Loopback, changed, cut, half_json, hang_up, page, refuse, silent

from agent_steps.plain_chat import Chat
from agent_steps.providers import ModelError, connect
from agent_steps.providers.catalogue import PROVIDERS
from agent_steps.providers.clients import live_client

KEY = "sk-very-secret-4711"
WIRES = ("openai", "anthropic")
HELLO = [{"role": "user", "content": "hello"}]
WITH_KEY = [row for row in PROVIDERS.values() if row.key_variable]
both_wires = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """No proxy of the machine comes between the tests and the loopback server, and no Ollama of the machine answers."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")


@pytest.fixture(scope="module")
def one_server():
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def server(one_server):
    """One server for all tests, as new: so that the clients, which are kept for each address, are built once."""
    one_server.reset()
    return one_server


def live(server, wire, model="some-model", **options):
    """A model of the provider that gives the format its name, at the loopback server."""
    return connect(wire, model, api_key=KEY, base_url=server.base_url(wire), **options)


def failure(model, messages=HELLO) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.reply("Be brief.", messages)
    return caught.value


# ---- what is sent ----

@both_wires
def test_a_request_goes_to_the_address_of_its_format(server, wire):
    assert live(server, wire).reply("", HELLO) == "Hello. I am the practice model. Ask me what the lesson asks."
    assert [sent.path for sent in server.requests] == [{"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[wire]]


@both_wires
def test_the_key_is_sent_in_the_authorization_header(server, wire):
    live(server, wire).reply("", HELLO)
    headers = server.requests[0].headers
    assert f"Bearer {KEY}" == headers["authorization"] or KEY == headers.get("x-api-key")
    assert wire == "openai" or headers["anthropic-version"]


def test_openai_gets_the_system_prompt_as_the_first_message(server):
    live(server, "openai").reply("Be brief.", HELLO)
    assert server.requests[0].body == {"model": "some-model", "messages": [{"role": "system", "content": "Be brief."}, *HELLO]}


def test_anthropic_gets_the_system_prompt_apart(server):
    live(server, "anthropic").reply("Be brief.", HELLO)
    assert server.requests[0].body == {"model": "some-model", "max_tokens": 4096, "system": "Be brief.", "messages": HELLO}


@both_wires
def test_an_empty_system_prompt_is_not_sent(server, wire):
    live(server, wire).reply("", HELLO)
    assert server.requests[0].body["messages"] == HELLO
    assert "system" not in server.requests[0].body


@both_wires
def test_the_whole_list_is_sent_and_left_as_it_was(server, wire):
    messages = [*HELLO, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "What did I just ask?"}]
    before = json.dumps(messages)
    assert live(server, wire).reply("", messages) == 'You asked: "hello"'
    assert server.requests[0].body["messages"] == messages
    assert json.dumps(messages) == before


@pytest.mark.parametrize(("provider", "field"), [
    ("openai", "max_completion_tokens"), ("anthropic", "max_tokens"), ("ollama", "max_tokens"), ("groq", "max_tokens")])
def test_the_limit_on_the_length_has_the_name_that_the_provider_knows(server, provider, field):
    wire = PROVIDERS[provider].wire
    connect(provider, "m", api_key=KEY, base_url=server.base_url(wire), max_tokens=77).reply("", HELLO)
    body = server.requests[0].body
    assert {name: value for name, value in body.items() if name.startswith("max_")} == {field: 77}


@both_wires
@pytest.mark.parametrize("stop", ["END", ["END", "STOP"]])
def test_stop_texts_go_under_the_name_of_the_format(server, wire, stop):
    live(server, wire, stop=stop).reply("", HELLO)
    as_list = [stop] if isinstance(stop, str) else stop
    body = server.requests[0].body
    assert body.get("stop") == (stop if wire == "openai" else None)
    assert body.get("stop_sequences") == (as_list if wire == "anthropic" else None)


@both_wires
def test_the_temperature_is_sent(server, wire):
    live(server, wire, temperature=0).reply("", HELLO)
    assert server.requests[0].body["temperature"] == 0


@both_wires
def test_options_stay_from_one_request_to_the_next(server, wire):
    model = live(server, wire, temperature=0.5, max_tokens=50, stop="END")
    model.reply("", HELLO)
    model.reply("", HELLO)
    first, second = server.requests
    assert first.body == second.body


# ---- trying again ----

@both_wires
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_passes_is_tried_again(server, wire, status):
    server.queue(refuse(status), refuse(status))
    assert live(server, wire).reply("", HELLO).startswith("Hello.")
    assert [sent.headers["x-stainless-retry-count"] for sent in server.requests] == ["0", "1", "2"]


@both_wires
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_trying_again_comes_to_an_end(server, wire, status):
    server.always = refuse(status)
    error = failure(live(server, wire))
    assert error.status == status
    assert len(server.requests) == 3


@both_wires
def test_max_retries_says_how_often(server, wire):
    server.always = refuse(503)
    failure(live(server, wire, max_retries=4))
    assert len(server.requests) == 5


@both_wires
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404])
def test_what_stays_wrong_is_not_tried_again(server, wire, status):
    server.always = refuse(status)
    assert failure(live(server, wire)).status == status
    assert len(server.requests) == 1


@both_wires
def test_a_short_retry_after_is_obeyed(server, wire):
    server.queue(refuse(429, headers={"retry-after": "0.2"}))
    started = time.monotonic()
    live(server, wire).reply("", HELLO)
    assert time.monotonic() - started >= 0.2
    assert len(server.requests) == 2


HOSTILE = {
    "seconds": {"retry-after": "100000"},
    "infinite": {"retry-after": "inf"},
    "milliseconds": {"retry-after-ms": "100000000"},
    "a date": {"retry-after": email.utils.formatdate(4_000_000_000, usegmt=True)},
    "with an order to retry": {"retry-after": "100000", "x-should-retry": "true"},
}


@both_wires
@pytest.mark.parametrize("headers", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_retry_after_is_not_obeyed(server, wire, headers, monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)   # if it were obeyed, the tests would not end
    server.always = refuse(429, headers=headers)
    assert failure(live(server, wire)).status == 429
    assert (pauses, len(server.requests)) == ([], 1)


@both_wires
def test_the_person_is_told_how_long_the_wait_is(server, wire):
    server.always = refuse(429, headers={"retry-after": "100000"})
    assert "asks to wait 100000 seconds" in str(failure(live(server, wire)))


@both_wires
def test_a_wait_given_as_a_date_is_told_in_seconds(server, wire):
    server.always = refuse(429, headers={"retry-after": email.utils.formatdate(time.time() + 5000, usegmt=True)})
    assert re.search("asks to wait (4999|5000) seconds", str(failure(live(server, wire))))


@both_wires
@pytest.mark.parametrize("behaviour", [hang_up, cut])
def test_a_broken_connection_is_tried_again(server, wire, behaviour):
    server.queue(behaviour)
    assert live(server, wire).reply("", HELLO).startswith("Hello.")
    assert len(server.requests) == 2


# ---- what a person is told ----

TOLD = {
    "401": (refuse(401), "{name} refused the key in {variable}. Check it, or get a new one at {page}."),
    "402": (refuse(402), "{name} says that this account has no credit left. Add some, or use another provider."),
    "403": (refuse(403), "{name} refused the key in {variable}. Check it, or get a new one at {page}."),
    "404": (refuse(404), "{name} has no model called 'some-model' at {address}. Pass a name that it knows: model=..."),
    "429": (refuse(429, headers={}), "{name} is getting too many requests from you. Nothing is lost: try again later."),
    "no credit": (refuse(429, "insufficient_quota"), "{name} says that this account has no credit left. Add some, or use another provider."),
    "500": (refuse(500), "{name} is overloaded or out of order (status 500). Nothing is lost: try again later."),
    "529": (refuse(529), "{name} is overloaded or out of order (status 529). Nothing is lost: try again later."),
    "400": (refuse(400, message="messages.2: empty"), "{name} refused the request (status 400): messages.2: empty"),
    "closed": (hang_up, "Could not reach {name} at {address}: the connection failed or broke off. Check the network, then try again."),
    "cut": (cut, "Could not reach {name} at {address}: the connection failed or broke off. Check the network, then try again."),
    "page": (page(), "{name} answered with something that is not a chat reply. Try again; if it stays so, check the address: "
                     "base_url is '{address}'."),
    "half": (half_json, "{name} answered with something that is not a chat reply. Try again; if it stays so, check the "
                        "address: base_url is '{address}'."),
}


@both_wires
@pytest.mark.parametrize(("behaviour", "sentence"), TOLD.values(), ids=TOLD)
def test_each_error_is_said_in_words_that_name_what_to_do(server, wire, behaviour, sentence):
    server.always = behaviour
    row = PROVIDERS[wire]
    assert str(failure(live(server, wire, max_retries=0))) == sentence.format(
        name=wire, variable=row.key_variable, page=row.key_page, address=server.base_url(wire))


def test_no_choices_is_not_a_chat_reply(server):
    server.always = changed(lambda whole: whole.update(choices=[]))
    model = live(server, "openai")
    assert "not a chat reply" in str(failure(model))
    assert model.usage.calls == 1
    assert model.usage.output_tokens > 0   # it was paid for all the same


def test_no_content_is_not_a_chat_reply(server):
    server.always = changed(lambda whole: whole.pop("content"))
    assert "not a chat reply" in str(failure(live(server, "anthropic")))


@both_wires
def test_a_service_that_never_answers_ends_with_the_timeout(server, wire):
    server.always = silent
    started = time.monotonic()
    error = failure(live(server, wire, timeout=0.2, max_retries=0))
    assert 0.2 <= time.monotonic() - started < 5
    assert str(error) == f"{wire} did not answer within 0.2 seconds. Try again, or pass timeout=."


@both_wires
def test_the_text_of_a_bad_request_is_one_line_of_bounded_length(server, wire):
    server.always = page("<html>\n" + "<p>no</p>\n" * 1000, status=400)
    sentence = str(failure(live(server, wire)))
    assert "\n" not in sentence
    assert len(sentence) < 500


def test_nobody_there_is_said_with_the_address(server):
    model = connect("auto", "m", base_url="http://127.0.0.1:2/v1", max_retries=0)
    assert str(failure(model)).startswith("Could not reach your server at http://127.0.0.1:2/v1:")


def test_an_ollama_that_does_not_run_is_said_with_the_commands():
    error = failure(connect("ollama", "qwen9:1b", max_retries=0))
    assert str(error) == ("Ollama is not running at http://127.0.0.1:1. Start it with `ollama serve`, then fetch a model with "
                          "`ollama pull qwen9:1b`.")


def test_a_model_that_ollama_has_not_is_said_with_the_command(server):
    server.always = refuse(404)
    assert "Fetch it with `ollama pull m`" in str(failure(connect("ollama", "m", base_url=server.base_url("openai"))))


def test_a_password_in_the_address_is_not_shown(server):
    server.always = page()
    model = connect("auto", "m", base_url=f"http://ada:pass-word@{server.host}/v1")
    assert "pass-word" not in str(failure(model)) + repr(model)


LEAKY = {
    **{str(status): refuse(status, message=f"bad key {KEY}") for status in (400, 401, 402, 403, 404, 422, 429, 500)},
    "page": page(f"<p>{KEY}</p>", status=400), "page 200": page(f"<p>{KEY}</p>"), "closed": hang_up, "half": half_json,
    "header": refuse(429, headers={"retry-after": KEY, **AT_ONCE}),
}


@both_wires
@pytest.mark.parametrize("behaviour", LEAKY.values(), ids=LEAKY)
def test_no_error_shows_the_key_though_the_service_repeats_it(server, wire, behaviour):
    server.always = behaviour
    error = failure(live(server, wire, max_retries=0))
    shown = [str(error), repr(error), *error._render_traceback_()]
    assert not any(KEY in text for text in shown)


@both_wires
def test_a_notebook_shows_the_sentence_in_place_of_a_traceback(server, wire):
    server.always = refuse(401)
    error = failure(live(server, wire))
    assert error._render_traceback_() == [f"ModelError: {error}"]
    assert error.__suppress_context__


@both_wires
def test_a_failed_request_leaves_the_chat_as_it_was(server, wire):
    chat = Chat(live(server, wire), "Be brief.")
    chat.send("hello")
    before = list(chat.messages)
    server.queue(refuse(401))
    with pytest.raises(ModelError):
        chat.send("hello again")
    assert chat.messages == before
    assert chat.send("What did I just ask?") == 'You asked: "hello"'


# ---- usage ----

@both_wires
def test_usage_is_added_up(server, wire):
    model = live(server, wire)
    model.reply("", HELLO)
    once = model.usage.input_tokens, model.usage.output_tokens
    model.reply("", HELLO)
    assert model.usage.calls == 2
    assert (model.usage.input_tokens, model.usage.output_tokens) == (2 * once[0], 2 * once[1])
    assert min(once) > 0


@both_wires
def test_one_reply_without_usage_makes_the_sum_unknown_for_good(server, wire):
    model = live(server, wire)
    model.reply("", HELLO)
    server.queue(changed(lambda whole: whole.pop("usage")))
    model.reply("", HELLO)
    model.reply("", HELLO)
    assert (model.usage.calls, model.usage.input_tokens, model.usage.output_tokens) == (3, None, None)


def test_cached_input_of_anthropic_counts_as_input(server):
    server.always = changed(lambda whole: whole.update(usage={
        "input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 5}))
    model = live(server, "anthropic")
    model.reply("", HELLO)
    assert (model.usage.input_tokens, model.usage.output_tokens) == (321, 5)


@both_wires
def test_a_failed_request_counts_as_no_call(server, wire):
    server.always = refuse(401)
    model = live(server, wire)
    failure(model)
    assert model.usage.calls == 0


@pytest.mark.parametrize(("wire", "word", "reason"), [
    ("openai", "stop", "end"), ("openai", "length", "length"), ("openai", "tool_calls", "tool_calls"),
    ("openai", "content_filter", "content_filter"),
    ("anthropic", "end_turn", "end"), ("anthropic", "max_tokens", "length"), ("anthropic", "tool_use", "tool_calls"),
    ("anthropic", "stop_sequence", "stop_sequence"), ("anthropic", "refusal", "refusal")])
def test_the_stop_reason_of_both_formats_has_one_name(server, wire, word, reason):
    def change(whole):
        (whole if wire == "anthropic" else whole["choices"][0])["stop_reason" if wire == "anthropic" else "finish_reason"] = word
    server.always = changed(change)
    model = live(server, wire)
    model.reply("", HELLO)
    assert model.stop_reason == reason


@both_wires
def test_an_empty_reply_is_an_empty_text(server, wire):
    def change(whole):
        if wire == "anthropic":
            whole["content"] = []
        else:
            whole["choices"][0]["message"]["content"] = None
    server.always = changed(change)
    assert live(server, wire).reply("", HELLO) == ""


# ---- choosing a provider ----

def test_without_arguments_the_practice_model_answers():
    model = connect()
    assert repr(model) == "<model 'practice' by practice, openai format (free: no key, no network)>"


def test_the_practice_model_speaks_the_other_format():
    assert repr(connect(wire="anthropic")) == "<model 'practice' by practice, anthropic format (free: no key, no network)>"


def test_an_unknown_wire_names_those_that_there_are():
    with pytest.raises(ModelError, match="'openai' and 'anthropic'"):
        connect(wire="grpc")


@pytest.mark.parametrize("row", PROVIDERS.values(), ids=PROVIDERS)
def test_every_provider_can_be_connected_and_asks_its_own_address(row, monkeypatch):
    monkeypatch.delenv("OLLAMA_HOST")
    model = connect(row.name, row.model, api_key=KEY)
    assert urlsplit(str(model.client.base_url)).netloc == urlsplit(row.base_url).netloc
    assert str(model.client.base_url).rstrip("/") == model.base_url.rstrip("/")
    assert model.wire == row.wire
    assert model.name == row.model


@both_wires
def test_the_practice_model_has_an_address_that_cannot_exist(wire, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    assert connect(wire=wire).client.base_url.host == "practice.invalid"


def test_an_address_does_not_go_with_the_practice_model():
    with pytest.raises(ModelError, match='Name it, or "auto", first'):
        connect(base_url="http://127.0.0.1:1/v1")


@both_wires
def test_the_practice_model_asks_no_proxy(wire, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert connect(wire=wire, max_retries=0).reply("", HELLO).startswith("Hello.")


@pytest.mark.parametrize("row", WITH_KEY, ids=[row.name for row in WITH_KEY])
def test_a_missing_key_names_the_variable_and_the_page(row):
    with pytest.raises(ModelError) as caught:
        connect(row.name)
    assert row.key_variable in str(caught.value)
    assert row.key_page in str(caught.value)
    assert row.key_page.startswith("https://")


@pytest.mark.parametrize("row", WITH_KEY, ids=[row.name for row in WITH_KEY])
def test_each_provider_reads_the_key_of_its_own_variable(row, monkeypatch):
    monkeypatch.setenv(row.key_variable, f"  {KEY}\n")
    assert connect(row.name).client.api_key == KEY


def test_a_key_of_white_space_is_a_missing_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "  \n")
    with pytest.raises(ModelError, match="No key for openai"):
        connect("openai")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize("key", ["sk-geheim-ä", "sk-geheim\nnext line", "sk-geheim and more", "sk-geheim\x00"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(provider, key):
    with pytest.raises(ModelError) as caught:
        connect(provider, "m", api_key=key)
    assert "Copy it again" in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_an_unknown_provider_names_those_that_there_are():
    with pytest.raises(ModelError) as caught:
        connect("openia")
    assert "'openia'" in str(caught.value)
    assert all(name in str(caught.value) for name in ["auto", *PROVIDERS])


def test_an_unknown_option_names_those_that_there_are():
    with pytest.raises(TypeError, match="temprature.*temperature"):
        connect("ollama", "m", temprature=0)


@pytest.mark.parametrize("option", [{"wire": "openai"}, {"faults": "silence"}, {"seed": 1}, {"script": ["Hi."]}])
def test_options_of_the_practice_model_are_refused_elsewhere(option):
    with pytest.raises(TypeError, match=f"{list(option)[0]!r} is an option of the practice model only, not of ollama"):
        connect("ollama", "m", **option)


def test_an_option_is_judged_after_auto_has_chosen():
    assert connect("auto", "practice", seed=3, faults="silence").reply("", HELLO) == ""
    with pytest.raises(TypeError, match="not of anthropic"):
        connect("auto", "claude-new-9", api_key=KEY, seed=3)


@pytest.mark.parametrize("base_url", ["localhost:8000/v1", "api.example.com", "ftp://host/v1", "http://", "http://[::1/v1", "http://h:port/v1"])
def test_an_address_that_is_none_is_refused_at_once(base_url):
    with pytest.raises(ModelError, match="base_url is not an address"):
        connect("auto", "m", base_url=base_url)


# ---- "auto" ----

@pytest.mark.parametrize("row", PROVIDERS.values(), ids=PROVIDERS)
def test_auto_knows_each_provider_by_its_address(row, monkeypatch):
    monkeypatch.delenv("OLLAMA_HOST")
    assert connect("auto", "gpt-9", api_key=KEY, base_url=row.base_url).provider is row


def test_auto_takes_another_address_for_a_server_of_the_openai_format(server):
    model = connect("auto", "claude-like", base_url=server.base_url("openai"))
    assert model.reply("", HELLO).startswith("Hello.")
    assert repr(model) == "<model 'claude-like' by your server, openai format (cost unknown)>"


def test_auto_tells_two_servers_on_one_machine_apart(monkeypatch):
    monkeypatch.delenv("OLLAMA_HOST")
    assert connect("auto", "m", base_url="http://localhost:8000/v1").provider.name == "your server"
    assert connect("auto", "m", base_url="http://127.0.0.1:11434/v1").provider.name == "ollama"


def test_a_server_whose_models_are_unknown_needs_a_model_name(server):
    with pytest.raises(ModelError, match=f"Name the model that http://{server.host}/v1 serves"):
        connect("auto", base_url=server.base_url("openai"))


OWN_NAMES = [(row.model, row.name) for row in WITH_KEY if "/" not in row.model]


@pytest.mark.parametrize(("model", "provider"), [
    *OWN_NAMES, ("practice", "practice"), ("maker/model-1.5", "openrouter"), ("maker/model-20b:free", "openrouter"),
    ("claude-new-9", "anthropic"), ("gpt-9", "openai"), ("chatgpt-latest", "openai"), ("o3", "openai"), ("o4-mini", "openai"),
    ("deepseek-reasoner", "deepseek"), ("grok-9", "xai"), ("qwen9-max", "alibaba"), ("glm-9.1", "zhipu"), ("kimi-k9", "moonshot"),
    ("moonshot-v9-8k", "moonshot"), ("mimo-v9", "xiaomi")])
def test_auto_knows_a_provider_by_the_name_of_the_model(model, provider):
    connected = connect("auto", model, **({} if provider == "practice" else {"api_key": KEY}))
    assert (connected.provider.name, connected.name) == (provider, model)


@pytest.mark.parametrize(("asked", "chosen"), [("qwen9:1b", "qwen9:1b"), ("llama4", "llama4"), (None, "qwen9:1b")])
def test_auto_finds_a_running_ollama(asked, chosen, monkeypatch):
    with Loopback(models=["qwen9:1b", "llama4:latest"]) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        model = connect("auto", asked)
        assert (model.provider.name, model.name) == ("ollama", chosen)
        assert model.reply("", HELLO).startswith("Hello.")


def test_auto_names_the_providers_where_an_ollama_has_another_model(monkeypatch):
    with Loopback(models=["qwen9:1b"]) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        with pytest.raises(ModelError, match="Cannot tell which provider has the model 'phi4'.*Or name the provider: practice, openai"):
            connect("auto", "phi4")


@pytest.mark.parametrize("models", [None, []])
def test_auto_says_what_it_needs_where_nothing_is_named(models, monkeypatch):
    with Loopback(models=models) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        with pytest.raises(ModelError) as caught:
            connect("auto")
    assert str(caught.value).startswith('"auto" needs a model= or base_url= to choose by, or an Ollama that is running and has a model.')
    assert "None" not in str(caught.value)


def test_ollama_answers_with_the_first_model_that_it_has(monkeypatch):
    with Loopback(models=["llama4:latest"]) as ollama:
        assert connect("ollama", base_url=ollama.base_url("openai")).name == "llama4:latest"
    assert connect("ollama").name == PROVIDERS["ollama"].model   # nobody is there to ask


@pytest.mark.parametrize(("host", "address"), [
    ("", "http://localhost:11434/v1"), ("box", "http://box:11434/v1"), ("box:99", "http://box:99/v1"), (":99", "http://127.0.0.1:99/v1"),
    ("0.0.0.0", "http://127.0.0.1:11434/v1"), ("[::1]:99", "http://[::1]:99/v1"), ("http://box:99/", "http://box:99/v1"),
    ("https://box/ollama", "https://box:443/ollama/v1")])
def test_ollama_host_is_read_as_ollama_reads_it(host, address, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert connect("ollama", "m").base_url == address


# ---- the environment ----

def test_a_variable_changes_the_default(monkeypatch):
    monkeypatch.setenv("AGENT_STEPS_PROVIDER", "ollama")
    assert connect(model="m").provider.name == "ollama"


def test_the_variable_does_not_override_an_argument(monkeypatch):
    monkeypatch.setenv("AGENT_STEPS_PROVIDER", "openai")
    assert connect("practice").provider.name == "practice"
    assert connect("ollama", "m").provider.name == "ollama"


def test_a_wrong_value_of_the_variable_is_said_with_its_name(monkeypatch):
    monkeypatch.setenv("AGENT_STEPS_PROVIDER", "openia")
    with pytest.raises(ModelError, match="AGENT_STEPS_PROVIDER"):
        connect()


def test_keys_in_the_environment_alone_change_nothing(monkeypatch):
    for row in WITH_KEY:
        monkeypatch.setenv(row.key_variable, KEY)
    assert connect().provider.name == "practice"


@pytest.mark.parametrize("row", PROVIDERS.values(), ids=PROVIDERS)
def test_a_model_shows_whether_it_costs_and_never_its_key(row):
    shown = repr(connect(row.name, row.model, api_key=KEY))
    cost = {"practice": "free: no key, no network", "ollama": "no key needed"}.get(row.name, "every call costs money")
    assert shown == f"<model {row.model!r} by {row.name}, {row.wire} format ({cost})>"


@both_wires
def test_there_is_one_live_client_for_an_address_and_key(server, wire):
    first, second = live(server, wire), live(server, wire, model="another-model")
    assert first.client is second.client
    assert connect(wire, "m", api_key="sk-other", base_url=server.base_url(wire)).client is not first.client
    assert first.client is live_client(wire, server.base_url(wire), KEY, 60, 2)


# ---- Colab's secrets, by a stand-in ----

class SecretNotFoundError(Exception):
    pass


class NotebookAccessError(Exception):
    pass


@pytest.fixture
def colab(monkeypatch):
    """A stand-in for google.colab. Its secrets are a dict from name to value or to the error that is raised."""
    secrets = {}

    def get(name):
        value = secrets.get(name, SecretNotFoundError(name))
        if isinstance(value, Exception):
            raise value
        return value

    userdata = types.SimpleNamespace(get=get, SecretNotFoundError=SecretNotFoundError, NotebookAccessError=NotebookAccessError)
    module = types.ModuleType("google.colab")
    module.userdata = userdata
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    return secrets


def test_a_key_is_found_in_the_secrets_of_colab(colab):
    colab["OPENAI_API_KEY"] = KEY
    assert connect("openai").client.api_key == KEY


def test_the_environment_comes_before_the_secrets_of_colab(colab, monkeypatch):
    colab["OPENAI_API_KEY"] = "sk-from-colab"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert connect("openai").client.api_key == KEY


def test_an_environment_of_white_space_does_not_hide_a_secret_of_colab(colab, monkeypatch):
    colab["OPENAI_API_KEY"] = KEY
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert connect("openai").client.api_key == KEY


@pytest.mark.parametrize("secrets", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": " \n"}, {"openai_api_key": KEY}])
def test_a_secret_that_is_not_there_is_a_missing_key_and_colabs_place_for_it_is_named(colab, secrets):
    colab.update(secrets)
    with pytest.raises(ModelError, match="No key for openai: in Colab's secrets.* called OPENAI_API_KEY, to the letter") as caught:
        connect("openai")
    assert "environment variable" not in str(caught.value)


def test_a_secret_that_the_notebook_may_not_read_is_said_as_that(colab):
    colab["OPENAI_API_KEY"] = NotebookAccessError("x")
    with pytest.raises(ModelError, match="has a secret OPENAI_API_KEY, but this notebook may not read it.*switch on"):
        connect("openai")


# ---- loading ----

@pytest.mark.parametrize("module", ["agent_steps", "agent_steps.providers", "agent_steps.run_agent"])
def test_importing_loads_no_sdk_and_no_plotting(module):
    code = f"import sys, {module}; print(*({{'openai', 'anthropic', 'httpx2', 'pandas', 'matplotlib'}} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (loaded.stdout.strip(), loaded.stderr) == ("", "")


def test_connecting_loads_only_the_client_that_is_needed():
    code = "import sys; from agent_steps.providers import connect; connect(); print('anthropic' in sys.modules, 'openai' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert loaded.stdout.split() == ["False", "True"]

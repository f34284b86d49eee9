"""What a person sets for a session: keys, addresses, and what is asked about providers."""
import pytest
from loopback import Loopback, refuse

from agent_steps.providers import ModelError, connect, default_model, ollama_models, set_base_url, set_key
from agent_steps.providers.catalogue import PROVIDERS

ASK = [{"role": "user", "content": "Hello"}]


@pytest.fixture(autouse=True)
def nothing_stays_set():
    yield
    for name in PROVIDERS:
        set_key(name, None)
        set_base_url(name, None)


@pytest.fixture
def server():
    with Loopback(models=["small:1b", "large:9b"]) as server:
        yield server


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_key_and_an_address_that_were_set_are_used(name, server, monkeypatch):
    variable, wire = PROVIDERS[name].key_variable, PROVIDERS[name].wire
    monkeypatch.setenv(variable, "from-the-environment")
    assert set_base_url(name, server.base_url(wire)) is None and set_key(name, "set-key-1") is None
    connect(name).reply("", ASK)
    assert set_key(name, "set-key-2") == "set-key-1"
    connect(name).reply("", ASK)
    assert set_key(name, None) == "set-key-2" and set_key(name, None) is None
    connect(name).reply("", ASK)
    connect(name, api_key="argument").reply("", ASK)
    sent = [request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ") for request in server.requests]
    assert sent == ["set-key-1", "set-key-2", "from-the-environment", "argument"]


def test_an_address_that_was_set_gives_way_to_the_argument_and_comes_back_as_the_old_value(server):
    set_base_url("ollama", "http://127.0.0.1:1/v1")
    connect("ollama", "small:1b", base_url=server.base_url("openai")).reply("", ASK)
    assert set_base_url("ollama", server.base_url("openai")) == "http://127.0.0.1:1/v1"
    connect("ollama", "small:1b").reply("", ASK)
    assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2
    assert connect("auto", base_url=server.base_url("openai"), model="small:1b").provider.name == "ollama"


def test_a_key_that_was_set_is_not_shown():
    set_key("openai", "sk-very-secret")
    assert "secret" not in repr(connect("openai"))


def test_the_models_of_a_local_ollama_are_listed(server):
    set_base_url("ollama", server.base_url("openai"))
    assert ollama_models() == ["small:1b", "large:9b"] and connect("ollama").name == "small:1b"


def test_where_no_ollama_answers_the_list_is_empty():
    set_base_url("ollama", "http://127.0.0.1:1/v1")
    assert ollama_models() == []


def test_the_default_model_of_a_provider_can_be_asked():
    assert {name: default_model(name) for name in PROVIDERS} == {name: row.model for name, row in PROVIDERS.items()}


@pytest.mark.parametrize("change", [lambda: set_key("opnai", "x"), lambda: set_base_url("opnai", "x"), lambda: default_model("opnai")])
def test_an_unknown_provider_is_named_with_those_that_there_are(change):
    with pytest.raises(ModelError, match="Unknown provider 'opnai'. There are: practice, openai"):
        change()


def test_an_address_that_is_none_is_refused_where_it_is_used():
    set_base_url("ollama", "localhost:8000")
    with pytest.raises(ModelError, match="not an address"):
        connect("ollama", "small:1b")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize("behaviour, tries", [
    (refuse(429, "insufficient_quota"), 1), (refuse(402, "billing_error"), 1), (refuse(401), 1), (refuse(400), 1), (refuse(404), 1),
    (refuse(429, "rate_limit_error"), 3), (refuse(408), 3), (refuse(409), 3), (refuse(500), 3), (refuse(503), 3), (refuse(529), 3)])
def test_what_may_pass_is_tried_three_times_and_what_does_not_once(name, behaviour, tries, server):
    server.always = behaviour
    model = connect(name, base_url=server.base_url(PROVIDERS[name].wire), api_key="key")
    with pytest.raises(ModelError) as caught:
        model.reply("", ASK)
    assert len(server.requests) == tries and caught.value.may_pass == (tries == 3)

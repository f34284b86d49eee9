"""``connect``: from a provider's name to a model that answers."""
import os
from dataclasses import replace
from urllib.parse import urlsplit

from agent_steps.providers.anthropic_model import AnthropicModel
from agent_steps.providers.catalogue import COMPATIBLE, MODEL_NAMES, PROVIDERS, Provider
from agent_steps.providers.clients import live_client, practice_client
from agent_steps.providers.errors import ModelError, shown_address
from agent_steps.providers.extras import usable_extras
from agent_steps.providers.keys import find_key
from agent_steps.providers.model import Model
from agent_steps.providers.ollama import ollama_address, ollama_models
from agent_steps.providers.openai_model import OpenAIModel
from agent_steps.providers.settings import address_set_for

DEFAULT_VARIABLE = "AGENT_STEPS_PROVIDER"
REQUEST_OPTIONS = {"temperature", "max_tokens", "stop", "cache", "thinking"}
CLIENT_OPTIONS = {"timeout", "max_retries"}
PRACTICE_OPTIONS = {"wire", "faults", "seed", "script"}


def connect(provider: str | None = None, model: str | None = None, *, api_key: str | None = None,
            base_url: str | None = None, **options) -> Model:
    """Return a model. Without arguments that is the practice model: no key, no network, no cost.

    provider: a name from PROVIDERS, or "auto" to choose by address, then by model name, then a running Ollama. When it
        is not given, the environment variable AGENT_STEPS_PROVIDER may name another default.
    model: the model's name; each provider has a default.
    api_key, base_url: in place of the provider's own variable and address.
    options: temperature, max_tokens, stop (text or list of texts), timeout (seconds, default 60), max_retries
        (default 2); in Anthropic's format cache (what is kept between requests: "none", the system prompt for "5m" or "1h",
        or "auto" for all) and thinking (tokens to think aloud with; lesson 19), which are ignored elsewhere, with a warning;
        for the practice model also wire ("openai" or "anthropic"), faults, seed and script.

    Raises ModelError for an unknown provider or a missing key, TypeError for an unknown option, ValueError for an unknown
    fault and for a cache or thinking that cannot be.
    """
    _check_address(base_url)
    row = _choose(provider, model, base_url)
    _check_address(base_url or address_set_for(row.name))
    _check_options(row, options)
    options = usable_extras(options, options.get("wire", row.wire), row.name)
    if row.name == "practice":
        if base_url not in (None, row.base_url):
            raise ModelError('base_url is for another provider than the practice model. Name it, or "auto", first.')
        return _practice_model(row, model, options)
    return _live_model(row, model, api_key, base_url or _own_address(row), options)


def _choose(provider: str | None, model: str | None, base_url: str | None) -> Provider:
    name = provider or os.environ.get(DEFAULT_VARIABLE) or "practice"
    if name == "auto":
        return _detect(model, base_url)
    if name not in PROVIDERS:
        source = "" if provider else f" (it comes from the environment variable {DEFAULT_VARIABLE})"
        raise ModelError(f"Unknown provider {name!r}{source}. Choose one of: auto, {', '.join(PROVIDERS)}.")
    return PROVIDERS[name]


def _detect(model: str | None, base_url: str | None) -> Provider:
    """Choose by base address, then by model name, then a running Ollama that has the model."""
    if base_url:
        place = _place(base_url)
        return next((row for row in PROVIDERS.values() if _place(_own_address(row)) == place), COMPATIBLE)
    for pattern, name in MODEL_NAMES:
        if model and pattern.match(model):
            return PROVIDERS[name]
    installed = ollama_models(ollama_address())
    if installed and (model is None or model in installed or f"{model}:latest" in installed):
        return PROVIDERS["ollama"]
    problem = (f"Cannot tell which provider has the model {model!r}, and no Ollama that has it is running." if model else
               '"auto" needs a model= or base_url= to choose by, or an Ollama that is running and has a model.')
    raise ModelError(f"{problem} Or name the provider: {', '.join(PROVIDERS)}.")


def _place(base_url: str) -> tuple[str | None, int | None]:
    """Host and port: two servers on one machine differ in the port only."""
    parts = urlsplit(base_url)
    return "127.0.0.1" if parts.hostname == "localhost" else parts.hostname, parts.port


def _own_address(row: Provider) -> str:
    own = ollama_address() if row.name == "ollama" else row.base_url
    return address_set_for(row.name) or own


def _check_address(base_url: str | None) -> None:
    try:
        parts = base_url and urlsplit(base_url)
        usable = not parts or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:   # brackets that do not match, or a port that is no number
        usable = False
    if not usable:
        raise ModelError("base_url is not an address. It begins with http:// or https:// and then names a host, "
                         "for example http://localhost:8000/v1.")


def _check_options(row: Provider, options: dict) -> None:
    known = REQUEST_OPTIONS | CLIENT_OPTIONS | (PRACTICE_OPTIONS if row.name == "practice" else set())
    for name in options:
        if name in PRACTICE_OPTIONS - known:
            raise TypeError(f"connect: {name!r} is an option of the practice model only, not of {row.name}.")
        if name not in known:
            raise TypeError(f"connect: unknown option {name!r}. The options are: {', '.join(sorted(known))}.")


def _practice_model(row: Provider, model: str | None, options: dict) -> Model:
    from agent_steps.practice.transport import practice_transport

    wire = options.get("wire", "openai")
    if wire not in ("openai", "anthropic"):
        raise ModelError(f"Unknown wire {wire!r}: the practice model speaks 'openai' and 'anthropic'.")
    transport = practice_transport(options.get("faults"), options.get("seed", 0), options.get("script"))
    base_url = row.base_url.removesuffix("/v1") if wire == "anthropic" else row.base_url
    client = practice_client(wire, transport, base_url, options.get("max_retries", 2))
    return _model(wire, row if wire == row.wire else replace(row, wire=wire), model or row.model, client, base_url, options)


def _live_model(row: Provider, model: str | None, api_key: str | None, base_url: str, options: dict) -> Model:
    name = model or (next(iter(ollama_models(base_url)), row.model) if row.name == "ollama" else row.model)
    if name is None:
        raise ModelError(f"Name the model that {shown_address(base_url)} serves: connect('auto', model=..., base_url=...).")
    client = live_client(row.wire, base_url, find_key(row, api_key), options.get("timeout", 60), options.get("max_retries", 2))
    return _model(row.wire, row, name, client, base_url, options)


def _model(wire: str, row: Provider, name: str, client, base_url: str, options: dict) -> Model:
    kind = AnthropicModel if wire == "anthropic" else OpenAIModel
    request_options = {key: value for key, value in options.items() if key in REQUEST_OPTIONS}
    return kind(row, name, client, base_url, options.get("timeout", 60), request_options)

"""What a person sets for this session: the key and the address of a provider. Nothing is written to disk."""
from agent_steps.providers.catalogue import PROVIDERS
from agent_steps.providers.errors import ModelError

_keys: dict[str, str] = {}
_addresses: dict[str, str] = {}


def set_key(provider: str, key: str | None) -> str | None:
    """Use this key for a provider from now on, before the environment's. None: use the environment's again.

    Returns what was set before, so that it can be set again; None if nothing was. Raises ModelError for an unknown provider.
    """
    return _change(_keys, provider, key)


def set_base_url(provider: str, base_url: str | None) -> str | None:
    """Reach a provider at this address from now on, for example through a gateway. None: at its own again.

    Returns what was set before; None if nothing was. Raises ModelError for an unknown provider.
    """
    return _change(_addresses, provider, base_url)


def default_model(provider: str) -> str | None:
    """Return the model that is used when none is named. Raises ModelError for an unknown provider."""
    _check(provider)
    return PROVIDERS[provider].model


def key_set_for(provider: str) -> str | None:
    """Return the key that was set, or None."""
    return _keys.get(provider)


def address_set_for(provider: str) -> str | None:
    """Return the address that was set, or None."""
    return _addresses.get(provider)


def _change(settings: dict, provider: str, value: str | None) -> str | None:
    _check(provider)
    before = settings.pop(provider, None)
    if value is not None:
        settings[provider] = value
    return before


def _check(provider: str) -> None:
    if provider not in PROVIDERS:
        raise ModelError(f"Unknown provider {provider!r}. There are: {', '.join(PROVIDERS)}.")

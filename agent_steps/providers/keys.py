"""Where a key comes from: the argument, the environment, or Colab's secrets. It is never printed."""
import os
import re
import sys

from agent_steps.providers.catalogue import Provider
from agent_steps.providers.errors import ModelError


def find_key(provider: Provider, api_key: str | None = None) -> str:
    """Return the key for a provider.

    Raises ModelError, naming the variable and where to get a key, where there is none.
    """
    if provider.key_variable is None:
        return _clean(api_key or "no-key-needed", provider)
    key = api_key or os.environ.get(provider.key_variable, "") or _colab_secret(provider.key_variable)
    if not key.strip():
        raise ModelError(f"No key for {provider.name}: set the environment variable {provider.key_variable}. "
                         f"Get a key at {provider.key_page}. The lessons need none: connect() is the practice model.")
    return _clean(key, provider)


def _clean(key: str, provider: Provider) -> str:
    """The key without the white space around it. What else cannot stand in a header was copied by mistake."""
    key = key.strip()
    if not re.fullmatch(r"[!-~]+", key):
        raise ModelError(f"The key for {provider.name} holds white space or letters that no key has. Copy it again.")
    return key


def _colab_secret(name: str) -> str:
    if "google.colab" not in sys.modules:
        return ""
    from google.colab import userdata

    try:
        return userdata.get(name) or ""
    except (userdata.SecretNotFoundError, userdata.NotebookAccessError):
        return ""

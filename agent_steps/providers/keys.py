"""Where a key comes from: the argument, what was set in this session, the environment, or Colab's secrets. It is never printed."""
import os
import re
import sys

from agent_steps.providers.catalogue import Provider
from agent_steps.providers.errors import ModelError
from agent_steps.providers.settings import key_set_for


def find_key(provider: Provider, api_key: str | None = None) -> str:
    """Return the key for a provider.

    Raises ModelError, naming the variable and where to get a key, where there is none.
    """
    api_key = api_key or key_set_for(provider.name)
    if provider.key_variable is None:
        return _clean(api_key or "no-key-needed", provider)
    key = api_key or os.environ.get(provider.key_variable, "").strip() or _colab_secret(provider.key_variable)
    if not key.strip():
        raise ModelError(f"No key for {provider.name}: {_what_to_set(provider.key_variable)}. "
                         f"Get a key at {provider.key_page}. The lessons need none: connect() is the practice model.")
    return _clean(key, provider)


def _what_to_set(name: str) -> str:
    if _in_colab():
        return f"in Colab's secrets (the key at the left edge), add one that is called {name}, to the letter, and give this notebook access"
    return f"set the environment variable {name}"


def _clean(key: str, provider: Provider) -> str:
    """The key without the white space around it. What else cannot stand in a header was copied by mistake."""
    key = key.strip()
    if not re.fullmatch(r"[!-~]+", key):
        raise ModelError(f"The key for {provider.name} holds white space or letters that no key has. Copy it again.")
    return key


def _in_colab() -> bool:
    return "google.colab" in sys.modules


def _colab_secret(name: str) -> str:
    """The secret of that name, empty where Colab has none. Raises ModelError where the notebook has no access to it."""
    if not _in_colab():
        return ""
    from google.colab import userdata

    try:
        return userdata.get(name) or ""
    except userdata.SecretNotFoundError:
        return ""
    except userdata.NotebookAccessError:
        raise ModelError(f"Colab has a secret {name}, but this notebook may not read it. Open Colab's secrets (the key at the left "
                         "edge), switch on its notebook access, and run this cell again.") from None

"""A stand-in for Colab's secrets: a name, and its value or None where the notebook has no access to it."""

secrets = {}


class SecretNotFoundError(Exception):
    """Colab has no secret of this name."""


class NotebookAccessError(Exception):
    """There is a secret, but not for this notebook."""


def get(key):
    """Return a secret, as Colab does."""
    if key not in secrets:
        raise SecretNotFoundError(key)
    if secrets[key] is None:
        raise NotebookAccessError(key)
    return secrets[key]

"""Ollama, which runs models on one's own machine: where it answers, and which models it has."""
import os
from urllib.parse import urlsplit

from agent_steps.providers.catalogue import PROVIDERS
from agent_steps.providers.settings import address_set_for

PORTS = {"": 11434, "http": 80, "https": 443}   # Ollama's own, unless the address says how it is to be read


def ollama_address() -> str:
    """Ollama's address. OLLAMA_HOST may change it: host, host:port, :port or a whole address, as Ollama reads it."""
    host = os.environ.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not host:
        return PROVIDERS["ollama"].base_url
    parts = urlsplit(host if "://" in host else f"//{host}")
    name = parts.hostname or "127.0.0.1"
    if name in ("0.0.0.0", "::"):   # that is where a server listens, but nobody can call there
        name = "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    return f"{parts.scheme or 'http'}://{name}:{parts.port or PORTS[parts.scheme]}{parts.path}/v1"


def ollama_models(base_url: str | None = None) -> list[str]:
    """The names of the models that are installed there; an empty list where no Ollama answers.

    base_url: None for the one that connect("ollama") reaches.
    """
    import httpx2

    base_url = base_url or address_set_for("ollama") or ollama_address()
    try:
        answer = httpx2.get(base_url.rstrip("/").removesuffix("/v1") + "/api/tags", timeout=1)
        return [entry["name"] for entry in answer.json()["models"]]
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return []

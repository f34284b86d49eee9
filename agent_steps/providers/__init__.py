"""Which model answers: ``connect()``. Loading this package loads no SDK; connecting does."""
from agent_steps.providers.connecting import connect
from agent_steps.providers.errors import ModelError
from agent_steps.providers.ollama import ollama_models
from agent_steps.providers.settings import default_model, set_base_url, set_key

__all__ = ["ModelError", "connect", "default_model", "ollama_models", "set_base_url", "set_key"]

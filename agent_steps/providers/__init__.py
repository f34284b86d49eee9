"""Which model answers: ``connect()``. Loading this package loads no SDK; connecting does."""
from agent_steps.providers.connecting import connect
from agent_steps.providers.errors import ModelError

__all__ = ["ModelError", "connect"]

"""What can be wrong with a source."""


class SourceError(Exception):
    """A page or a search that could not be had. The text says why, for the model and for a person."""


class RateLimited(SourceError):
    """Too many requests: the same one may work later.

    wait_seconds: how long the other side asks to wait, None if it does not say.
    """

    def __init__(self, sentence: str, wait_seconds: float | None = None):
        super().__init__(sentence)
        self.wait_seconds = wait_seconds

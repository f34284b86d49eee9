"""What is known of pages: plain dicts with fixed keys, which pydantic checks where a state holds them."""
from pydantic import ConfigDict
from typing_extensions import TypedDict


class Result(TypedDict):
    """What a search says of a page: its address, its title, and a little of its text."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    url: str
    title: str
    snippet: str


class Page(TypedDict):
    """A page that was read: its address, title and text."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    url: str
    title: str
    content: str


class Fact(TypedDict):
    """A statement, the address of its page, and the words of that page that it rests on."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    fact: str
    source_url: str
    quote: str


class Section(TypedDict):
    """A section of a report: its heading, and the numbers of its facts, from 1."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    heading: str
    facts: list[int]

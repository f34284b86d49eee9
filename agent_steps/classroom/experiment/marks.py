"""What tells one experiment from another in a file of results: a text that changes with whatever could change a row."""
import ast
import functools
import hashlib
import inspect
from pathlib import Path
from types import FunctionType, ModuleType

PLAIN = (str, bytes, int, float, bool, type(None), Path)   # what its repr says all about


def mark_of(condition, *others) -> str:
    """Return what marks the rows of a condition. It changes with any setting and with the text of a function.

    A function's text is all that it says, and what it uses from its own module: the functions, texts and numbers there. What
    other modules do is not seen. condition: a dataclass. others: what else is the same for all runs.
    """
    return hashlib.sha256(repr(_described((condition, *others), set())).encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _described(value, seen: set):
    """Return nested tuples of texts that stand for a value and are the same in every session."""
    if isinstance(value, PLAIN):
        return repr(value)
    if id(value) in seen:   # it holds or calls itself
        return "again"
    seen = seen | {id(value)}
    if isinstance(value, functools.partial):
        return tuple(_described(each, seen) for each in (value.func, value.args, value.keywords))
    if isinstance(value, FunctionType):
        return _source(value), tuple(_described(each, seen) for each in _used_by(value))
    if isinstance(value, dict):
        return tuple(sorted(((repr(key), _described(each, seen)) for key, each in value.items()), key=repr))
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [_described(each, seen) for each in value]
        return tuple(sorted(parts, key=repr) if isinstance(value, (set, frozenset)) else parts)
    if isinstance(value, (type, ModuleType)):
        return value.__name__
    return type(value).__qualname__, _described(getattr(value, "__dict__", {}), seen), _source(type(value)) if callable(value) else ""


def _used_by(function) -> list:
    """What a function uses from outside: what it remembers, and what its own module holds."""
    used = inspect.getclosurevars(function)
    own = {name: value for name, value in used.globals.items()
           if not isinstance(value, ModuleType) and getattr(value, "__module__", function.__module__) == function.__module__}
    return [used.nonlocals, own, function.__defaults__]


def _source(function) -> str:
    try:
        if getattr(function, "__name__", "") == "<lambda>":   # alone, without what else stands in its line
            lines, _ = inspect.findsource(function)
            return "\n".join(ast.unparse(node) for node in ast.walk(ast.parse("".join(lines)))
                             if isinstance(node, ast.Lambda) and node.lineno == function.__code__.co_firstlineno)
        return inspect.getsource(function)
    except (OSError, TypeError):   # typed at a prompt
        return getattr(function, "__qualname__", "")

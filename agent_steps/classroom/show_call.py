"""What a person sees before approving a call: the parsed call that will run, and nothing that hides in it.

    show_call(call)      # every argument, long ones by size and both ends; what a write would replace
    short_call(call)     # one line, for tables
    show_text(text)      # a reply or a result, on the screen
    visible(text)        # control, bidi and other invisible characters as escapes
"""

import tokenize
from pathlib import Path

FIRST_LINES, LAST_LINES, MOST_LINES = 120, 60, 200   # more lines than MOST_LINES: only these at both ends
FIRST_SHOWN, LAST_SHOWN, MOST_SHOWN = 6, 3, 30       # the same for a result on the screen, which nobody has to approve
LINE_LENGTH, WRAP, SCREEN_LENGTH = 1000, 160, 240    # a longer line is wrapped where it is to be approved, else cut
BIGGEST_FILE = 5_000_000                             # bytes; a bigger file is not read to count its lines

# Characters that count as printable and yet show nothing (Unicode: Default_Ignorable_Code_Point, and the braille blank).
BLANKS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159,
          *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def visible(text) -> str:
    r"""Show what cannot be seen: ESC becomes \x1b, a right-to-left override \u202e. Letters such as é and 你 stay."""
    text = str(text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character.isprintable() and ord(character) not in BLANKS
                   else character.encode("unicode_escape").decode("ascii") for character in text)


def plain_lines(text) -> list:
    r"""Split at the line ends \n and \r\n, nothing else."""
    lines = str(text).replace("\r\n", "\n").split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()                                  # the end of the last line begins no other
    return lines


def visible_lines(text) -> list:
    """Split a text into lines, and show what cannot be seen in each line."""
    return [visible(line) for line in plain_lines(text)]


def short_call(call, width=60) -> str:
    """Show a call in one line: ``list_files(path='.')``, cut in the middle where it is longer than ``width``."""
    arguments = ", ".join(f"{visible(name)}={in_one_line(value)}" for name, value in call.arguments.items())
    return cut_middle(f"{visible(call.name)}({arguments})", width)


def show_call(call, folder=".") -> str:
    """Show a call as a person should see it before saying yes: one argument after the other, none left out.

    ``folder`` is where relative paths begin: there it is looked up what a write would replace.
    """
    shown = [visible(call.name)]
    for name, value in call.arguments.items():
        shown += show_argument(call, name, value, folder)
    return "\n".join(shown if call.arguments else [*shown, "  (no arguments)"])


def show_argument(call, name, value, folder) -> list:
    """Show one argument: a short value beside its name, a long one as a block of lines under its size."""
    if not isinstance(value, str):
        shown = in_one_line(value)
        return [f"  {visible(name)}: {shown}"] if len(shown) <= LINE_LENGTH else [f"  {visible(name)}: {size_of(shown)}", *both_ends(shown, "|")]
    is_written = (call.name, name) == ("write_file", "content")
    is_edited = call.name == "edit_file" and name in ("old", "new")
    if (call.name, name) == ("run_python_script", "path"):
        return [f"  path: {in_one_line(value)}{link_note(folder, value)}", *what_will_run(Path(folder), value)]
    if not is_written and not is_edited and "\n" not in value and len(value) <= LINE_LENGTH:
        return [f"  {visible(name)}: {in_one_line(value)}{link_note(folder, value) if name == 'path' else ''}"]
    notes = what_it_replaces(call, value, folder) if is_written else ""
    mark = {"old": "-", "new": "+"}[name] if is_edited else "|"
    return [f"  {visible(name)}: {size_of(value)}{notes}", *both_ends(value, mark)]


def what_will_run(folder, path) -> list:
    """Show the script itself, as it stands now. Looking never fails: if it cannot be read, the tool will say so."""
    try:
        if not (folder / path).is_file():            # reading a pipe or a device might never end
            return []
        if (folder / path).stat().st_size > BIGGEST_FILE:
            return ["    (too long to show)"]
        return other_encoding(folder / path) + both_ends((folder / path).read_text(encoding="utf-8", errors="replace"), "|")
    except (OSError, ValueError):
        return []


def other_encoding(path) -> list:
    """Return a warning if Python would read a script in another encoding than it is shown in: then a comment can be code."""
    try:
        with open(path, "rb") as file:
            encoding, _ = tokenize.detect_encoding(file.readline)
    except SyntaxError:
        encoding = "that does not exist"
    return [] if encoding in ("utf-8", "utf-8-sig") else [f"    (THE FIRST LINES NAME AN ENCODING, {visible(encoding)}: what runs may differ from what you see)"]


def link_note(folder, path) -> str:
    """Say where a link leads; an empty text for what is none."""
    try:
        place = Path(folder) / path
        return f" (a link to {visible(place.resolve())})" if place.is_symlink() else ""
    except (OSError, ValueError, TypeError, RuntimeError):   # RuntimeError: a link that leads to itself, in older Pythons
        return ""


def stamp(call, folder="."):
    """Return what tells one state of the file that a call names from another: its size and the time of its last change."""
    try:
        state = (Path(folder) / call.arguments["path"]).stat()
        return state.st_size, state.st_mtime_ns
    except (KeyError, TypeError, OSError, ValueError):
        return None


def in_one_line(value) -> str:
    """Write a value as Python would, on one line, with nothing invisible in it."""
    try:
        return visible(repr(value))
    except Exception as error:                       # for example nested too deeply
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


def size_of(text) -> str:
    """Say how long a text is: "14 lines, 420 characters"."""
    if not text:
        return "empty"
    ends = r", line ends \r\n" if "\r\n" in text else ""
    return f"{count(len(visible_lines(text)), 'line')}, {count(len(text), 'character')}{ends}"


def both_ends(text, mark) -> list:
    """Return the lines of a text, each behind a mark; of a long one its first and its last. A very long line is wrapped."""
    return only_both_ends([f"    {mark} {part}".rstrip(" ") for line in visible_lines(text) for part in wrapped(line)] if text else [])


def only_both_ends(lines) -> list:
    """Return marked lines; of very many the first and the last.

    How many are left out stands without a mark, so that no text can pretend to be cut.
    """
    if len(lines) <= MOST_LINES:
        return lines
    left_out = count(len(lines) - FIRST_LINES - LAST_LINES, "line")
    return lines[:FIRST_LINES] + [f"    ... {left_out} NOT SHOWN; if you want to see all, answer n: send it in smaller parts ..."] + lines[-LAST_LINES:]


def wrapped(line) -> list:
    """Break a very long line into pieces, so that nothing can hide behind its end."""
    return [line[start:start + WRAP] for start in range(0, len(line), WRAP)] if len(line) > LINE_LENGTH else [line]


def show_text(text) -> str:
    """Show a reply or a result on the screen: nothing invisible in it, and of a long one its first and last lines."""
    lines = [cut_line(line, SCREEN_LENGTH) for line in visible_lines(text)]
    if len(lines) > MOST_SHOWN:
        left_out = count(len(lines) - FIRST_SHOWN - LAST_SHOWN, "line")
        lines = lines[:FIRST_SHOWN] + [f"... {left_out} not shown here, the model gets all of it ..."] + lines[-LAST_SHOWN:]
    return "\n".join(lines)


def cut_line(line, longest=LINE_LENGTH) -> str:
    """Cut a very long line in its middle, and say how much is left out."""
    if len(line) <= longest:
        return line
    start, end = longest * 2 // 3, longest // 5
    return f"{line[:start]} ... {count(len(line) - start - end, 'character')} ... {line[-end:]}"


def cut_middle(text, width) -> str:
    """Cut a text to ``width`` characters, with an ellipsis in its middle."""
    if len(text) <= width:
        return text
    end = (width - 1) // 3
    return text[:width - 1 - end] + "…" + text[len(text) - end:]


def what_it_replaces(call, content, folder) -> str:
    """Say what stands where a file will be written. Looking never fails."""
    try:
        return f" ({describe_target(Path(folder) / call.arguments['path'], content)})"
    except (KeyError, TypeError):
        return ""                                    # no usable path: the tool will say so
    except (OSError, ValueError) as error:
        return f" (what stands there cannot be read: {visible(error.__class__.__name__)})"


def describe_target(path, content) -> str:
    """Say whether a file is new, or what it replaces."""
    if path.is_dir():
        return "a folder has this name"
    if not path.exists():
        return "a link that leads nowhere has this name" if path.is_symlink() else "a new file"
    if not path.is_file():
        return "something that is not a file has this name"
    size = path.stat().st_size
    if size > BIGGEST_FILE:
        return f"replaces a file of {count(size, 'byte')}"
    return describe_replacing(path.read_bytes(), content)


def describe_replacing(before, content) -> str:
    """Compare the bytes of a file with the text that takes their place."""
    if not before:
        return "replaces an empty file"
    if before == content.encode("utf-8", "replace"):
        return "the file holds exactly this already"
    if b"\0" in before:
        return f"replaces a file that is not text, {count(len(before), 'byte')}"
    lines = len(visible_lines(content)) if content else 0
    return f"replaces {count(len(visible_lines(before.decode('utf-8', 'replace'))), 'line')} with {lines:,}"


def count(number, noun) -> str:
    """Write a number with its noun: "1 line", "1,200 lines"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")

"""How the practice model mends a script of its own: by what the error says."""
import re

from agent_steps.practice.replies import line

NOT_A_NUMBER = re.compile(r"could not convert string to float: (.*)|float\(\) argument must be .* not '(NoneType)'")
CONVERSION = re.compile(r"^( +)((?:x|x, y) = .*)$", re.M)   # the line of the script that turns text into numbers


def repair(script: str, error: str, decimal_comma: bool) -> tuple[str, str, str]:
    """What an error calls for: a thought, the text to replace and its replacement; empty texts if it knows no way."""
    found, conversion = NOT_A_NUMBER.search(error), CONVERSION.search(script)
    if found and conversion:
        return _repair_numbers(script, conversion, found[1] or "None", decimal_comma)
    if "UnicodeDecodeError" in error and "utf-8-sig" in script:
        encoding = "utf-16" if re.search("byte 0xf[ef] in position 0", error) else "latin-1"
        return line("repair_encoding", encoding=encoding), '"utf-8-sig"', f'"{encoding}"'
    folder = re.search(r"No such file or directory: '(.+)/[^/]+'", error)
    if folder and "makedirs" not in script:
        make = f"import os\nos.makedirs({folder[1]!r}, exist_ok=True)\n"
        return line("repair_folder", folder=folder[1]), "plt.savefig(", f"{make}plt.savefig("
    return "", "", ""


def _repair_numbers(script: str, conversion: re.Match, value: str, decimal_comma: bool) -> tuple[str, str, str]:
    commas = decimal_comma and "replace" not in script
    body = re.sub(r"float\((row\[.*?\])\)", r"float(\1.replace(',', '.'))", conversion[2]) if commas else conversion[2]
    if commas and _has_comma(value):
        return line("repair_comma", value=value), conversion[2], body
    if "except (" in script:
        return "", "", ""
    caught = "(TypeError, ValueError)" if value == "None" else "ValueError"   # a row that is too short gives None
    if "except ValueError:" in script:
        return (line("repair_missing", value=value), "except ValueError:", f"except {caught}:") if value == "None" else ("", "", "")
    # Decimal commas are turned now too: with the except line, rows that have them would be left out without a word.
    thought = line("repair_both" if commas else "repair_missing", value=value)
    space = conversion[1]
    return thought, conversion[0], f"{space}try:\n{space}    {body}\n{space}except {caught}:\n{space}    continue"


def _has_comma(value: str) -> bool:
    """Whether a value, as an error shows it, is a number with a decimal comma."""
    try:
        float(value.strip("'").replace(",", "."))
    except ValueError:
        return False
    return True


def last_words(error: str) -> str:
    """The line of an error that says what is wrong."""
    told = [text for text in error.splitlines() if text.strip() and not text.startswith("Exit code")]
    return told[-1] if told else error

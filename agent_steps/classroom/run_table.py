"""A run, turn by turn: as a table for a notebook, and as a text for terminals and screen readers.

    run_html(run)    run_text(run)

What the model claims (its summary) and what happened (the facts) are told apart.
"""

import re
import textwrap
import unicodedata
from html import escape

from .show_call import count, cut_middle, short_call, visible, visible_lines

LONGEST = 300                                        # characters of a summary that are not folded
WIDTH = 100                                          # columns of the text form
COLUMNS = (("step", 4), ("the model asked", 40), ("approved", 16), ("result", 34))

WHY_IT_STOPPED = {
    "max_steps": "it reached the limit of steps",
    "quit": "the person stopped it",
    "no_tool_calls": "the model replied again and again without a call that could be used",
    "repeating": "the model repeated the same call and got the same result",
    "error": "an error stopped it",
    "interrupted": "it was interrupted",
}
HEADINGS = (("Step", 7), ("The model asked", 40), ("Approved?", 17), ("Result", 36))      # with their share of the width
CELL = "text-align:left;vertical-align:top;padding:0.4em 0.8em 0.4em 0;border-bottom:1px solid rgba(128,128,128,0.5)"
CODE = 'style="font-family:monospace;overflow-wrap:anywhere"'
BLOCK = 'style="white-space:pre-wrap;overflow-wrap:anywhere;background:none;margin:0.3em 0 0.6em 0"'


def headline(run) -> str:
    """Say in one sentence how a run ended."""
    spent = f"{count(run.steps, 'step')} with {count(run.tool_calls, 'tool call')}"
    if run.completed:
        return f"Completed in {spent}: the model called task_complete."
    reason = WHY_IT_STOPPED.get(run.stop_reason, f"it stopped with {visible(run.stop_reason)!r}")
    return f"Not completed after {spent}: {reason}."


def facts(run) -> str:
    """Count what the model's own summary may leave out: refusals, errors, replies without a call."""
    counted = {"refused by the person": sum((turn.answer or "").startswith("n") for turn in run.turns),
               "ended in an error": sum(failed(turn.result) for turn in run.turns),
               "without a call that could run": sum(turn.call is None for turn in run.turns)}
    return ", ".join(f"{number} {what}" for what, number in counted.items() if number)


def error_sentence(run) -> str:
    """Give the sentence with which an error ended the run, or an empty text."""
    return visible(run.turns[-1].note or "") if run.stop_reason == "error" and run.turns else ""


def failed(result) -> bool:
    """Whether a result tells of a failure: an error of the tool, or code that ended badly."""
    return bool(re.search(r"\AError: |^(Exit code [1-9]\d*|Killed\b.*)\.\Z", result or "", re.M))


def asked(turn, width) -> str:
    """Say what the model asked for: the call, or the beginning of a reply without one."""
    if turn.call:
        return short_call(turn.call, width)
    return cut_end(f"no call: {visible_lines(turn.reply)[0] or '(nothing)'}", width)


def approval(turn) -> str:
    """Say what the person answered."""
    answer = turn.answer
    if answer is None:
        return "not asked"
    word, _, reason = visible(answer).partition(":")
    return {"y": "yes", "n": "no", "q": "quit"}.get(word.strip(), word) + (f": {reason.strip()}" if reason else "")


def outcome(turn) -> str:
    """Give the first line of a result, of a traceback the line that says what went wrong, or why nothing ran."""
    if turn.result is None:
        parts = ["" if turn.answer == "y" else "nothing ran", visible_lines((turn.note or "").removeprefix("No tool was run. "))[0]]
        return ": ".join(part for part in parts if part)
    lines = visible_lines(turn.result)
    telling = lines[-2] if len(lines) > 2 and lines[0].startswith("Traceback") else lines[0]
    return telling + (f" (and {count(len(lines) - 1, 'more line')})" if len(lines) > 1 else "")


def run_text(run) -> str:
    """Show a run as a compact table of at most 100 columns."""
    lines = [headline(run)]
    if facts(run):
        lines.append(f"Of its turns: {facts(run)}.")
    lines += textwrap.wrap(error_sentence(run), WIDTH)
    if run.summary:
        lines += textwrap.wrap(f"The model says: {' '.join(visible_lines(run.summary))}", WIDTH)
    lines += ["", row_text(name for name, _ in COLUMNS), row_text("-" * width for _, width in COLUMNS)]
    for turn in run.turns:
        lines.append(row_text((f"{turn.step:>4}", asked(turn, 40), approval(turn), outcome(turn))))
    return "\n".join(lines)


def row_text(cells) -> str:
    """Write one row of the text table; a cell too long for its column is cut."""
    fitted = [pad(cut_end(cell, width), width) for cell, (_, width) in zip(cells, COLUMNS, strict=True)]
    return "  ".join(fitted).rstrip()


def pad(text, width) -> str:
    """Fill a text with spaces up to a number of columns."""
    return text + " " * (width - columns(text))


def columns(text) -> int:
    """Count the columns a text takes in a terminal: two for a letter such as 你, none for a combining accent."""
    return sum(0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
               for character in text)


def cut_end(text, width) -> str:
    """Cut a text to a number of columns, with an ellipsis at its end."""
    if columns(text) <= width:
        return text
    text = text[:width]
    while columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


def run_html(run) -> str:
    """Show a run as a table of plain HTML; what is long is folded."""
    rows = "\n".join(row_html(turn) for turn in run.turns)
    head = "".join(f'<th scope="col" style="{CELL};width:{share}%">{name}</th>' for name, share in HEADINGS)
    return "\n".join([
        '<div class="mathjax_ignore tex2jax_ignore">',       # a $ in a result is no formula
        f"<p><strong>{escape(headline(run))}</strong></p>", *claims_html(run),
        '<table style="border-collapse:collapse;table-layout:fixed;width:100%">',
        f'<caption style="text-align:left">Turn by turn: {escape(cut_middle(visible(run.task), 120))}</caption>',
        f"<thead><tr>{head}</tr></thead>", f"<tbody>\n{rows}\n</tbody>", "</table>", "</div>",
    ])


def claims_html(run) -> list:
    """Set the model's own words beside the facts."""
    shown = [f"<p>Of its turns: {escape(facts(run))}.</p>"] if facts(run) else []
    if error_sentence(run):
        shown.append(f"<p>{escape(error_sentence(run))}</p>")
    if run.summary:
        says = " ".join(visible_lines(run.summary))
        whole = folded("in full", {"Summary": run.summary} if len(says) > LONGEST else {})
        shown.append(f"<p>The model says: <q>{escape(cut_middle(says, LONGEST))}</q></p>{whole}")
    return shown


def row_html(turn) -> str:
    """Show one turn as one row."""
    asked_html = in_code(asked(turn, 90)) + folded("message and reply", {
        "Sent to the model": turn.sent, "Its reply": turn.reply})
    result_html = in_code(cut_middle(outcome(turn), 120)) + folded("more", whole_result(turn))
    cells = "".join(f'<td style="{CELL};overflow-wrap:break-word">{cell}</td>'
                    for cell in (asked_html, escape(approval(turn)), result_html))
    return f'<tr><th scope="row" style="{CELL}">{turn.step}</th>{cells}</tr>'


def in_code(text) -> str:
    """Write a short text in the letters of code."""
    return f"<samp {CODE}>{escape(text)}</samp>" if text else ""


def whole_result(turn) -> dict:
    """Return the parts of a result that its first line leaves out."""
    parts = {"Result": turn.result, "Note": turn.note}
    shown = outcome(turn)
    return {name: text for name, text in parts.items()
            if text and (len(shown) > 120 or len(visible_lines(text)) > 1 or visible(text) not in shown)}


def both_ends_of(text) -> str:
    """Return a text for a folded part; of a long one its first and last lines, for a notebook keeps all that it shows."""
    lines = visible_lines(text)
    if len(lines) > 40:
        lines = [*lines[:25], f"... {count(len(lines) - 30, 'line')}; run.turns has all of it ...", *lines[-5:]]
    return "\n".join(lines)


def folded(title, parts) -> str:
    """Fold long texts under one line that opens them."""
    if not parts:
        return ""
    blocks = "".join(f"<div>{name}:</div><pre {BLOCK}>{escape(both_ends_of(text or ''))}</pre>" for name, text in parts.items())
    return f"<details><summary>{title}</summary>{blocks}</details>"

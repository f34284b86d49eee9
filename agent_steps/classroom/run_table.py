"""A run, turn by turn: as a table for a notebook, and as a text for terminals and screen readers.

    run_html(run)    run_text(run)

What the model claims (its summary) and what happened (the facts) are told apart.
"""

import re
import textwrap
import unicodedata
from html import escape

from .show_call import count, cut_middle, short_call, visible, visible_lines
from .turn_view import approval, block_text, folded, folded_messages, got_no_reply, tokens_so_far

LONGEST = 300                                        # characters of a summary that are not folded
WIDTH = 100                                          # columns of the text form
COLUMNS = (("step", 4), ("the model asked", 40), ("approved", 16), ("result", 34))

WHY_IT_STOPPED = {
    "max_steps": "it reached the limit of steps",
    "quit": "the person stopped it",
    "no_tool_calls": "the model replied again and again without a call that could be used",
    "repeating": "the model repeated the same call and got the same result",
    "budget": "the next request might have cost more than the budget allows",
    "error": "an error stopped it",
}
HEADINGS = (("Step", 7), ("The model asked", 38), ("Approved?", 14), ("Result", 27), ("Tokens so far", 14))   # with their share of the width
CELL = "text-align:left;vertical-align:top;padding:0.4em 0.8em 0.4em 0;border-bottom:1px solid rgba(128,128,128,0.5)"
CODE = 'style="font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"'


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
               "without a call that could run": sum(turn.call is None for turn in run.turns) - got_no_reply(run)}
    return ", ".join(f"{number} {what}" for what, number in counted.items() if number)


def error_sentence(run) -> str:
    """Give the sentence with which an error ended the run, or an empty text."""
    return visible(run.turns[-1].note or "") if got_no_reply(run) and run.turns else ""


def failed(result) -> bool:
    """Whether a result tells of a failure: an error of the tool, or code that ended badly."""
    return bool(re.search(r"\AError: |^(Exit code [1-9]\d*|Killed\b.*)\.\Z", result or "", re.M))


def asked(turn, width) -> str:
    """Say what the model asked for: the call, or the beginning of a reply without one."""
    if turn.call:
        return short_call(turn.call, width)
    return cut_end(f"no call: {visible_lines(turn.reply)[0] or '(nothing)'}", width)


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
    if run.turns:
        lines.append(f"Tokens: {tokens_so_far(run, run.turns[-1])}.")
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
    rows = "\n".join(row_html(run, turn) for turn in run.turns)
    head = "".join(f'<th scope="col" style="{CELL};width:{share}%">{name}</th>' for name, share in HEADINGS)
    return "\n".join([
        '<div class="mathjax_ignore tex2jax_ignore">',       # a $ in a result is no formula
        f"<p><strong>{escape(headline(run))}</strong></p>", *claims_html(run),
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;table-layout:fixed;width:100%;min-width:40em;overflow-wrap:break-word">',
        f'<caption style="text-align:left">Task: {escape(cut_middle(visible(run.task), 120))}</caption>',
        f"<thead><tr>{head}</tr></thead>", f"<tbody>\n{rows}\n</tbody>", "</table></div>", "</div>",
    ])


def claims_html(run) -> list:
    """Set the model's own words beside the facts."""
    shown = [f"<p>Of its turns: {escape(facts(run))}.</p>"] if facts(run) else []
    if error_sentence(run):
        shown.append(f"<p>{escape(error_sentence(run))}</p>")
    if run.summary:
        says = " ".join(visible_lines(run.summary))
        whole = folded("in full", block_text(run.summary)) if len(says) > LONGEST else ""
        shown.append(f"<p>The model says: <q>{escape(cut_middle(says, LONGEST))}</q></p>{whole}")
    return shown


def row_html(run, turn) -> str:
    """Show one turn as one row; what was sent, what came back and what is long about the result are folded."""
    asked_html = in_code(asked(turn, 90)) + folded_messages(run, turn) + folded("came back", block_text(turn.reply or "(nothing)"))
    result_html = in_code(cut_middle(outcome(turn), 120)) + "".join(folded(*part) for part in left_out_of(turn))
    cells = "".join(f'<td style="{CELL}">{cell}</td>'
                    for cell in (asked_html, escape(approval(turn)), result_html, tokens_so_far(run, turn)))
    return f'<tr><th scope="row" style="{CELL}">{turn.step}</th>{cells}</tr>'


def in_code(text) -> str:
    """Write a short text in the letters of code."""
    return f"<samp {CODE}>{escape(text, quote=False)}</samp>" if text else ""


def left_out_of(turn) -> list:
    """Return, with a title, what the first line of a result leaves out."""
    first = outcome(turn)
    return [(title, block_text(text)) for title, text in (("returned", turn.result), ("note", turn.note))
            if text and (len(first) > 120 or len(visible_lines(text)) > 1 or visible(text) not in first)]

"""One turn of a run in full: the messages that were sent, what came back, what was approved, what it returned, and the tokens so far.

    show_turn(run, 3)
"""
import json
from html import escape

from agent_steps.providers.usage import shown_use

from .show_call import count, cut_line, visible, visible_lines
from .whats_new import View

# A table stays in its notebook with all that is folded in it, so there a text is cut sooner.
LONGEST, LONGEST_FOLDED = 5000, 500   # characters of one message
MOST_LINES, MOST_FOLDED = 40, 14      # lines of a reply or a result
BLOCK = 'style="white-space:pre-wrap;overflow-wrap:anywhere;background:none;margin:0.3em 0 0.6em 0"'
APPROVALS = {"y": "yes", "n": "no", "q": "quit"}


def show_turn(run, step) -> View:
    """Show one step of a run, with every message that was sent in it. Raises ValueError if the run has no such step."""
    found = [turn for turn in run.turns if turn.step == step]
    if not found:
        raise ValueError(f"This run has no step {step}: it has {count(len(run.turns), 'step')}.")
    parts = turn_parts(run, found[0])
    text = "\n\n".join(f"--- {title}\n{body}" for title, body in parts.items())
    html = "".join(f"<div>{escape(title)}</div><pre {BLOCK}>{escape(body, quote=False)}</pre>" for title, body in parts.items())
    return View(f"Step {step}\n\n{text}", f'<div class="mathjax_ignore tex2jax_ignore"><strong>Step {step}</strong>{html}</div>')


def turn_parts(run, turn) -> dict:
    """Return all that there is to say about a turn: title to text."""
    sent = messages_sent(run, turn)
    parts = {f"Sent: {how_many(sent)}": as_json(sent), "Came back": block_text(turn.reply or "(nothing)", MOST_LINES),
             "Approved?": approval(turn)}
    if turn.result is not None:
        parts["Result"] = block_text(turn.result, MOST_LINES)
    if turn.note:
        parts["Note"] = block_text(turn.note, MOST_LINES)
    return parts | {"Tokens so far": tokens_so_far(run, turn)}


def messages_sent(run, turn) -> list:
    """Return the messages of a turn's request: the system prompt, and the whole list up to what was sent last.

    Of a run whose messages were not kept, only the last one is known.
    """
    earlier = 2 * (turn.step - 1)   # a message and a reply for each step before
    last = {"role": "user", "content": turn.sent}
    if len(run.messages) < earlier:
        return [last]
    system = [{"role": "system", "content": run.system_prompt}] if run.system_prompt else []
    return [*system, *run.messages[:earlier], last]


def how_many(messages) -> str:
    """Count messages."""
    return count(len(messages), "message") if len(messages) > 1 else "the last message"


def folded_messages(run, turn) -> str:
    """Fold the messages that were sent; those that the step before had sent already are counted only."""
    sent = messages_sent(run, turn)
    new = sent if turn.step == 1 else sent[-2:]
    return folded(f"sent: {how_many(sent)}", as_json(new, LONGEST_FOLDED, left_out=len(sent) - len(new)))


def as_json(messages, longest=LONGEST, left_out=0) -> str:
    """Write messages as the JSON that is sent; a very long text is cut in its middle."""
    short = [message | {"content": cut_line(message["content"], longest)} for message in messages]
    lines = visible_lines(json.dumps(short, ensure_ascii=False, indent=1))
    if left_out:
        lines.insert(1, f" ... {count(left_out, 'message')} as in the step before ...")
    return "\n".join(lines)


def approval(turn) -> str:
    """Say what the person answered."""
    if turn.answer is None:
        return "not asked"
    word, _, reason = visible(turn.answer).partition(":")
    return APPROVALS.get(word.strip(), word) + (f": {reason.strip()}" if reason else "")


def tokens_so_far(run, turn) -> str:
    """Count the tokens of a run up to a turn, sent and received, and their cost. Unknown stays unknown."""
    replied = [earlier.used for earlier in run.turns[:turn.step] if not (got_no_reply(run) and earlier is run.turns[-1])]
    return shown_use(replied)


def got_no_reply(run) -> bool:
    """Whether the last request of a run failed, or was not made. Then nothing was used for it."""
    return run.stop_reason in ("error", "budget")


def block_text(text, most=MOST_FOLDED) -> str:
    """Return a text for a block; of a long one its first and last lines."""
    lines = [cut_line(line, LONGEST) for line in visible_lines(text)]
    if len(lines) > most:
        lines = [*lines[:most - 5], f"... {count(len(lines) - most + 1, 'line')}; run.turns has all of it ...", *lines[-4:]]
    return "\n".join(lines)


def folded(title, text) -> str:
    """Fold a text under one line that opens it."""
    return f"<details><summary>{escape(title)}</summary><pre {BLOCK}>{escape(text, quote=False)}</pre></details>"

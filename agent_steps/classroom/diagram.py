"""Pictures of the loop, drawn by one function, so that every lesson shows the same loop with another part lit.

    loop_diagram("loop", lit="APPROVE")

A notebook shows the picture, with the same in words for a screen reader. A terminal gets the words alone: that is
what ``repr`` gives. ``python -m agent_steps.classroom.making`` writes the README's picture.
"""

import base64
import math
import re
import textwrap
from html import escape
from typing import NamedTuple

PAPER, INK, LINE, WHITE = "#fbfaf6", "#26323c", "#5a6872", "#ffffff"
LIT_FILL, LIT_LINE = "#fff0bf", "#8a4b00"
WIDTH = 720


class Box(NamedTuple):
    """A part of a picture: what it is called, where it stands, and what it says."""
    name: str                     # for lit=
    x: int
    y: int
    w: int
    h: int
    lines: tuple = ()             # under the name, in smaller letters
    shape: str = "box"            # box, pill (begins or ends something), frame (holds others), row (a line in a frame)
    person: bool = False          # somebody stands here: a small figure beside the name
    mono: bool = False            # the name is written as code


class Arrow(NamedTuple):
    """A line with a head at its end, as the path of an SVG."""
    path: str
    dashed: bool = False


class Label(NamedTuple):
    """A short text beside an arrow, or in a frame."""
    x: int
    y: int
    text: str
    anchor: str = "start"
    mono: bool = False


class Stage(NamedTuple):
    """One stage of the course: a picture and the same in words."""
    title: str
    words: str
    height: int
    boxes: tuple
    arrows: tuple
    labels: tuple


CHAT = Stage(
    title="A chat is a list",
    words="You write a message. It joins the list of messages: system, user, assistant, user. The whole list goes to "
          "the LLM, every time. The LLM's reply joins the list, and you read it.",
    height=410,
    boxes=(
        Box("YOU", 30, 115, 120, 60, shape="pill", person=True),
        Box("MESSAGES", 255, 30, 170, 220, shape="frame"),
        Box("system", 275, 74, 130, 32, shape="row"), Box("user", 275, 115, 130, 32, shape="row"),
        Box("assistant", 275, 156, 130, 32, shape="row"), Box("user", 275, 197, 130, 32, shape="row"),
        Box("LLM", 580, 105, 110, 80),
        Box("REPLY", 255, 316, 170, 64, ("one more message",)),
    ),
    arrows=(Arrow("M 150 145 L 249 145"), Arrow("M 425 145 L 574 145"),
            Arrow("M 635 185 L 635 318 Q 635 348 605 348 L 431 348"),
            Arrow("M 340 316 L 340 256"), Arrow("M 255 348 L 120 348 Q 90 348 90 318 L 90 181")),
    labels=(Label(200, 133, "you write", "middle"),
            Label(500, 115, "the whole list,", "middle"), Label(500, 133, "every time", "middle"),
            Label(352, 291, "joins the list"), Label(172, 336, "you read it", "middle")),
)

BY_HAND = Stage(
    title="You are the loop",
    words="The LLM cannot run anything. It replies with a request for a tool, written as text. You do the rest by hand: "
          "you parse the request, you run the tool, and you paste its result back. "
          "The result becomes the next message, and the LLM replies again.",
    height=410,
    boxes=(
        Box("LLM", 30, 165, 120, 80),
        Box("REQUEST", 205, 82, 240, 86, ("text that asks", "for a tool")),
        Box("YOU", 505, 25, 190, 360, shape="frame", person=True),
        Box("PARSE", 518, 90, 164, 70, ("read the request",)),
        Box("TOOL", 518, 250, 164, 70, ("run the function",)),
        Box("RESULT", 205, 250, 240, 70, ("sent by you",)),
    ),
    arrows=(Arrow("M 90 165 C 90 140 110 125 140 125 L 199 125"), Arrow("M 445 125 L 512 125"),
            Arrow("M 600 160 L 600 244"), Arrow("M 518 285 L 451 285"),
            Arrow("M 205 285 L 140 285 C 110 285 90 275 90 251")),
    labels=(Label(612, 207, "you decide"), Label(325, 352, "the result becomes the next message", "middle"),
            Label(600, 360, "you are the loop", "middle")),
)

RING = (
    Box("TASK", 30, 26, 130, 46, shape="pill"),
    Box("THINK", 275, 26, 170, 86, ("the LLM", "asks for a tool")),
    Box("APPROVE", 500, 192, 190, 94, ("you say y, n or q", "(q: the run ends)"), person=True),
    Box("ACT", 275, 350, 170, 70, ("the tool runs",)),
    Box("OBSERVE", 30, 192, 190, 94, ("the result becomes", "the next message")),
    Box("MAX_STEPS", 40, 92, 170, 70, ("the limit", "used up: the end"), shape="pill", mono=True),
)
RING_ARROWS = (
    Arrow("M 160 49 L 269 49"),                                    # task to THINK
    Arrow("M 445 92 C 540 92 595 125 595 186"),                    # THINK to APPROVE
    Arrow("M 595 286 C 595 350 540 385 451 385"),                  # APPROVE to ACT
    Arrow("M 275 385 C 180 385 125 360 125 292"),                  # ACT to OBSERVE
    Arrow("M 125 192 L 125 168"),                                  # OBSERVE to the limit
    Arrow("M 210 128 C 245 128 235 92 269 92"),                    # the limit to THINK
    Arrow("M 500 239 L 226 239", dashed=True),                     # refused: straight to OBSERVE
)
RING_LABELS = (
    Label(603, 145, "a tool call"), Label(603, 342, "y: it runs"), Label(117, 348, "the result", "end"),
    Label(360, 227, "n: nothing runs,", "middle"), Label(360, 262, "the refusal is the result", "middle"),
)
RING_WORDS = (
    "The task goes to THINK: the LLM asks for a tool. APPROVE: you say y, n or q; q ends the run. With y, ACT: the tool runs. "
    "With n nothing runs, and the refusal is the result. OBSERVE: the result becomes the next message, and THINK "
    "follows again. Between OBSERVE and THINK stands the limit, max_steps: when it is used up, the run ends. "
)

LOOP = Stage(
    title="The loop: THINK, APPROVE, ACT, OBSERVE",
    words=RING_WORDS + "A reply with no call ends the loop: it is the answer.",
    height=446,
    boxes=RING + (Box("ANSWER", 560, 26, 130, 46, shape="pill"),),
    arrows=RING_ARROWS + (Arrow("M 445 49 L 554 49"),),
    labels=RING_LABELS + (Label(499, 38, "no call", "middle"),),
)

AGENT = Stage(
    title="The agent: the loop, a table of tools, and a way out",
    words=RING_WORDS + "A reply with no call gets a nudge, a reminder to call a tool that costs a step, and goes back to THINK. "
          "ACT chooses the tool by its name from a table: list_files, read_file, write_file, edit_file, "
          "run_python_script, run_python_code, and task_complete. "
          "The last one is the deliberate way out: it ends the run with a summary.",
    height=620,
    boxes=RING + (
        Box("NUDGE", 500, 12, 190, 74, ("no call: ask again", "(costs a step)")),
        Box("TOOLS", 30, 470, 490, 126, shape="frame"),
        Box("TASK_COMPLETE", 348, 512, 156, 66, ("the way out",), mono=True),
        Box("SUMMARY", 562, 514, 128, 62, ("the run ends",), shape="pill"),
    ),
    arrows=RING_ARROWS + (Arrow("M 445 40 L 494 40"), Arrow("M 500 60 L 451 60"),
                          Arrow("M 360 420 L 360 464"), Arrow("M 504 545 L 556 545")),
    labels=RING_LABELS + (
        Label(372, 449, "chooses by name"),
        Label(46, 526, "list_files", mono=True), Label(46, 552, "read_file", mono=True),
        Label(46, 578, "write_file", mono=True), Label(180, 526, "edit_file", mono=True),
        Label(180, 552, "run_python_script", mono=True), Label(180, 578, "run_python_code", mono=True)),
)

WALL = Stage(
    title="A wall around the child process",
    words="The notebook, with your keys and your rights, stands outside. It gives code to a child process, and gets text back. "
          "The child process stands behind a wall. Inside the wall are the program, limits on time, memory and output, "
          "a trip-wire, and the folder, the only place where the program can write. "
          "Outside, out of its reach, are your files, your keys, the network and other processes. "
          "The kernel, which opens every file and sends every message, holds the wall.",
    height=500,
    boxes=(
        Box("NOTEBOOK", 16, 108, 140, 84, ("your rights,", "your keys")),
        Box("WALL", 212, 24, 326, 352, shape="frame"),
        Box("CHILD", 230, 70, 264, 196, shape="frame"),
        Box("PROGRAM", 244, 112, 236, 56, ("what the model wrote",)),
        Box("TRIP-WIRE", 244, 180, 112, 74, ("readable", "messages")),
        Box("LIMITS", 368, 180, 112, 74, ("time, memory,", "output")),
        Box("FOLDER", 230, 292, 264, 66, ("the only place to write",)),
        Box("YOUR FILES", 584, 66, 126, 44), Box("YOUR KEYS", 584, 122, 126, 44),
        Box("NETWORK", 584, 178, 126, 44), Box("PROCESSES", 584, 234, 126, 44),
        Box("KERNEL", 16, 424, 694, 60, ("opens every file, sends every message: it holds the wall",)),
    ),
    arrows=(Arrow("M 156 130 L 238 130"), Arrow("M 244 156 L 162 156"), Arrow("M 362 266 L 362 286"), Arrow("M 375 424 L 375 382"),
            *(Arrow(f"M 496 {y} L 534 {y}", dashed=True) for y in (88, 144, 200, 256))),
    labels=(Label(184, 120, "code", "middle"), Label(184, 178, "text", "middle"), Label(647, 304, "out of reach", "middle"),
            Label(388, 408, "holds it")),
)

EXPERIMENT = Stage(
    title="The agent as an experiment",
    words="A condition is one way to run the agent: the model, the prompt, the limits. Under each condition there are many runs. "
          "Each run has its own seed, its own folder, a fresh copy of the same files, and its own chat; in it works the whole agent. "
          "When it has ended, a check looks at the folder, and not at what the model says. Each run becomes one row. "
          "All rows together are the table, which answers: how often, how sure, at what effort.",
    height=424,
    boxes=(
        Box("CONDITION", 16, 120, 136, 84, ("model, prompt,", "limits")),
        Box("RUN", 226, 24, 272, 286, shape="frame"),
        Box("SEED", 238, 68, 72, 40, shape="pill"), Box("FOLDER", 316, 68, 92, 40, shape="pill"), Box("CHAT", 414, 68, 72, 40, shape="pill"),
        Box("AGENT", 278, 144, 168, 60, ("the whole loop",)),
        Box("CHECK", 262, 232, 200, 62, ("looks at the folder",)),
        Box("ROW", 580, 120, 118, 84, ("one for", "each run")),
        Box("TABLE", 226, 346, 472, 62, ("how often, how sure, at what effort",)),
    ),
    arrows=(Arrow("M 152 162 L 220 162"), Arrow("M 362 108 L 362 138"), Arrow("M 362 204 L 362 226"),
            Arrow("M 498 162 L 574 162"), Arrow("M 639 204 L 639 340")),
    labels=(Label(187, 150, "many", "middle"), Label(187, 186, "times", "middle"), Label(536, 150, "gives", "middle"), Label(651, 272, "stacked")),
)

STAGES = {"chat": CHAT, "by_hand": BY_HAND, "loop": LOOP, "agent": AGENT, "wall": WALL, "experiment": EXPERIMENT}


class Diagram:
    """A picture for a notebook that is a text everywhere else."""

    def __init__(self, svg, words):
        self.svg = svg
        self.words = words

    def _repr_html_(self):
        # Where both forms are offered, JupyterLab shows this one: unlike the other, it has words for a screen reader, shrinks
        # with the window, and is there before the notebook is trusted.
        picture = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f'<img alt="{escape(self.words)}" style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{picture}">'

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return textwrap.fill(self.words, 88)


def loop_diagram(stage, lit=()):
    """Draw one stage of the course ("chat", "by_hand", "loop", "agent", "wall" or "experiment") with some of its parts lit."""
    return Diagram(loop_svg(stage, lit), in_words(stage, lit))


def loop_svg(stage, lit=()) -> str:
    """Draw one stage of the loop as the text of an SVG."""
    picture, lit = STAGES[known_stage(stage)], lit_parts(stage, lit)
    frames = [box for box in picture.boxes if box.shape == "frame"]
    others = [box for box in picture.boxes if box.shape != "frame"]
    size = f'width="{WIDTH}" height="{picture.height}" viewBox="0 0 {WIDTH} {picture.height}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} '
        f'style="max-width:100%;height:auto" font-family="sans-serif" font-size="14" fill="{INK}">',
        f"<title>{escape(picture.title)}</title>",
        f"<desc>{escape(picture.words + ' ' + what_is_lit(lit))}</desc>",
        f'<rect width="{WIDTH}" height="{picture.height}" rx="18" fill="{PAPER}"/>',
        *(draw_box(box, box.name in lit) for box in frames),
        *(draw_arrow(arrow) for arrow in picture.arrows),
        *(draw_box(box, box.name in lit) for box in others),
        *(draw_text(label.x, label.y, label.text, label.anchor, mono=label.mono) for label in picture.labels),
        "</svg>",
    ]) + "\n"


def in_words(stage, lit=()) -> str:
    """Say what a picture shows."""
    picture = STAGES[known_stage(stage)]
    return f"{picture.title}. {picture.words} {what_is_lit(lit_parts(stage, lit))}"


def known_stage(stage):
    """Return the stage, or say which ones there are."""
    if stage not in STAGES:
        raise ValueError(f"There is no stage {stage!r}. The stages are {', '.join(STAGES)}.")
    return stage


def lit_parts(stage, lit) -> tuple:
    """Return the parts to light in the order of the picture, or say which ones there are."""
    wanted = (lit,) if isinstance(lit, str) else tuple(lit)
    names = [box.name for box in STAGES[known_stage(stage)].boxes if box.shape != "row"]
    for name in wanted:
        if name not in names:
            raise ValueError(f"The stage {stage!r} has no part {name!r}. Its parts are {', '.join(names)}.")
    return tuple(name for name in names if name in wanted)


def what_is_lit(lit) -> str:
    """Say which parts are lit."""
    return f"Lit: {', '.join(lit)}." if lit else "No part is lit."


def draw_box(box, lit) -> str:
    """Draw one part. A lit one differs in three ways: the colour, the border and the weight of its letters."""
    fill, line, thick = (LIT_FILL, LIT_LINE, 4) if lit else (PAPER if box.shape == "frame" else WHITE, LINE, 1.5)
    corner = box.h // 2 if box.shape in ("pill", "row") else 10
    dash = ' stroke-dasharray="2 5" stroke-linecap="round"' if box.shape == "frame" and not lit else ""
    rect = (f'<rect x="{box.x}" y="{box.y}" width="{box.w}" height="{box.h}" rx="{corner}" '
            f'fill="{fill}" stroke="{line}" stroke-width="{thick}"{dash}/>')
    return "\n".join([rect, *draw_words(box, lit)])


def draw_words(box, lit) -> list:
    """Write the name of a part and the lines under it, in its middle; in a frame at its top."""
    middle = box.x + box.w // 2
    top = box.y + 28 if box.shape == "frame" else box.y + box.h // 2 - 10 * len(box.lines) + 6
    name = box.name.lower() if box.mono else box.name
    size = 14 if box.shape == "row" else 16
    words = [draw_text(middle, top, name, "middle", lit, box.mono, size)]
    words += [draw_text(middle, top + 3 + 19 * row, text, "middle", lit) for row, text in enumerate(box.lines, start=1)]
    if box.person:
        words.append(draw_person(middle - 6 * len(name) - 22, top - 6, LIT_LINE if lit else LINE))
    return words


def draw_text(x, y, text, anchor="start", bold=False, mono=False, size=14) -> str:
    """Write one line of text."""
    style = (' font-family="monospace"' if mono else "") + (' font-weight="bold"' if bold else "")
    style += f' font-size="{size}"' if size != 14 or mono else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{escape(text)}</text>'


def draw_person(x, y, colour) -> str:
    """Draw a small figure: a head and shoulders."""
    return (f'<circle cx="{x}" cy="{y - 6}" r="5" fill="{colour}"/>'
            f'<path d="M {x - 9} {y + 10} Q {x - 9} {y + 1} {x} {y + 1} Q {x + 9} {y + 1} {x + 9} {y + 10} Z" '
            f'fill="{colour}"/>')


def draw_arrow(arrow) -> str:
    """Draw a line and, at its end, a head in the direction of its last piece (no marker: markers need ids)."""
    from_x, from_y, x, y = (float(number) for number in re.findall(r"-?\d+", arrow.path)[-4:])
    angle = math.atan2(y - from_y, x - from_x)
    corners = [(x, y)] + [(x - 11 * math.cos(angle + turn), y - 11 * math.sin(angle + turn)) for turn in (0.42, -0.42)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    dash = ' stroke-dasharray="6 5"' if arrow.dashed else ""
    return (f'<path d="{arrow.path}" fill="none" stroke="{LINE}" stroke-width="2"{dash}/>'
            f'<polygon points="{points}" fill="{LINE}"/>')

"""The pictures of the loop: what they say, and that they say it to everybody."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent_steps.classroom import diagram
from agent_steps.classroom.diagram import STAGES, loop_diagram, loop_svg

SVG = "{http://www.w3.org/2000/svg}"
PARTS = [(stage, box.name) for stage, picture in STAGES.items() for box in picture.boxes if box.shape != "row"]


def luminance(colour):
    channels = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("stage", STAGES)
def test_a_picture_is_wellformed_and_has_a_title_and_a_description_first(stage):
    root = ElementTree.fromstring(loop_svg(stage))
    assert root.get("role") == "img"
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert len(root[1].text) > 100


@pytest.mark.parametrize("stage", STAGES)
def test_a_picture_scales_and_shrinks_with_the_page(stage):
    root = ElementTree.fromstring(loop_svg(stage))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert "max-width:100%" in root.get("style")
    assert 640 <= int(root.get("width")) <= 720


@pytest.mark.parametrize("stage", STAGES)
def test_a_picture_has_no_ids_that_could_clash_on_one_page(stage):
    assert not re.search(r"\bid=|url\(", loop_svg(stage))


@pytest.mark.parametrize(("stage", "part"), PARTS)
def test_a_lit_part_is_named_in_words_and_has_a_thicker_border_and_bold_letters(stage, part):
    dark, lit = loop_svg(stage), loop_svg(stage, part)
    assert f"Lit: {part}." in lit
    assert lit.count('stroke-width="4"') == 1 and 'stroke-width="4"' not in dark
    assert 'font-weight="bold"' in lit and 'font-weight="bold"' not in dark


def test_the_wall_stands_between_the_program_and_all_that_it_must_not_reach():
    boxes = {box.name: box for box in STAGES["wall"].boxes}
    wall = boxes["WALL"]
    inside = {name for name, box in boxes.items() if wall.x < box.x and box.x + box.w < wall.x + wall.w and box.y + box.h < wall.y + wall.h}
    assert inside == {"CHILD", "PROGRAM", "TRIP-WIRE", "LIMITS", "FOLDER"}
    stopped = [arrow for arrow in STAGES["wall"].arrows if arrow.dashed]
    assert all(int(arrow.path.split()[-2]) < wall.x + wall.w for arrow in stopped) and len(stopped) == 4
    words = STAGES["wall"].words
    assert all(part in words.partition("out of its reach")[2] for part in ("your files", "your keys", "the network", "other processes"))


def test_several_parts_can_be_lit():
    assert loop_svg("loop", ("ACT", "APPROVE")).count('stroke-width="4"') == 2


def test_a_picture_without_a_lit_part_says_so():
    assert "No part is lit." in loop_svg("agent")


def test_the_letters_are_never_small():
    sizes = [int(size) for stage in STAGES for size in re.findall(r'font-size="(\d+)"', loop_svg(stage))]
    assert min(sizes) >= 14


@pytest.mark.parametrize("behind", [diagram.PAPER, diagram.WHITE, diagram.LIT_FILL])
def test_the_letters_stand_out_from_what_is_behind_them(behind):
    assert contrast(diagram.INK, behind) >= 4.5


def test_an_unknown_stage_is_refused_with_the_list_of_stages():
    with pytest.raises(ValueError, match="chat, by_hand, loop, agent, wall, experiment"):
        loop_diagram("spiral")


def test_an_unknown_part_is_refused_with_the_list_of_parts():
    with pytest.raises(ValueError, match="'WAIT'.*THINK, APPROVE, ACT, OBSERVE"):
        loop_diagram("loop", lit=("WAIT",))


def test_a_part_of_another_stage_is_refused():
    with pytest.raises(ValueError, match="NUDGE"):
        loop_diagram("chat", lit="NUDGE")


@pytest.mark.parametrize("stage", STAGES)
def test_a_notebook_gets_an_image_with_its_words_that_shrinks_with_the_page(stage):
    image = ElementTree.fromstring(loop_diagram(stage)._repr_html_().replace(">", "/>"))
    assert image.tag == "img" and image.get("alt") == diagram.in_words(stage)
    assert image.get("style") == "max-width:100%;height:auto"
    kind, _, picture = image.get("src").partition(";base64,")
    assert kind == "data:image/svg+xml" and base64.b64decode(picture).decode("utf-8") == loop_svg(stage)


def test_a_diagram_is_an_svg_too_for_whatever_shows_no_html():
    assert loop_diagram("agent", "ACT")._repr_svg_() == loop_svg("agent", "ACT")


def test_a_terminal_gets_a_diagram_in_words():
    shown = loop_diagram("loop", lit=("APPROVE",))
    assert "Lit: APPROVE." in " ".join(repr(shown).split())
    assert max(map(len, repr(shown).splitlines())) <= 88


def test_the_picture_in_the_readme_is_the_one_the_function_draws():
    stored = Path(__file__).parents[1] / "docs" / "loop.svg"
    assert stored.read_text(encoding="utf-8") == loop_svg("agent"), "run: python -m agent_steps.classroom.making"

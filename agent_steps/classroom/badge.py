"""The badge "Open in Colab": a small picture under the title of every notebook, and a link in the README's table.

The picture is drawn here and stands in the notebook itself, so that it is there without a network.
"""
import base64
import re
from pathlib import Path

from agent_steps.classroom.address import colab_address

WORDS = "Open in Colab: nothing to install"   # for those who do not see the picture, and where a page leaves it out
LEFT, RIGHT, INK = "#3b4350", "#9a3f06", "#ffffff"
PICTURE = f"""\
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="112" height="22"><title>Open in Colab</title>\
<rect width="112" height="22" rx="4" fill="{LEFT}"/><path d="M60 0h48a4 4 0 0 1 4 4v14a4 4 0 0 1-4 4H60z" fill="{RIGHT}"/>\
<g fill="{INK}" font-family="sans-serif" font-size="12"><text x="8" y="15" textLength="44">Open in</text>\
<text x="68" y="15" textLength="36">Colab</text></g></svg>"""


def with_badge(cell: str, notebook: str) -> str:
    """Return the first cell of a notebook with the badge under its title, and without the badge that stood there.

    The picture is named where it is seen and stands at the end of the cell, so that the cell can be read and edited.
    Where the notebook has no address in Colab, there is no badge.
    """
    bare = re.sub(r"^\[!\[.*\]\[badge\]\].*\n\n|\n\n\[badge\]: .*$", "", cell, flags=re.M)
    address = colab_address(notebook)
    if address is None:
        return bare
    title, _, rest = bare.partition("\n\n")
    picture = base64.b64encode(PICTURE.encode()).decode()
    return "\n\n".join([title, f"[![{WORDS}][badge]]({address})", rest, f"[badge]: data:image/svg+xml;base64,{picture}"])


def write_link(notebook: Path, readme: Path) -> None:
    """Put the link that opens a lesson in Colab into its row of the README, in the column before the minutes."""
    address = colab_address(notebook.name)
    link = f"[open {int(notebook.name[:2])}]({address})" if address else "-"
    row = rf"^(\| \d+ \| \[[^\]]*\]\(notebooks/{re.escape(notebook.name)}\) \| [^|]* \|) [^|]* (\| \d+ \|)$"
    table = re.sub(row, rf"\1 {link} \2", readme.read_text(encoding="utf-8"), flags=re.M)
    readme.write_text(table, encoding="utf-8", newline="\n")

"""Lines of code as HTML. A line that begins with + or - is tinted; the sign carries the meaning, the tint helps the eye."""
from html import escape

# So thin that they suit a light and a dark page.
TINTS = {"+": "rgba(46,160,67,0.18)", "-": "rgba(248,81,73,0.18)"}


def line_html(line) -> str:
    """Write one line."""
    tint = f";background:{TINTS[line[0]]}" if line[:1] in TINTS else ""
    return f'<span style="display:block;padding:0 0.6em{tint}">{escape(line)}\n</span>'

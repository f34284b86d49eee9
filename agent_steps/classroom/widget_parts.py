"""Parts of the panel and of its forms."""
import ipywidgets


class Fresh:
    """A control that makes way for another one, with the same state, as soon as its state has changed.

    While a cell runs, a front end sends no more than one change of a control: it waits to hear that the kernel is idle again.
    make: from a state to a control. name: of the control's attribute that holds the state.
    box: holds the control alone. A front end draws anew whatever stands behind a control that is replaced, and a
    half-typed line would be lost.
    """

    def __init__(self, make, name, state, width="100%"):
        self.make, self.name, self.made = make, name, []
        self.box = ipywidgets.Box(layout={"width": width})
        self.put(state)

    def put(self, state):
        """Put up a fresh control with this state."""
        self.control = self.make(state)
        self.control.observe(self.changed, self.name)
        self.made.append(self.control)   # the old ones stay until the end: something may still come for them
        self.box.children = [self.control]

    def changed(self, change):
        """The state has changed. What comes late, from a control that has made way, counts for nothing."""
        if change["owner"] is self.control:
            self.put(change["new"])

    @property
    def state(self):
        """The state of the control that is there now."""
        return getattr(self.control, self.name)

    def close(self):
        """Let go of all controls that there were."""
        let_go([*self.made, self.box])


def let_go(widgets):
    """Let go of widgets, and of their layouts and styles."""
    for each in widgets:
        for part in (each.layout, getattr(each, "style", None), each):
            if part is not None:
                part.close()


def html_widget(html=""):
    """Make a place for HTML, as wide as what it stands in."""
    return ipywidgets.HTML(html, layout={"width": "auto"})


def button(words):
    """Make a button as wide as its word needs."""
    return ipywidgets.Button(description=words, layout={"width": "auto", "min_width": "6em"})

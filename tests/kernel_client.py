"""A real kernel, and somebody who types at its prompts and clicks on its widgets, or nobody."""
import os
import sys
import time
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[1]


class Notebook:
    """A kernel in a folder of its own, and somebody who types (or nobody)."""

    def __init__(self, folder, python=sys.executable, environment=os.environ):
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(argv=[str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python")
        paths = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        self.manager.start_kernel(cwd=str(folder), env=environment | {"PYTHONPATH": paths}, stdout=-3, stderr=-3)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code, typed=None, when=None, then=None):
        """Run a cell; return what it printed and the error it ended in. `typed`: what somebody types, None for nobody.

        As soon as the text `when` is printed, `then` is called.
        """
        printed, errors, waiting = [], [], list(typed or [])

        def output(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                printed.append(content["text"])
                if when and when in content["text"]:
                    then()
            elif message["msg_type"] == "error":
                errors.append(content)

        self.client.execute_interactive(code, allow_stdin=typed is not None, output_hook=output, timeout=60,
                                        stdin_hook=lambda message: self.client.input(waiting.pop(0)))
        return "".join(printed), errors[0] if errors else None

    def interrupt(self):
        time.sleep(0.1)   # the word is printed a moment before the sleep begins
        self.manager.interrupt_kernel()

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


class Widgets:
    """The widgets that a cell opens, as a front end knows them, and a person who clicks on them."""

    def __init__(self, client, when, then):
        self.client, self.when, self.then = client, when, then
        self.places, self.outputs = {}, []

    def watch(self, message):
        """Take note of a message from the kernel. As soon as a widget shows the text `when`, or a form is there, the next of `then` is done."""
        content = message["content"]
        if message["msg_type"] == "comm_open":
            state = content["data"]["state"]
            self.places[state.get("description") or state.get("placeholder") or str(state.get("_options_labels"))] = content["comm_id"]
            if state.get("description") == "Send":   # made last: the controls of the form are known
                self.then.pop(0)(self)
        elif message["msg_type"] == "comm_msg" and self.when in str(content["data"].get("state", {}).get("value", "")):
            self.then.pop(0)(self)
        else:
            self.outputs.append((message["msg_type"], content))

    def click(self, words):
        """Click on the button with these words."""
        self.send(words, {"method": "custom", "content": {"event": "click"}})

    def type(self, words, text):
        """Type into the field that says these words."""
        self.send(words, {"method": "update", "state": {"value": text}, "buffer_paths": []})

    def choose(self, words, place):
        """Choose among the radio buttons that have these words."""
        [found] = [each for each in self.places if each and each.startswith("[") and words in each]
        self.send(found, {"method": "update", "state": {"index": place}, "buffer_paths": []})

    def send(self, words, data):
        content = {"comm_id": self.places[words], "data": data}
        self.client.shell_channel.send(self.client.session.msg("comm_msg", content))

    def shown(self):
        """The text of what is displayed in the end: an update takes the place of what was there, an output after clearing of all."""
        shown = []
        for kind, content in self.outputs:
            if kind in ("clear_output", "update_display_data"):
                shown.clear()
            if kind in ("display_data", "update_display_data"):
                shown.append(content["data"]["text/plain"])
        return "\n".join(shown)

    def error(self):
        """The error that the cell ended in, as a person sees it."""
        return "\n".join(line for kind, content in self.outputs if kind == "error" for line in content["traceback"])

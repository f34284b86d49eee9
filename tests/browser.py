"""JupyterLab in a real browser: started for the tests, with a person in front of it who clicks, types and reads.

Nothing is read from JupyterLab's inside: what a test asks for is what stands on the screen.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from books import NOTEBOOKS, ROOT, cells_of, read_book, source_of
from ipykernel.kernelspec import write_kernel_spec

from agent_steps.classroom.asking import REHEARSAL_VARIABLE

HOW_TO_GET = "The browser tests need JupyterLab, Playwright and Chromium: pip install -r requirements.txt -r requirements-browser.txt, " \
             "and chromium from your system or by: playwright install chromium"
SCREENSHOTS = Path(os.environ.get("AGENT_STEPS_SCREENSHOTS", ROOT / "build" / "screenshots"))
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STAY_HERE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-sync", "--disable-quic"]
ELSEWHERE = re.compile(r"^(https?|wss?)://(?!127\.0\.0\.1[:/])")
PATIENCE = 60   # seconds for whatever is waited for; nothing waits longer than it must

ALL_HAVE_RUN = """count => {
    const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(prompt => prompt.textContent);
    return prompts.length === count && prompts.every(prompt => /^\\[\\d+\\]:$/.test(prompt));
}"""
WHAT_IS_WANTED = f"""count => {{
    const box = document.querySelector('.jp-Stdin-input');
    if (box) {{
        const above = box.closest('.jp-OutputArea-child').previousElementSibling;   // a person reads it before answering
        return above && !above.textContent.includes(box.parentElement.textContent) && 'box';
    }}
    const approve = [...document.querySelectorAll('button')].find(button => button.textContent === 'Approve');
    const proposal = approve && approve.parentElement.nextElementSibling;   // empty as soon as it is answered
    return proposal && proposal.textContent.trim() ? 'buttons' : ({ALL_HAVE_RUN})(count) && 'nothing';
}}"""
IS_ANSWERED = """([proposal, late]) =>
    !proposal.isConnected || !proposal.textContent.trim() ? 'answered' : Date.now() > late && 'not yet'"""
TEXTS_OF_HTML = "pages => pages.map(html => new DOMParser().parseFromString(html, 'text/html').body.textContent)"


class JupyterLab:
    """JupyterLab on a free port of this machine, with a folder of its own for everything that it keeps."""

    def __init__(self, folder: Path):
        self.folder, self.opened, self.trouble = folder, 0, []
        self.work = folder / "work"
        write_kernel_spec(folder / "path" / "kernels" / "python3")   # the Python that runs the tests
        news = folder / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        news.parent.mkdir(parents=True)
        news.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
        self.work.mkdir()
        self.log = open(folder / "log.txt", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
             "--IdentityProvider.token=", f"--ServerApp.root_dir={self.work}"],
            env=self.environment(), stdout=self.log, stderr=self.log)
        self.address = self.wait_for_address()

    def environment(self) -> dict:
        """The environment of the tests, but a person sits here, and JupyterLab has its own folders."""
        own = {"JUPYTER_PATH": "path", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
               "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython"}
        paths = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)]))
        kept = {name: value for name, value in os.environ.items() if name != REHEARSAL_VARIABLE}
        return kept | {name: str(self.folder / place) for name, place in own.items()} | {"PYTHONPATH": paths}

    def wait_for_address(self) -> str:
        """Return the address as soon as JupyterLab has written it down. Raises RuntimeError if it does not start."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            for path in (self.folder / "runtime").glob("jpserver-*.json"):
                if "}" in (text := path.read_text(encoding="utf-8")):   # written to its end
                    return json.loads(text)["url"]
            time.sleep(0.1)
        self.close()
        raise RuntimeError("JupyterLab did not start:\n" + (self.folder / "log.txt").read_text(encoding="utf-8")[-2000:])

    def copy_of(self, lesson: int | Path) -> Path:
        """Copy a lesson's notebook, or another one, into a fresh folder."""
        self.opened += 1
        folder = self.work / str(self.opened)
        folder.mkdir()
        return Path(shutil.copy(NOTEBOOKS[lesson - 1] if isinstance(lesson, int) else lesson, folder))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def start_chromium(playwright):
    """Start the system's Chromium, or else the one that Playwright has installed. Return None where neither starts."""
    from playwright.sync_api import Error   # only now: without Playwright the tests are skipped

    found = [shutil.which(name) for name in CHROMIUMS] + [playwright.chromium.executable_path]
    for path in filter(None, found):
        try:
            return playwright.chromium.launch(executable_path=path, args=STAY_HERE)
        except Error:   # not there, or a stand-in that only says which package to install
            continue
    return None


class OpenNotebook:
    """A lesson in a window of JupyterLab, and what a person does and sees there."""

    def __init__(self, chromium, lab: JupyterLab, lesson: int | Path):
        self.path = lab.copy_of(lesson)
        self.cells = read_book(self.path)["cells"]
        self.code_cells = cells_of(self.path, "code")
        self.trouble = lab.trouble
        self.window = chromium.new_context(viewport={"width": 1280, "height": 900})
        self.window.set_default_timeout(PATIENCE * 1000)
        self.window.route(ELSEWHERE, self.refuse)
        self.page = self.window.new_page()
        self.page.on("console", lambda message: message.type == "error" and self.trouble.append(f"console: {message.text}"))
        self.page.on("websocket", lambda socket: ELSEWHERE.match(socket.url) and self.trouble.append(f"connection to another machine: {socket.url}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"page: {error}"))
        place = self.path.relative_to(lab.work).as_posix()
        self.page.goto(f"{lab.address}lab/workspaces/test-{lab.opened}/tree/{place}")
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()   # before that, Run All would run nothing
        self.page.locator(f'.jp-Cell[data-windowed-list-index="{len(self.cells) - 1}"]').wait_for(state="attached")

    def refuse(self, route):
        self.trouble.append(f"request to another machine: {route.request.url}")
        route.abort()

    def close(self):
        self.window.close()

    # ---- what a person does ----

    def choose(self, menu: str, entry: str):
        """Choose an entry of the menu at the top."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=re.compile(f"^{entry}")).click()

    def run_all(self, answers=()):
        """Run all cells by the menu, and answer the questions one after the other."""
        self.choose("Run", "Run All Cells")
        self.answer_until_done(answers)

    def restart_and_run_all(self):
        self.choose("Kernel", "Restart Kernel and Run All Cells")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.wait_for_function(f"count => !({ALL_HAVE_RUN})(count)", arg=len(self.code_cells))
        self.answer_until_done()

    def answer_until_done(self, answers=()):
        """Answer each question as soon as it can be read. Every answer must be used, and no question may be left."""
        answers = list(answers)
        while (wanted := self.wait_for(WHAT_IS_WANTED)) != "nothing":
            assert answers, "there are more questions than answers"
            (self.press if wanted == "buttons" else self.answer)(answers.pop(0))
        assert not answers, f"nobody asked for {answers}"

    def answer(self, text: str):
        """Type into the box, which has the keyboard's focus by itself, and press Enter."""
        box = self.page.locator(".jp-Stdin-input").element_handle()
        assert box.evaluate("box => box === document.activeElement"), "the question has not got the focus"
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        box.wait_for_element_state("hidden")

    def press(self, text: str):
        """Answer with the panel's buttons: "y", "n", "n: a reason" or "q". A click that came too soon is done again."""
        letter, _, reason = text.partition(": ")
        buttons = self.page.get_by_role("button", name="Approve").locator("..")
        proposal, answered = buttons.locator("xpath=following-sibling::*[1]").element_handle(), "not yet"
        if reason:
            buttons.get_by_role("textbox").click()
            self.page.keyboard.type(reason)   # letter by letter, as a person does
        while answered != "answered":
            buttons.get_by_role("button", name={"y": "Approve", "n": "Refuse", "q": "Quit"}[letter]).click()
            late = self.page.evaluate("Date.now() + 700")
            answered = self.page.wait_for_function(IS_ANSWERED, arg=[proposal, late]).json_value()

    def change(self, role: str, name: str):
        """Click on a radio button or a check box, and wait for the fresh one that takes its place."""
        control = self.page.get_by_role(role, name=name)
        before = control.element_handle()
        control.click()
        self.page.wait_for_function("control => !control.isConnected", arg=before)

    def send_form(self, name: str, words: str):
        """Type one's own words into the line of this name, letter by letter, and press Send at once."""
        self.page.get_by_role("textbox", name=name).click()
        self.page.keyboard.type(words)
        self.page.get_by_role("button", name="Send").click()

    def wait_for(self, condition: str):
        """Wait until a condition of the page holds; return what it gave."""
        return self.page.wait_for_function(condition, arg=len(self.code_cells)).json_value()

    def wait_for_question(self):
        assert self.wait_for(WHAT_IS_WANTED) != "nothing"

    def interrupt(self):
        self.page.get_by_role("button", name="Interrupt the kernel").click()

    def rewrite_line(self, cell_id: str, line: str, new: str):
        """Type a new line over one that begins like this, and run the cell with Shift+Enter."""
        self.cell(cell_id).locator(".cm-line").filter(has_text=line).first.click()
        for key in ("End", "Shift+Home"):
            self.page.keyboard.press(key)
        self.page.keyboard.type(new)
        self.run(cell_id)

    def run(self, cell_id: str):
        """Run one cell with Shift+Enter, and wait for its new number."""
        number = self.cell(cell_id).locator(".jp-InputPrompt").text_content()
        self.start(cell_id)
        self.page.wait_for_function("([cell, before]) => { const now = cell.querySelector('.jp-InputPrompt').textContent;"
                                    " return now !== before && /\\d/.test(now); }", arg=[self.cell(cell_id).element_handle(), number])

    def start(self, cell_id: str):
        """Run one cell with Shift+Enter, and do not wait for its end."""
        self.cell(cell_id).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def save(self) -> Path:
        """Press ctrl+s, and wait until JupyterLab shows that nothing is left to save. Return the saved file."""
        self.page.keyboard.press("Control+s")
        self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.jp-mod-current:not(.jp-mod-dirty)").wait_for()
        for _ in range(100):   # the file is emptied before it is written, and a save of JupyterLab's own may be under way
            if self.path.read_bytes().rstrip().endswith(b"}"):
                return self.path
            time.sleep(0.1)
        raise RuntimeError("The saved notebook is not whole.")

    # ---- what a person sees ----

    def cell(self, cell_id: str):
        """Find a cell by the id that it has in the file."""
        [place] = [place for place, cell in enumerate(self.cells) if cell["id"] == cell_id]
        return self.page.locator(f'.jp-Cell[data-windowed-list-index="{place}"]')

    def numbers(self) -> list[str]:
        """What stands in the brackets beside the code cells."""
        return [text.strip("[]:") for text in self.page.locator(".jp-CodeCell .jp-InputPrompt").all_text_contents()]

    def outputs(self, cell_id: str):
        return self.cell(cell_id).locator(".jp-OutputArea-output")

    def shown(self, cell_id: str) -> str:
        """The text under a cell, line ends and spaces aside."""
        return squeezed("".join(self.outputs(cell_id).all_text_contents()))

    def stored(self, cell: dict) -> str:
        """The text that should stand there, by the outputs in the repository: of several forms the HTML, as JupyterLab chooses."""
        texts = []
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                texts += self.page.evaluate(TEXTS_OF_HTML, ["".join(data["text/html"])])
            elif "image/png" not in data:
                texts.append("".join(output.get("text", data.get("text/plain", ""))))
        return squeezed("".join(texts))

    def picture(self, cell_id: str) -> dict:
        """The picture under a cell: its words, its width, and the width that there is for it."""
        found = self.outputs(cell_id).locator("img").first
        found.scroll_into_view_if_needed()
        return found.evaluate("""async image => {
            await image.decode();
            const area = image.closest('.jp-OutputArea-output');
            return {words: image.alt, width: image.getBoundingClientRect().width, height: image.getBoundingClientRect().height,
                    room: area.clientWidth, needed: area.scrollWidth};
        }""")

    def screenshot(self, name: str):
        """Keep a picture of the window for whoever wants to look."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def squeezed(text: str) -> str:
    """A text without its spaces and line ends: JupyterLab shows a question and its answer as a block of their own."""
    return re.sub(r"\s+", "", text)


def rehearsed_answers(path: Path) -> list[str]:
    """What a person types in a lesson, by its lines ``rehearse("n", "y")``. ``*["y"] * 15`` stands for any number of y."""
    found = []
    for cell in cells_of(path, "code"):
        for arguments in re.findall(r"^rehearse\((.*?)\)", source_of(cell), re.M):
            found += re.findall(r'"([^"]*)"', arguments)
    return found

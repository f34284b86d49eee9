"""A simulated Colab: Colab's versions of the packages, a stand-in for google.colab, and the course fetched from this disk.

The cells are run as they are, but for one thing: a test may not write to /content, so this path is replaced by another.
"""
import os
import shutil
import subprocess
from pathlib import Path
from subprocess import DEVNULL

from books import ROOT
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from agent_steps.classroom.address import COLAB_FOLDER, REPOSITORY

START = "import google.colab\nfrom ipykernel import kernelapp\nkernelapp.launch_new_instance()"   # Colab loads google.colab first


def run(*command, **options) -> str:
    """Run a command that must succeed; return what it printed."""
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8", **options).stdout


def commit(folder: Path) -> None:
    """Commit everything that stands in a folder; it becomes a repository if it is none."""
    run("git", "init", "-q", folder)
    run("git", "-C", folder, "add", "-A")
    run("git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Change something")


def copy_course(folder: Path) -> None:
    """Make a repository that holds the course as it is here and now, committed or not."""
    for name in filter(None, run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    commit(folder)


class Runtime:
    """A machine of Colab's: its packages, its disk, and the sessions on it.

    python: the Python with Colab's packages. It stays as it is: what a session installs lies on top of it, in `folder`.
    repository: where the course's address leads.
    """

    def __init__(self, python: str, folder: Path, repository: Path):
        self.course = folder / "content" / "course"
        self.course.parent.mkdir(parents=True)
        run(python, "-m", "venv", "--without-pip", folder / "python")
        self.python = folder / "python" / "bin" / "python"
        [packages] = (folder / "python" / "lib").glob("python3.*/site-packages")
        below = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        (packages / "colab.pth").write_text(below, encoding="utf-8")
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT / "tests" / "stand_in"),   # and without the tests' cut of the network: pip needs an index
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf", "GIT_CONFIG_VALUE_0": REPOSITORY}
        self.sessions = []

    def session(self, **environment) -> "Session":
        """Start a session, with variables added to its environment."""
        self.sessions.append(Session(self, self.environment | environment))
        return self.sessions[-1]

    def version(self, package: str) -> str:
        """The version of a package that Python finds now."""
        return run(self.python, "-c", f"from importlib import metadata; print(metadata.version({package!r}))").strip()

    def close(self) -> None:
        for session in self.sessions:
            session.close()


class Session:
    """A kernel, and nobody at its keyboard."""

    def __init__(self, runtime: Runtime, environment: dict):
        self.course = runtime.course
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(argv=[str(runtime.python), "-c", START, "-f", "{connection_file}"], language="python")
        self.client = NotebookClient(new_notebook(), km=self.manager, timeout=300, allow_errors=True, coalesce_streams=True, store_widget_state=False)
        self.client.start_new_kernel(env=environment, cwd=str(self.course.parent), stdout=DEVNULL, stderr=DEVNULL)
        self.client.start_new_kernel_client()

    def run(self, source: str) -> str:
        """Run a cell; return what it shows."""
        cell = new_code_cell(source.replace(COLAB_FOLDER, str(self.course)))
        self.client.nb.cells.append(cell)
        self.client.execute_cell(cell, len(self.client.nb.cells) - 1)
        return shown(cell.outputs)

    def close(self) -> None:
        self.client.kc.stop_channels()
        self.manager.shutdown_kernel(now=True)


def shown(outputs: list) -> str:
    """All text that the outputs of a cell show, errors included."""
    parts = []
    for output in outputs:
        data = output.get("data", {})
        parts += ["".join(data[kind]) for kind in sorted(data) if not kind.startswith("image/png")]
        parts += ["".join(output.get("text", "")), *output.get("traceback", [])]
    return "\n".join(part for part in parts if part)

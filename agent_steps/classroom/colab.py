"""In Colab: install what the course needs and Colab lacks, and leave everything else as it is."""
import importlib
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from agent_steps import CourseError

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
# Jupyter's own packages. Replacing one breaks Colab's runtime, so pip must keep them as they are.
KEPT = ("ipykernel", "ipython", "ipywidgets", "jupyter_client", "jupyter_core", "jupyterlab_widgets", "notebook", "pyzmq", "tornado",
        "traitlets", "widgetsnbextension")

_outdated = set()   # packages that were replaced after this session had loaded them


def install_missing() -> list[str]:
    """Install the packages that are missing or outside their range; return their requirements.

    Raises CourseError if pip fails, and if a package was replaced that this session has loaded already: both versions
    would be mixed until the session is started anew.
    """
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["colab"]
    missing = [text for text in wanted if not _is_installed(Requirement(text))]
    if missing:
        before = _versions()
        _pip_install(missing)
        replaced = {name for name, version in _versions().items() if before.get(name, version) != version}
        _outdated.update(replaced & _loaded())
    if _outdated:
        raise CourseError(f"Choose Runtime > Restart session in Colab's menu, then run this cell again: "
                          f"this session still works with an older {' and '.join(sorted(_outdated))}.")
    return missing


def _is_installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def _versions() -> dict[str, str]:
    """The version of every package. Where a package is there twice, Python takes the first."""
    found = {}
    for package in metadata.distributions():
        found.setdefault(package.name, package.version)
    return found


def _loaded() -> set[str]:
    """The packages that this session has imported something of."""
    return {name for module, names in metadata.packages_distributions().items() if module in sys.modules for name in names}


def _pip_install(requirements: list[str]) -> None:
    kept = [f"{name}=={metadata.version(name)}" for name in KEPT if _is_installed(Requirement(name))]
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "kept.txt")
        constraints.write_text("\n".join(kept), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(constraints), *requirements]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    importlib.invalidate_caches()
    if done.returncode:
        reason = (done.stderr.strip() or "it gave no reason").splitlines()[-1]
        raise CourseError(f"Not all packages could be installed. Is there a network? Then run this cell again. pip says: {reason}")

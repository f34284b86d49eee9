"""In Colab: install what the course needs and Colab lacks, and leave everything else as it is."""
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def install_missing() -> list[str]:
    """Install the packages that are missing or outside their range; return their requirements.

    Jupyter's own packages are no dependencies of the course's modules, so Colab's are never touched: replacing them
    breaks its runtime.
    """
    wanted = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    missing = [text for text in wanted if not _is_installed(Requirement(text))]
    if missing:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *missing], check=True)
    return missing


def _is_installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False

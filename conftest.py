"""The set-up of every test run: no key, no network, nobody at the keyboard, and scratch folders that are removed."""
import importlib
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

OFFLINE = Path(__file__).parent / "tests" / "offline"
SCRATCH_VARIABLES = ("TMPDIR", "TEMP", "TMP")


def pytest_configure(config):
    """Prepare the environment that this process, its workers and the notebooks' kernels inherit."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name in ("AGENT_STEPS_PROVIDER", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
            del os.environ[name]
    os.environ["AGENT_STEPS_REHEARSAL"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(OFFLINE), *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.path.insert(0, str(OFFLINE))
    if not hasattr(socket, "cut_off"):   # a worker has imported it at its start
        sys.modules.pop("sitecustomize", None)
        importlib.import_module("sitecustomize")

    if not hasattr(config, "workerinput"):   # once, not in every worker
        config.scratch = tempfile.mkdtemp(prefix="agent_steps_tests_")
        for name in SCRATCH_VARIABLES:
            os.environ[name] = config.scratch


def pytest_unconfigure(config):
    """Remove the folders that the lessons made."""
    if hasattr(config, "scratch"):
        shutil.rmtree(config.scratch, ignore_errors=True)

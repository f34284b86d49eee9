"""No test reaches another machine: not in this process, not in a kernel, not in the code that an agent runs."""
import os
import socket
import subprocess
import sys

import pytest
from sitecustomize import NoNetwork

from agent_steps.full_tools import run_python_code
from agent_steps.providers import ModelError, connect

ELSEWHERE = "192.0.2.1"   # an address that is reserved for documentation: nobody has it


def test_a_socket_to_another_machine_is_refused():
    with socket.socket() as plug, pytest.raises(NoNetwork):
        plug.connect((ELSEWHERE, 443))


def test_a_socket_to_this_machine_is_not():
    with socket.socket() as server, socket.socket() as plug:
        server.bind(("127.0.0.1", 0))
        server.listen()
        plug.connect(server.getsockname())


def test_a_paid_model_with_a_key_is_not_reached():
    with pytest.raises(ModelError, match="Could not reach openai"):
        connect("openai", api_key="nonsense", max_retries=0).reply("", [{"role": "user", "content": "Hello"}])


@pytest.mark.parametrize("run", [
    lambda code: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr,   # as a notebook's kernel is started
    run_python_code,
])
def test_a_child_process_is_cut_off_too(run):
    assert "NoNetwork" in run(f"import socket\nsocket.create_connection(('{ELSEWHERE}', 443), timeout=5)")


def test_the_environment_of_the_tests_holds_no_key_and_no_provider():
    assert not [name for name in os.environ if name.endswith("_API_KEY") or name == "AGENT_STEPS_PROVIDER"]

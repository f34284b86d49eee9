"""How near an experiment comes to the ideal throughput, with a model that takes 100 ms a call, and whether its memory grows.

A server in a process of its own stands where a paid service would be: real sockets, the real client, 100 ms before each answer.

    python benchmarks/many_runs.py             # 200 runs of five steps on 32 threads, side by side with a bare loop
    python benchmarks/many_runs.py --memory    # what 200 and 2,000 runs leave in memory, without the wait
"""
import argparse
import contextlib
import json
import math
import multiprocessing
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent_steps.providers import connect
from agent_steps.run_as_experiment import Condition, run_experiment

RUNS, STEPS, THREADS, SECONDS = 200, 5, 32, 0.1
CALLS = [("list_files", {"path": "."}), ("write_file", {"path": "a.txt", "content": "1"}), ("read_file", {"path": "a.txt"}),
         ("edit_file", {"path": "a.txt", "old": "1", "new": "2"}), ("task_complete", {"summary": "a.txt holds a 2."})]


class SlowModel(BaseHTTPRequestHandler):
    """Answers the n-th request of a conversation with the n-th call, after a wait."""

    protocol_version = "HTTP/1.1"   # the connection stays open, as with a real service
    disable_nagle_algorithm = True
    wait = SECONDS

    def do_POST(self):
        began = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        name, arguments = CALLS[turn]
        text = f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "slow",
                 "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                 "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
        data = json.dumps(reply).encode()
        time.sleep(max(0, self.wait - (time.perf_counter() - began)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Print nothing."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128   # so many connections may begin at the same moment


def serve(pipe, wait: float) -> None:
    SlowModel.wait = wait
    server = Server(("127.0.0.1", 0), SlowModel)
    pipe.send(server.server_address[1])
    server.serve_forever()


@contextlib.contextmanager
def slow_server(wait: float):
    """Give the address of a server that waits so many seconds before each answer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, wait), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.kill()


def holds_2(folder) -> bool:
    return (folder / "a.txt").exists() and (folder / "a.txt").read_text(encoding="utf-8") == "2"


def experiment(address: str, runs: int) -> float:
    """Seconds for an experiment of so many runs."""
    condition = Condition("slow", provider="auto", model="slow", options={"base_url": address})
    start = time.perf_counter()
    table = run_experiment(condition, "Write a 1 to a.txt, then make it a 2.", check=holds_2, runs=runs, at_once=THREADS)
    seconds = time.perf_counter() - start
    assert table["success"].all() and (table["steps"] == STEPS).all(), table
    return seconds


def bare(address: str, runs: int) -> float:
    """Seconds for the same requests, without the agent."""
    model = connect("auto", "slow", base_url=address)

    def run(number: int) -> None:
        messages = []
        for _ in range(STEPS):
            messages.append({"role": "user", "content": "Go on."})
            messages.append({"role": "assistant", "content": model.reply("", messages)})

    start = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(run, range(runs)))
    return time.perf_counter() - start


def compare_throughput() -> None:
    ideal = math.ceil(RUNS / THREADS) * STEPS * SECONDS   # the last round is not full, and takes as long as any
    with slow_server(SECONDS) as address:
        experiment(address, THREADS), bare(address, THREADS)
        pairs = [(experiment(address, RUNS), bare(address, RUNS)) for _ in range(5)]
    print(f"{RUNS} runs of {STEPS} steps on {THREADS} threads; ideal: {ideal:.2f} s, or {RUNS * STEPS * SECONDS / THREADS:.2f} s if all threads could end together")
    print("experiment s   share of ideal   bare loop s   share of ideal")
    for ours, theirs in pairs:
        print(f"{ours:12.2f}   {ideal / ours:14.0%}   {theirs:11.2f}   {ideal / theirs:14.0%}")


def measure_memory() -> None:
    print("runs   kept, KB a run   at the peak, MB")
    with slow_server(0) as address:
        experiment(address, THREADS)
        for runs in (200, 2000):
            tracemalloc.start()
            experiment(address, runs)
            kept, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            print(f"{runs:4}   {kept / 1024 / runs:14.1f}   {peak / 1024**2:15.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    measure_memory() if parser.parse_args().memory else compare_throughput()

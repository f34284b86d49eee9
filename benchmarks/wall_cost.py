"""What a confined run costs beyond a bare child of the same Python: the same small program, side by side, in turns."""
import os
import statistics
import sys
import tempfile
import time

from agent_steps.wall.child import run_child
from agent_steps.wall.confined import WALLS, run_behind, strongest_wall

ROUNDS = 30
PROGRAM = "print(1)"


def milliseconds(run) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.realpath(top)
        ways = {"bare child": lambda: run_child([sys.executable, "-c", PROGRAM], folder=folder),
                "clean child, trip-wire": lambda: run_behind(None, PROGRAM, folder, 10.0)}
        for wall in WALLS:
            if strongest_wall((wall,)):
                ways[f"behind {wall}"] = lambda wall=wall: run_behind(wall, PROGRAM, folder, 10.0)
        rounds = [{name: milliseconds(run) for name, run in ways.items()} for _ in range(ROUNDS)]
    print(f"median of {ROUNDS} rounds        ms     more than bare")
    for name in ways:
        more = statistics.median(each[name] - each["bare child"] for each in rounds)
        print(f"{name:24} {statistics.median(each[name] for each in rounds):7.1f}   {more:+7.1f}")

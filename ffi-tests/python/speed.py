"""What a start costs the caller: `spawn_owned` beside `subprocess.Popen(start_new_session=True)`, in turns, in one run.

    python3 speed.py [MEGABYTES] [ROUNDS]       500 MB, 300 rounds

Prints both medians and 10th percentiles (what both cost when nothing else has the machine), and the ratio of each.
Exits with 1 if our median is the slower one.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import hermes_spawn

LIMIT = 1.0
PROGRAM = ["/bin/true"]
# For what both leave to be done afterwards, so that it does not fall into the other's time.
REST_S = 0.002


def timed(start: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    child = start()
    seconds = time.perf_counter() - begun
    child.wait()
    time.sleep(REST_S)
    return seconds * 1e6


def main(megabytes: int = 500, rounds: int = 300) -> int:
    ballast = bytearray(megabytes << 20)
    # Touched, so that it is there.
    ballast[::4096] = b"x" * len(ballast[::4096])
    ways: dict[str, Callable[[], Any]] = {
        "spawn_owned": lambda: hermes_spawn.spawn_owned(PROGRAM),
        # detached-spawn: ok - the peer that is measured
        "Popen": lambda: subprocess.Popen(PROGRAM, start_new_session=True),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for start in ways.values():
        timed(start)
    for _ in range(rounds):
        for name, start in ways.items():
            times[name].append(timed(start))
    medians = {name: statistics.median(values) for name, values in times.items()}
    tenths = {name: statistics.quantiles(values, n=10)[0] for name, values in times.items()}
    for name in ways:
        print(f"{name:12} median {medians[name]:7.0f} us   10th percentile {tenths[name]:7.0f} us")
    ratio = medians["spawn_owned"] / medians["Popen"]
    undisturbed = tenths["spawn_owned"] / tenths["Popen"]
    print(
        f"ratio {ratio:.2f}, undisturbed {undisturbed:.2f}, to be {LIMIT:.2f} at most; "
        f"host of {megabytes} MB, {rounds} rounds"
    )
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

#!/usr/bin/env python3
"""Solve times beside google/minimalloc, on the same machine in the same run.

usage: bench/against_minimalloc.py --minimalloc PROGRAM [--planners-bench PROGRAM] [--planner NAME]
                                   [--repeats N] [--limit SECONDS] [FILE.csv ...]

PROGRAM is minimalloc built from source (github.com/google/minimalloc). Each problem is packed
into the capacity that its name says (A.1048576.csv; without files, those of bench/data/minimalloc)
by minimalloc and by a planner of ours; both are told the capacity and end with the first plan that
fits it. Both are whole processes, from start to end, one after the other, N times each; what counts
is the least processor time (user and system), which other work on the machine disturbs less than it
does a clock on the wall. Reading the problem counts, and so does writing the plan or validating it;
input.12.csv, five buffers, shows what that and starting cost. minimalloc's offsets are checked each
time. Lines are CSV: file, capacity, minimalloc's seconds, ours, ours / minimalloc's. What doesn't
pack, or takes more processor time than the limit, says so instead of its seconds.

Exit status: 0 measured, 1 somebody's result was wrong, 2 bad usage.
"""

import argparse
import csv
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 20  # wall clock for each second of processor time: others may be at work


def run(command, limit):
    """Processor seconds of a command, None past the limit; how it ended."""

    def limit_processor_time():
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE * limit,
            check=False,
            preexec_fn=limit_processor_time,
        )
    except subprocess.TimeoutExpired:
        return None, None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, done
    if done.returncode < 0 or done.returncode == 127:
        sys.exit(f"against_minimalloc: {command[0]} ended with {done.returncode}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done


def wrong_with(problem, solution, capacity):
    """Why the offsets are no packing of the problem; empty when they are one."""
    with open(problem, newline="") as file:
        wanted = {row["id"]: row for row in csv.DictReader(file)}
    with open(solution, newline="") as file:
        placed = {row["id"]: row for row in csv.DictReader(file)}
    if wanted.keys() != placed.keys():
        return "other buffers"
    boxes = []
    for name, row in wanted.items():
        offset, size = int(placed[name]["offset"]), int(row["size"])
        if offset < 0 or offset + size > capacity:
            return f"buffer {name} is outside the capacity"
        boxes.append((int(row["lower"]), int(row["upper"]), offset, offset + size, name))
    boxes.sort()
    for i, (_, end, low, high, name) in enumerate(boxes):
        for begin, _, low2, high2, other in boxes[i + 1 :]:
            if begin >= end:
                break
            if low < high2 and low2 < high:
                return f"buffers {name} and {other} overlap"
    return ""


def minimalloc(program, problem, capacity, limit):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")
        command = [program, f"--capacity={capacity}", f"--input={problem}", f"--output={out}"]
        seconds, done = run(command, limit)
        if seconds is None:
            return None
        if not os.path.exists(out):
            # It says how long it searched, found or not; anything else is no answer.
            if not re.fullmatch(r"\d+\.\d+", done.stderr.strip()):
                sys.exit(f"against_minimalloc: {problem}: minimalloc: {done.stderr or 'no answer'}")
            return "unsolved"
        problem_with_it = wrong_with(problem, out, capacity)
        if problem_with_it:
            sys.exit(f"against_minimalloc: {problem}: minimalloc's result: {problem_with_it}")
        return seconds


def ours(program, planner, problem, capacity, limit):
    command = [program, "--only", planner, "--seconds", str(PATIENCE * limit)]
    seconds, done = run(command + ["--capacity", str(capacity), str(problem)], limit)
    if seconds is None:
        return None
    lines = [line.split() for line in done.stdout.splitlines() if f" {planner} " in line]
    if len(lines) < 1:
        sys.exit(f"against_minimalloc: {program} said nothing of {planner}:\n{done.stdout}")
    return seconds if int(lines[0][5]) <= capacity else "unsolved"


def least(results):
    """The least seconds; where not every run was a success, what the last failure was."""
    failures = [result for result in results if not isinstance(result, float)]
    return failures[-1] if failures else min(results)


def shown(value):
    if value is None:
        return "over the limit"
    return value if isinstance(value, str) else f"{value:.3f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minimalloc", required=True)
    parser.add_argument("--planners-bench", default=ROOT / "build/release/bench/planners_bench")
    parser.add_argument("--planner", default="plan:exact")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    for program in (options.minimalloc, options.planners_bench):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is not a program")
    if options.repeats < 1:
        parser.error(f"--repeats: expected 1 or more, got {options.repeats}")
    files = options.files or sorted((ROOT / "bench/data/minimalloc").glob("*.csv"))
    print("file,capacity,minimalloc_seconds,our_seconds,ratio")
    for file in files:
        capacity = file.stem.rpartition(".")[2]
        if not capacity.isdigit():
            parser.error(f"{file}: expected a capacity in its name, as in A.1048576.csv")
        problem = (file, int(capacity), options.limit)
        runs = [
            (
                minimalloc(options.minimalloc, *problem),
                ours(options.planners_bench, options.planner, *problem),
            )
            for _ in range(options.repeats)
        ]
        theirs, mine = (least(results) for results in zip(*runs))
        both = isinstance(theirs, float) and isinstance(mine, float) and theirs > 0
        ratio = f"{mine / theirs:.3f}" if both else ""
        print(f"{file.name},{capacity},{shown(theirs)},{shown(mine)},{ratio}", flush=True)


if __name__ == "__main__":
    main()

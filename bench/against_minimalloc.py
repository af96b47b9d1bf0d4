#!/usr/bin/env python3
"""Solve times beside google/minimalloc, on the same machine in the same run.

usage: bench/against_minimalloc.py --minimalloc PROGRAM [--planners-bench PROGRAM] [--limit SECONDS]
                                   [--planner NAME] [FILE.csv ...]

PROGRAM is minimalloc built from source (github.com/google/minimalloc). Each problem is packed into the
capacity that its file's name says (A.1048576.csv; without files, those of bench/data/minimalloc) by
minimalloc and by a planner of ours that stops once its plan fits. Both are processes timed from
start to end, in processor seconds; minimalloc's offsets are checked. Lines are CSV: file, capacity,
minimalloc's seconds, ours, ours / minimalloc's. What doesn't pack, or takes longer than the limit,
says so instead of its seconds.

Exit status: 0 measured, 1 somebody's result was wrong, 2 bad usage.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cpu_seconds(command, limit):
    """Seconds of a command, or None past the limit; its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode < 0 or done.returncode == 127:
        sys.exit(f"against_minimalloc: {command[0]} ended with {done.returncode}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


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
        seconds, _ = cpu_seconds(command, limit)
        if seconds is None:
            return None
        if not os.path.exists(out):
            return "unsolved"
        problem_with_it = wrong_with(problem, out, capacity)
        if problem_with_it:
            sys.exit(f"against_minimalloc: {problem}: minimalloc's result: {problem_with_it}")
        return seconds


def ours(program, planner, problem, capacity, limit):
    command = [program, "--only", planner, "--seconds", str(limit), "--capacity", str(capacity)]
    seconds, text = cpu_seconds(command + [str(problem)], 2 * limit)
    if seconds is None:
        return None
    lines = [line.split() for line in text.splitlines() if f" {planner} " in line]
    if len(lines) < 1:
        sys.exit(f"against_minimalloc: {program} said nothing of {planner}:\n{text}")
    return seconds if int(lines[0][5]) <= capacity else "unsolved"


def shown(value):
    return "over the limit" if value is None else value if isinstance(value, str) else f"{value:.3f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minimalloc", required=True)
    parser.add_argument("--planners-bench", default=ROOT / "build/release/bench/planners_bench")
    parser.add_argument("--planner", default="plan:exact")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    for program in (options.minimalloc, options.planners_bench):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is not a program")
    files = options.files or sorted((ROOT / "bench/data/minimalloc").glob("?.*.csv"))
    print("file,capacity,minimalloc_seconds,our_seconds,ratio")
    for file in files:
        capacity = file.stem.rpartition(".")[2]
        if not capacity.isdigit():
            parser.error(f"{file}: expected a capacity in its name, as in A.1048576.csv")
        theirs = minimalloc(options.minimalloc, file, int(capacity), options.limit)
        mine = ours(options.planners_bench, options.planner, file, int(capacity), options.limit)
        both = isinstance(theirs, float) and isinstance(mine, float) and theirs > 0
        ratio = f"{mine / theirs:.3f}" if both else ""
        print(f"{file.name},{capacity},{shown(theirs)},{shown(mine)},{ratio}", flush=True)


if __name__ == "__main__":
    main()

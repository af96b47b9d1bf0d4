#!/usr/bin/env python3
"""A training step (forward + backward) of Arenagrad beside PyTorch's, on the CPU, in one run.

    script/setup && cmake --preset release && cmake --build --preset release
    apt-get install python3-torch python3-torchvision libopenblas0-pthread     # for this bench alone
    /usr/bin/python3 bench/step_against_pytorch.py --json bench/results/step_cpu.json

The two take turns, round by round, so that both see the same machine. Batch 8, 224x224, fp32, batch
statistics as in training, no optimizer; a step's time is the median over all timed steps.

`--clock cpu` measures processor seconds instead, with one thread: what a busy machine hardly disturbs.
"""
import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def ours(program, model, batch, threads, steps):
    """Times of the steps after the first, and what ran them."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.json")
        subprocess.run(
            [program, "run", os.path.join(ROOT, "zoo", model + ".json"), "--batch", str(batch),
             "--steps", str(steps + 1), "--threads", str(threads), "--quiet", "--json", out],
            check=True, stdout=subprocess.DEVNULL)
        with open(out) as file:
            result = json.load(file)
    return result["seconds"]["step_median"], result


def our_cpu(program, model, batch, steps):
    """Processor seconds of a step: of a run with more steps less those of a run with one."""
    def user(count):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(
            [program, "run", os.path.join(ROOT, "zoo", model + ".json"), "--batch", str(batch),
             "--steps", str(count), "--threads", "1", "--quiet"],
            check=True, stdout=subprocess.DEVNULL)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    return (user(steps + 1) - user(1)) / steps


def theirs(model, batch, threads, steps, clock=time.perf_counter):
    import torch
    import torchvision

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    net = getattr(torchvision.models, model)().train()
    x = torch.randn(batch, 3, 224, 224)
    y = torch.randint(0, 1000, (batch,))
    times = []
    for _ in range(steps + 1):
        begin = clock()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        times.append(clock() - begin)
        net.zero_grad(set_to_none=True)
    return statistics.median(times[1:])


def cpu_name():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/cli/arenagrad"))
    parser.add_argument("--models", default="resnet18,alexnet,resnet50")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4, help="timed steps a round")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--json")
    args = parser.parse_args()
    if args.clock == "cpu":
        args.threads = 1

    import torch
    version = subprocess.run([args.program, "--version"], check=True, capture_output=True,
                             text=True).stdout.strip()
    revision = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                              capture_output=True, text=True).stdout.strip()
    print(f"{version}\nPyTorch {torch.__version__}, {args.threads} threads, {cpu_name()}\n")
    print(f"{'model':<10} {'batch':>5} {'Arenagrad':>11} {'PyTorch':>11} {'ratio':>7}")
    rows = []
    for model in args.models.split(","):
        mine, peer = [], []
        for _ in range(args.rounds):
            if args.clock == "cpu":
                mine.append(our_cpu(args.program, model, args.batch, args.steps))
                peer.append(theirs(model, args.batch, 1, args.steps, time.process_time))
            else:
                mine.append(ours(args.program, model, args.batch, args.threads, args.steps)[0])
                peer.append(theirs(model, args.batch, args.threads, args.steps))
        row = {"model": model, "batch": args.batch, "threads": args.threads,
               "arenagrad_seconds": statistics.median(mine),
               "pytorch_seconds": statistics.median(peer),
               "arenagrad_rounds": mine, "pytorch_rounds": peer}
        row["ratio"] = row["arenagrad_seconds"] / row["pytorch_seconds"]
        rows.append(row)
        print(f"{model:<10} {args.batch:>5} {row['arenagrad_seconds']:>9.3f} s "
              f"{row['pytorch_seconds']:>9.3f} s {row['ratio']:>7.2f}", flush=True)
    if args.json:
        with open(args.json + ".tmp", "w") as file:
            json.dump({"schema": "arenagrad.bench.step/1", "revision": revision, "cpu": cpu_name(),
                       "clock": args.clock, "arenagrad": version, "pytorch": torch.__version__,
                       "date": time.strftime("%Y-%m-%d"), "rows": rows}, file, indent=1)
            file.write("\n")
        os.replace(args.json + ".tmp", args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())

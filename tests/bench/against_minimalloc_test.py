"""bench/against_minimalloc.py with stand-ins for minimalloc.

usage: against_minimalloc_test.py PLANNERS_BENCH FOLDER   (a folder to write in)
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROBLEM = ROOT / "tests/data/minimalloc/A.1048576.csv"

# Stacks buffers without reuse: valid where the capacity holds their sum. With WRONG they overlap.
STAND_IN = """#!{python}
import csv, sys
flags = dict(flag.lstrip("-").split("=", 1) for flag in sys.argv[1:])
rows = list(csv.DictReader(open(flags["input"])))
top = 0
with open(flags["output"], "w") as out:
    out.write("id,lower,upper,size,offset\\n")
    for row in rows:
        out.write(",".join([row["id"], row["lower"], row["upper"], row["size"], str(top)]) + "\\n")
        top += 0 if {wrong} else int(row["size"])
"""
# What it does where nothing fits: a time, no offsets.
UNSOLVED = "#!{python}\nimport sys\nsys.exit('0.000')\n"
CONFUSED = "#!{python}\nimport sys\nsys.exit('ERROR: Unknown command line flag')\n"
ENDLESS = "#!{python}\nwhile True: pass\n"
# Takes 0.4 seconds less each time.
QUICKER = """#!{python}
import pathlib, sys, time
runs = pathlib.Path(__file__ + ".runs")
done = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (done + 1))
while time.process_time() < 1.0 - 0.4 * done: pass
"""


def stand_in(folder, name, text, **values):
    program = folder / name
    program.write_text(text.format(python=sys.executable, **values))
    program.chmod(0o755)
    return program


def measure(program, bench, *more):
    command = [sys.executable, ROOT / "bench/against_minimalloc.py", "--minimalloc", program]
    command += ["--repeats", "1"]
    done = subprocess.run(
        [*map(str, command), "--planners-bench", bench, *map(str, more)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def expect(condition, *context):
    if not condition:
        sys.exit("\n".join(["against_minimalloc_test: failed", *map(str, context)]))


def main():
    bench, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # Room enough for the stand-in's stack.
    wide = folder / "wide.100000000.csv"
    wide.write_text(PROBLEM.read_text())
    stacker = stand_in(folder, "stacker", STAND_IN, wrong=False)
    code, out, err = measure(stacker, bench, wide)
    expect(code == 0, code, out, err)
    header, line = out.splitlines()
    expect(header == "file,capacity,minimalloc_seconds,our_seconds,ratio", out)
    file, capacity, theirs, ours, ratio = line.split(",")
    expect(file == wide.name and capacity == "100000000", line)
    expect(float(theirs) > 0 and float(ours) >= 0 and float(ratio) >= 0, line)

    # At the published capacity a stack leaves it, and ours packs.
    code, out, err = measure(stacker, bench, PROBLEM)
    expect(code == 1 and "is outside the capacity" in err, code, out, err)
    unsolved = stand_in(folder, "unsolved", UNSOLVED)
    code, out, err = measure(unsolved, bench, PROBLEM)
    file, capacity, theirs, ours, ratio = out.splitlines()[1].split(",")
    expect(code == 0 and theirs == "unsolved" and ratio == "" and float(ours) >= 0, code, out, err)

    confused = stand_in(folder, "confused", CONFUSED)
    code, out, err = measure(confused, bench, PROBLEM)
    expect(code == 1 and "Unknown command line flag" in err, code, out, err)
    endless = stand_in(folder, "endless", ENDLESS)
    code, out, err = measure(endless, bench, PROBLEM, "--limit", "1", "--repeats", "1")
    expect(code == 0 and out.splitlines()[1].split(",")[2] == "over the limit", code, out, err)

    quicker = stand_in(folder, "quicker", QUICKER + STAND_IN.partition("\n")[2], wrong=False)
    Path(f"{quicker}.runs").unlink(missing_ok=True)
    code, out, err = measure(quicker, bench, wide, "--repeats", "3")
    expect(code == 0 and 0.2 <= float(out.splitlines()[1].split(",")[2]) < 0.6, code, out, err)
    expect(Path(f"{quicker}.runs").read_text() == "xxx", "one run for each repeat")
    code, out, err = measure(stacker, bench, wide, "--repeats", "0")
    expect(code == 2 and "--repeats" in err, code, out, err)

    liar = stand_in(folder, "liar", STAND_IN, wrong=True)
    code, out, err = measure(liar, bench, wide)
    expect(code == 1 and "overlap" in err, code, out, err)
    code, out, err = measure(folder / "none", bench, wide)
    expect(code == 2, code, out, err)


if __name__ == "__main__":
    main()

"""Runs one case and prints a line of JSON: seconds per step, peak memory in MiB,
and what was used.  Usage: run.py CASE THREADS SECONDS"""
import json
import resource
import sys
import time

import torch

import cases

# The C library's memory grows, page fault by page fault, for the first six steps of
# some single operations, to half their final speed and less.
WARM_STEPS = 10
WARM_MODEL_STEPS = 3


def seconds_of(step, count):
    start = time.perf_counter()
    for _ in range(count):
        step()
    return time.perf_counter() - start


def measure(step, seconds, warm_steps):
    """Seconds per step over a batch of about that length, and its steps."""
    seconds_of(step, warm_steps)
    count = 1
    while (took := seconds_of(step, count)) < seconds / 5:
        count *= 4
    if took < seconds:
        count = max(1, round(count * seconds / took))
        took = seconds_of(step, count)
    return took / count, count


def mapped_blas():
    """The BLAS library that the process really uses."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps}
    return sorted(path for path in paths if "libblas" in path)


def main():
    name, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step, needs_graph = cases.make(name)
    with torch.set_grad_enabled(needs_graph):
        per_step, count = measure(step, seconds, WARM_MODEL_STEPS if name.startswith(cases.MODELS) else WARM_STEPS)
    print(json.dumps({
        "seconds": per_step, "steps": count, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "torch": torch.__version__, "threads": torch.get_num_threads(), "blas": mapped_blas(),
    }))


main()

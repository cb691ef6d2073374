"""The floor of scale/evaluate: rewards by bare multiprocessing, without any sandbox.

Reads a line of JSON after the other from stdin, {"how": "python" | "fork", "programs": [source, ...]}, and answers each
with {"passed": [bool, ...]}. `python`: each program in a python3 of its own; `fork`: in a fork of a pool's process, as
evaluation harnesses do that trust what they run.
"""
import json
import multiprocessing
import os
import subprocess
import sys


def run_python(source):
    return subprocess.run([sys.executable, "-c", source], capture_output=True).returncode == 0


def run_fork(source):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            exec(source, {"__name__": "__main__"})
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


if __name__ == "__main__":
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for line in sys.stdin:
            asked = json.loads(line)
            run = {"python": run_python, "fork": run_fork}[asked["how"]]
            print(json.dumps({"passed": pool.map(run, asked["programs"], chunksize=4)}), flush=True)

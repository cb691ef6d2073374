# Measures the least that a program can cost when its interpreter already runs: fork, run, flush, exit. Prints the
# milliseconds of each run on a line.
# Usage: python3 forked.py RUNS PROGRAM
import os
import sys
import time

program = compile(sys.argv[2], "main.py", "exec")
for _ in range(int(sys.argv[1])):
    reading, writing = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        exec(program, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    while os.read(reading, 65536):
        pass
    os.waitpid(pid, 0)
    print((time.perf_counter() - started) * 1000)
    os.close(reading)

// Python programs, run by PyPy.
import type { Programs } from './program.ts'

export const pypy: Programs = {
  sum: 'a = int(input())\nb = int(input())\nprint(a + b)',
  copy: 'import sys\nsys.stdout.write(sys.stdin.read())',
  unicode: 'print("Grüße, 世界 🎉")\nprint(input())',
  exitThree: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
  uncaught: {
    code: 'def f(x):\n    raise ValueError("no such thing")\n\nf(1)',
    says: /Traceback[^]*main\.py", line 4, in <module>[^]*ValueError: no such thing/,
  },
  broken: { code: 'a = 1\nb = 2\nc = = 3\n', says: /main\.py", line 3[^]*SyntaxError/ },
  busyLoop: 'n = 0\nwhile True:\n    n = (n + 1) % 1000003',
  sleeper: 'import time\ntime.sleep(60)',
  memoryBomb: 'kept = []\nwhile True:\n    kept.append("x" * (1 << 20) + str(len(kept)))',
  outputFlood: 'while True:\n    print("x" * 100)',
  scratch: `with open("/tmp/file", "w") as file:
    file.write("kept")
with open("/tmp/file") as file:
    print(file.read())`,
  threads: `from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda part: sum(range(part * 250 + 1, part * 250 + 251)), range(4))))`,
  network: `import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except OSError:
    print("closed")`,
  usual: `import re
import statistics
import sys
from collections import defaultdict

names = defaultdict(list)
for line in sys.stdin:
    found = re.fullmatch(r"(\\w+) (-?\\d+)\\n?", line)
    names[int(found[2])].append(found[1])
rows = [(name, number) for number in sorted(names) for name in sorted(names[number])]
for name, number in rows:
    print(f"{name}: {number}")
print(f"mean: {statistics.mean(number for _, number in rows):.2f}")`,
  arguments: 'import sys\nfor word in sys.argv[1:]:\n    print(word)',
  variable: `import os

print(os.environ["GREETING"])`,
  secondFile: {
    code: 'from answer import answer\nprint(answer())',
    file: { name: 'answer.py', content: 'def answer():\n    return 42\n' },
  },
}

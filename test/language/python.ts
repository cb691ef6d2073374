// Python's programs.
import type { Programs } from './program.ts'

export const python: Programs = {
  sum: 'a = int(input())\nb = int(input())\nprint(a + b)',
  copy: 'import sys\nfor line in sys.stdin:\n    print(line, end="")',
  unicode: 'print("Grüße, 世界 🎉")\nprint(input())',
  exitThree: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
  uncaught: {
    code: 'def f(x):\n    raise ValueError("no such thing")\n\nf(1)',
    says: /line 2, in f\n[^]*ValueError: no such thing/,
  },
  broken: { code: 'a = 1\nb = 2\nc = = 3\n', says: /line 3\n[^]*SyntaxError/ },
  busyLoop: 'while True:\n    pass',
  sleeper: 'import time\ntime.sleep(60)',
  memoryBomb: 'kept = []\nwhile True:\n    kept.append(bytearray(b"x" * (1 << 20)))',
  outputFlood: 'while True:\n    print("x" * 100)',
  scratch:
    'with open("/tmp/file", "w") as file:\n    file.write("kept")\nwith open("/tmp/file") as file:\n    print(file.read())',
  threads: `from concurrent.futures import ThreadPoolExecutor

def add(part):
    return sum(range(part * 250 + 1, part * 250 + 251))

with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(add, range(4))))`,
  network: `import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except OSError:
    print("closed")`,
  usual: String.raw`import re
import sys
from collections import defaultdict
from statistics import mean

names = defaultdict(list)
for name, number in re.findall(r"(\w+) (-?\d+)", sys.stdin.read()):
    names[int(number)].append(name)
for number in sorted(names):
    for name in sorted(names[number]):
        print(f"{name}: {number}")
print(f"mean: {mean(n for n in names for _ in names[n]):.2f}")`,
  arguments: 'import sys\nfor word in sys.argv[1:]:\n    print(word)',
  variable: `import os

print(os.environ["GREETING"])`,
  secondFile: {
    code: 'from answer import answer\nprint(answer())',
    file: { name: 'answer.py', content: 'def answer():\n    return 42\n' },
  },
}

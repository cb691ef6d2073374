// Python programs, run by PyPy. Those of Python itself are used where PyPy does and says the same.
import type { Programs } from './program.ts'
import { python } from './python.ts'

export const pypy: Programs = {
  ...python,
  copy: 'import sys\nsys.stdout.write(sys.stdin.read())',
  uncaught: {
    code: 'def f(x):\n    raise ValueError("no such thing")\n\nf(1)',
    says: /Traceback[^]*main\.py", line 4, in <module>[^]*ValueError: no such thing/,
  },
  broken: { code: 'a = 1\nb = 2\nc = = 3\n', says: /main\.py", line 3[^]*SyntaxError/ },
  busyLoop: 'n = 0\nwhile True:\n    n = (n + 1) % 1000003',
  memoryBomb: 'kept = []\nwhile True:\n    kept.append("x" * (1 << 20) + str(len(kept)))',
  threads: `from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda part: sum(range(part * 250 + 1, part * 250 + 251)), range(4))))`,
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
}

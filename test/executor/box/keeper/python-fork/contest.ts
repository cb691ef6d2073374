// Programs as people submit them: they read, compute, print and simply end. A fork may skip what an interpreter does at
// such an end, so each program ends in a way in which that could show.
import type { Program, Programs } from './program.ts'

const numbers = '5 3\n1 2 3 4 5\n2 4\n'

function solve(code: string, stdin: string = numbers): Program {
  return { code, stdin }
}

/** Programs as they are submitted. */
export const contest: Programs = {
  'hello without a newline': 'print("hello", end="")',
  'hello on both': 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.stdout.write("end")',
  'fast input': solve(
    'import sys\ninput = sys.stdin.readline\nn, k = map(int, input().split())\nprint(n * k)\nprint(list(map(int, input().split())))',
  ),
  'all input at once': solve(
    'import sys\ndata = sys.stdin.buffer.read().split()\nsys.stdout.write("\\n".join(map(bytes.decode, data)))',
  ),
  'a graph':
    'from collections import defaultdict, deque\ng = defaultdict(list)\nfor a, b in ((1, 2), (2, 3), (1, 4)): g[a].append(b); g[b].append(a)\nseen = {1: 0}; q = deque([1])\nwhile q:\n    a = q.popleft()\n    for b in g[a]:\n        if b not in seen: seen[b] = seen[a] + 1; q.append(b)\nprint(seen, g)',
  'a number too large to print': 'print(10 ** 5000)',
  classes:
    'from dataclasses import dataclass, field\nfrom enum import Enum\nclass C(Enum): A = 1\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nprint(sorted([P(2), P(1)]), C.A, C(1))',
  'a tree':
    'class Node:\n    __slots__ = ("left", "right", "value")\n    def __init__(self, value): self.value, self.left, self.right = value, None, None\n    def add(self, value):\n        side = "left" if value < self.value else "right"\n        if side == "left":\n            if self.left: self.left.add(value)\n            else: self.left = Node(value)\n        elif self.right: self.right.add(value)\n        else: self.right = Node(value)\n    def walk(self): return (self.left.walk() if self.left else []) + [self.value] + (self.right.walk() if self.right else [])\nroot = Node(5)\nfor n in (3, 8, 1, 4): root.add(n)\nprint(root.walk())',
  'a generator expression half read': 'g = (print("made", n) or n for n in range(5))\nprint(next(g))',
  'a generator half read': 'def g():\n    try: yield 1\n    finally: print("closed")\nx = g()\nprint(next(x))',
  'a class that says goodbye': 'class M(type):\n    def __del__(cls): print("class gone")\nclass A(metaclass=M): pass',
  'a finalizer by another name': 'def bye(self): print("bye")\nclass A: pass\nA.__del__ = bye\na = A()',
  'a context that is never left':
    'class C:\n    def __enter__(self): print("in"); return self\n    def __exit__(self, *a): print("out")\nc = C().__enter__()',
  'a file never closed': 'f = open("x", "w")\nf.write("kept")\nimport os\nprint(os.path.getsize("x"))',
  'an output never closed': 'f = open(1, "w", closefd=False)\nf.write("late")\nprint("early", flush=True)',
  'an output of its own': 'import os\nf = os.fdopen(os.dup(1), "w")\nf.write("late\\n")\nprint("early")',
  'an output by io': 'import io\nf = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))\nf.write("late")\nprint("early")',
  'an output of the type of another': 'import sys\nlate = type(sys.stdout)(sys.stdout.buffer)\nlate.write("late")',
  'an output of a type kept for later':
    'import sys\nT = type(sys.stdout.buffer)\nlate = T(sys.stdout.buffer.raw)\nlate.write(b"late")\nprint("early")',
  'an output of a subclass':
    'import sys\nclass T(type(sys.stdout)):\n    def close(self): print("closed")\nlate = T(sys.stdout.buffer)',
  'a deep chain': 'import itertools\nc = iter([1])\nfor _ in range(20000): c = itertools.chain(c)\nprint("end")',
  'a long list of links':
    'class N:\n    def __init__(self, n): self.n = n\nh = None\nfor _ in range(200000): h = N(h)\nprint("end")',
  'sys.stdout is another': 'import sys\nsys.stdout = open(1, "w", closefd=False)\nprint("x")',
  'sys.stdout is a thing of its own':
    'import sys\nclass W:\n    def write(self, s): return sys.__stdout__.write(s.upper())\n    def flush(self): sys.__stdout__.write("(flush)\\n")\nsys.stdout = W()\nprint("x")',
  'sys.stdout flushes by another way': 'import os, sys\nsys.stdout.flush = lambda: os.write(2, b"(flush)")\nprint("x")',
  'sys.stderr flushes by another way': 'import os, sys\nsys.stderr.flush = lambda: os.write(1, b"(flush)")\nprint("x")',
  'sys.__stdout__ is another': 'import sys\nsys.__stdout__ = None\nprint("x")',
  'sys.stdout is gone': 'import sys\ndel sys.stdout',
  'an output in several parts':
    'import sys\nsys.stdout.write("a"); sys.stdout.buffer.write(b"b"); sys.stdout.flush(); sys.stdout.buffer.raw.write(b"c"); sys.stdout.write("d")',
  'text that is kept in the buffer':
    'import sys\nsys.stdout.buffer.write(b"x" * 9000)\nsys.stdout.write("y")\nsys.stdout.buffer.write(b"z")',
  'text that cannot be written at the end': 'import sys\nsys.stdout.reconfigure(errors="strict")\nsys.stdout.write("a\\ud800")',
  'an error': solve('n, k = map(int, input().split())\nprint(n)\nprint([0] * n)\nprint([0][k])'),
  'an error that is caught': 'try: 1 / 0\nexcept ZeroDivisionError as error: print(error)\nprint("end")',
  'quit in a loop': solve('while True:\n    line = input()\n    if not line.strip(): quit()\n    print(line)', '1\n2\n\n3\n'),
  'an interrupt in exec that is caught': 'try: exec("raise KeyboardInterrupt")\nexcept KeyboardInterrupt: print("caught")',
  'an interrupt of a class of its own': 'class K(KeyboardInterrupt): pass\nraise K("mine")',
  'an interrupt with a hook': 'import sys\nsys.excepthook = lambda *a: print("hook", a[0])\nraise KeyboardInterrupt',
  'an interrupt kept in mind': 'import sys\nsys.last_type = KeyboardInterrupt\nsys.excepthook = lambda *a: None\n1 / 0',
  main: 'import sys\ndef main() -> int:\n    print(__name__)\n    return 0\nif __name__ == "__main__":\n    sys.exit(main())',
  'a main that is called': solve(
    'def main():\n    n, k = map(int, input().split())\n    for i in range(n): print(i * k)\nif __name__ == "__main__":\n    main()',
  ),
  'a trace at the end': 'import sys\nclass A:\n    pass\nsys.settrace(lambda *a: None)\nprint("x")',
  'a hook of unraisable errors': 'import sys\nsys.unraisablehook = lambda *a: print("hook")\nprint("x")',
  'a handler of SIGINT': 'import signal\nsignal.signal(signal.SIGINT, lambda *a: print("int"))\nprint("x")',
  'a handler given back': 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint("x")',
  PYTHONINSPECT: 'import os\nos.environ["PYTHONINSPECT"] = "1"\nprint("x")',
  annotations: 'from __future__ import annotations\nx: undefined = 1\nprint(__annotations__)',
  'much output': 'for n in range(50000): print(n)',
  'much memory': 'x = [[n] * 10 for n in range(100000)]\nprint(len(x))',
  'two hundred thousand numbers': solve(
    'import sys\nn = int(sys.stdin.readline())\na = sorted(map(int, sys.stdin.readline().split()), reverse=True)\nprint(n, a[0], sum(a) % 998244353)',
    `200000\n${Array.from({ length: 200_000 }, (_, n) => (n * 7919) % 1_000_003).join(' ')}\n`,
  ),
} // prettier-ignore

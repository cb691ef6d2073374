// Programs as people submit them: they read, compute, print and simply end. A fork may skip what an interpreter does at
// such an end, so each program ends in a way in which that could show.
import type { Program, Programs } from './program.ts'

const numbers = '5 3\n1 2 3 4 5\n2 4\n'

function solve(code: string, stdin: string = numbers): Program {
  return { code, stdin }
}

/** Programs as they are submitted. */
export const contest: Programs = {
  hello: 'print("hello")',
  'hello without a newline': 'print("hello", end="")',
  'hello on stderr': 'import sys\nprint("hello", file=sys.stderr, end="")',
  'hello on both':
    'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.stdout.write("end")',
  nothing: 'pass',
  'a sum': solve('n, k = map(int, input().split())\nprint(sum(map(int, input().split())) + k)'),
  'fast input': solve(
    'import sys\ninput = sys.stdin.readline\nn, k = map(int, input().split())\nprint(n * k)\nprint(list(map(int, input().split())))',
  ),
  'all input at once': solve(
    'import sys\ndata = sys.stdin.buffer.read().split()\nsys.stdout.write("\\n".join(map(bytes.decode, data)))',
  ),
  'bytes out': solve('import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])'),
  'input to the end': solve(
    'import sys\nprint(sum(int(x) for line in sys.stdin for x in line.split()))',
  ),
  sieve:
    'n = 5000\nsieve = bytearray([1]) * n\nfor i in range(2, 71):\n    if sieve[i]: sieve[i*i::i] = bytes(len(range(i*i, n, i)))\nprint(sum(sieve) - 2)',
  'dynamic programming':
    'from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(90), f.cache_info())',
  'a heap':
    'import heapq\nh = []\nfor n in (5, 1, 4, 2): heapq.heappush(h, (n, str(n)))\nprint([heapq.heappop(h) for _ in range(4)])',
  'a graph':
    'from collections import defaultdict, deque\ng = defaultdict(list)\nfor a, b in ((1, 2), (2, 3), (1, 4)): g[a].append(b); g[b].append(a)\nseen = {1: 0}; q = deque([1])\nwhile q:\n    a = q.popleft()\n    for b in g[a]:\n        if b not in seen: seen[b] = seen[a] + 1; q.append(b)\nprint(seen, g)',
  counting: 'from collections import Counter\nprint(Counter("mississippi").most_common())',
  bisection:
    'import bisect\na = [1, 3, 5]\nbisect.insort(a, 4); print(a, bisect.bisect_left(a, 3))',
  combinations:
    'from itertools import combinations, permutations, accumulate\nprint(list(combinations(range(4), 2)), len(list(permutations(range(5)))), list(accumulate(range(6))))',
  'large numbers':
    'import math\nprint(math.factorial(200), pow(3, 10**18, 10**9 + 7), math.gcd(12, 18), math.isqrt(10**40))',
  'a number too large to print': 'print(10 ** 5000)',
  'fractions and decimals':
    'from fractions import Fraction\nfrom decimal import Decimal, getcontext\ngetcontext().prec = 50\nprint(Fraction(1, 3) + Fraction(1, 6), Decimal(2).sqrt())',
  classes:
    'from dataclasses import dataclass, field\nfrom enum import Enum\nclass C(Enum): A = 1\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nprint(sorted([P(2), P(1)]), C.A, C(1))',
  'a tree':
    'class Node:\n    __slots__ = ("left", "right", "value")\n    def __init__(self, value): self.value, self.left, self.right = value, None, None\n    def add(self, value):\n        side = "left" if value < self.value else "right"\n        if side == "left":\n            if self.left: self.left.add(value)\n            else: self.left = Node(value)\n        elif self.right: self.right.add(value)\n        else: self.right = Node(value)\n    def walk(self): return (self.left.walk() if self.left else []) + [self.value] + (self.right.walk() if self.right else [])\nroot = Node(5)\nfor n in (3, 8, 1, 4): root.add(n)\nprint(root.walk())',
  'a matrix':
    'a = [[1, 2], [3, 4]]\nprint([[sum(x * y for x, y in zip(r, c)) for c in zip(*a)] for r in a], *map(lambda r: " ".join(map(str, r)), a), sep="\\n")',
  'recursion raised':
    'import sys\nsys.setrecursionlimit(300000)\ndef f(n): return 0 if n == 0 else f(n - 1) + 1\nprint(f(100000))',
  'regular expressions':
    'import re\nprint(re.findall(r"(\\w)(\\d+)", "a12 b3"), re.sub("a+", "b", "caaat"))',
  strings:
    'import string, textwrap\nprint(string.ascii_letters, textwrap.fill("some words " * 20, 30), f"{3.14159:.2f} {42:>8b} {1e9:,.0f}", "%05d|%-5s|" % (42, "x"))',
  json: 'import json\nprint(json.dumps({"a": [1, None, True, 1.5], "ü": "\\u20ac"}), json.loads("[1, {}]"))',
  'random with a seed':
    'import random\nrandom.seed(1); print(random.randint(1, 100), random.choice("abc"), random.shuffle([1]))',
  dates:
    'import datetime, calendar\nprint(datetime.date(2024, 2, 29) + datetime.timedelta(365), calendar.month(2024, 2))',
  match:
    'def f(x):\n    match x:\n        case [a, *b]: return a, b\n        case {"k": v}: return v\n        case int() | str(): return "plain"\nprint(f([1, 2]), f({"k": 3}), f(4))',
  'a generator expression half read':
    'g = (print("made", n) or n for n in range(5))\nprint(next(g))',
  'a generator half read':
    'def g():\n    try: yield 1\n    finally: print("closed")\nx = g()\nprint(next(x))',
  'an object that says goodbye':
    'class A:\n    def __del__(self): print("bye")\na = A()\nprint("end")',
  'an object in a circle that says goodbye':
    'class A:\n    def __del__(self): print("bye")\na = A(); a.a = a\nprint("end")',
  'an object of a list that says goodbye':
    'class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print("bye", self.n)\nx = [A(n) for n in range(3)]\ndef f(): global y; y = A("y")\nf()',
  'a class that says goodbye':
    'class M(type):\n    def __del__(cls): print("class gone")\nclass A(metaclass=M): pass',
  'a finalizer by another name':
    'def bye(self): print("bye")\nclass A: pass\nA.__del__ = bye\na = A()',
  'a finalizer by assignment':
    'class A: pass\nsetattr(A, "__del__", lambda self: print("bye"))\na = A()',
  'a finalizer from eval':
    "A = eval(\"type('A', (), {'_' + '_del__': lambda self: print(1)})\")\na = A()",
  'a finalizer in disguise': 'class A:\n    def __ｄel__(self): print("bye")\na = A()',
  'a context that is never left':
    'class C:\n    def __enter__(self): print("in"); return self\n    def __exit__(self, *a): print("out")\nc = C().__enter__()',
  'a file never closed':
    'f = open("x", "w")\nf.write("kept")\nimport os\nprint(os.path.getsize("x"))',
  'an output never closed':
    'f = open(1, "w", closefd=False)\nf.write("late")\nprint("early", flush=True)',
  'an output of its own':
    'import os\nf = os.fdopen(os.dup(1), "w")\nf.write("late\\n")\nprint("early")',
  'an output by io':
    'import io\nf = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))\nf.write("late")\nprint("early")',
  'an output of the type of another':
    'import sys\nlate = type(sys.stdout)(sys.stdout.buffer)\nlate.write("late")',
  'an output of a type kept for later':
    'import sys\nT = type(sys.stdout.buffer)\nlate = T(sys.stdout.buffer.raw)\nlate.write(b"late")\nprint("early")',
  'an output of a subclass':
    'import sys\nclass T(type(sys.stdout)):\n    def close(self): print("closed")\nlate = T(sys.stdout.buffer)',
  'a finalizer by type':
    'name = chr(95) * 2 + "del" + chr(95) * 2\nA = type("A", (), {name: lambda self: print("bye")})\na = A()',
  'a finalizer by a metaclass':
    'import abc\nA = abc.ABCMeta("A", (), {"\\x5f\\x5fdel\\x5f\\x5f": lambda self: print("bye")})\na = A()',
  'a finalizer by make_dataclass':
    'from dataclasses import make_dataclass\nA = make_dataclass("A", [], namespace={"\\x5f\\x5fdel\\x5f\\x5f": lambda self: print("bye")})\na = A()',
  'a finalizer by a function called by its name':
    'from operator import methodcaller\nclass A: pass\nmethodcaller("\\x5f\\x5fsetattr\\x5f\\x5f", "\\x5f\\x5fdel\\x5f\\x5f", lambda self: print("bye"))\nmethodcaller("mro")(A)\na = A()',
  'a finalizer by the names of the interpreter':
    'import sys\nclass A: pass\nsys._getframe().f_builtins["set" + "attr"](A, "\\x5f\\x5fdel\\x5f\\x5f", lambda self: print("bye"))\na = A()',
  'a finalizer copied by update_wrapper':
    'import functools\nclass A: pass\ndef bye(self): print("bye")\nclass B: pass\nfunctools.update_wrapper(A, B, assigned=(), updated=())\na = A()',
  'a deep chain':
    'import itertools\nc = iter([1])\nfor _ in range(20000): c = itertools.chain(c)\nprint("end")',
  'a long list of links':
    'class N:\n    def __init__(self, n): self.n = n\nh = None\nfor _ in range(200000): h = N(h)\nprint("end")',
  'an output opened within a string':
    'f"{(late := open(1, \'w\', closefd=False))}"\nlate.write("late")\nprint(rf"{1:{2}}\\")',
  'a finalizer behind a line that ends in CR':
    '# no code\rclass A:\r    def __del__(self): print("bye")\ra = A()',
  'a finalizer between quotation marks that are none':
    's = "＂"\nclass A:\n    def __del__(self): print("bye")\na = A()\ns = "＂"',
  'a finalizer in another encoding':
    '# coding: utf-7\nclass A:\n    def +AF8AXw-del+AF8AXw-(self): print("bye")\na = A()',
  'a finalizer in a comment of another encoding':
    '#\n# coding: unicode_escape\n# \\x0aclass A:\\x0a    def \\x5f\\x5fdel\\x5f\\x5f(self): print("bye")\\x0aa = A()',
  'another flush after a space':
    'import os, sys\nsys.stdout. flush = lambda: os.write(2, b"(flush)")\nsys.stderr.\\\nflush = lambda: os.write(1, b"(flush)")\nprint("x")',
  'sys.stdout is another': 'import sys\nsys.stdout = open(1, "w", closefd=False)\nprint("x")',
  'sys.stdout is a thing of its own':
    'import sys\nclass W:\n    def write(self, s): return sys.__stdout__.write(s.upper())\n    def flush(self): sys.__stdout__.write("(flush)\\n")\nsys.stdout = W()\nprint("x")',
  'sys.stdout flushes by another way':
    'import os, sys\nsys.stdout.flush = lambda: os.write(2, b"(flush)")\nprint("x")',
  'sys.stderr flushes by another way':
    'import os, sys\nsys.stderr.flush = lambda: os.write(1, b"(flush)")\nprint("x")',
  'sys.__stdout__ is another': 'import sys\nsys.__stdout__ = None\nprint("x")',
  'sys.stdout is gone': 'import sys\ndel sys.stdout',
  'sys.stdout is none': 'import sys\nsys.stdout = None\nprint("x")',
  'sys.stdout is closed': 'import sys\nsys.stdout.close()',
  'stdout is closed below': 'import os\nprint("x")\nos.close(1)',
  'stderr is closed below': 'import os, sys\nprint("x")\nsys.stderr.write("y")\nos.close(2)',
  'an output in several parts':
    'import sys\nsys.stdout.write("a"); sys.stdout.buffer.write(b"b"); sys.stdout.flush(); sys.stdout.buffer.raw.write(b"c"); sys.stdout.write("d")',
  'text that is kept in the buffer':
    'import sys\nsys.stdout.buffer.write(b"x" * 9000)\nsys.stdout.write("y")\nsys.stdout.buffer.write(b"z")',
  'text that cannot be written at the end':
    'import sys\nsys.stdout.reconfigure(errors="strict")\nsys.stdout.write("a\\ud800")',
  'an error': solve('n, k = map(int, input().split())\nprint(n)\nprint([0] * n)\nprint([0][k])'),
  'an error that is caught':
    'try: 1 / 0\nexcept ZeroDivisionError as error: print(error)\nprint("end")',
  'an error kept': 'try: 1 / 0\nexcept ZeroDivisionError as error: kept = error\nprint(kept.args)',
  'sys.exit in a function': 'import sys\ndef main():\n    print("x")\n    sys.exit(0)\nmain()',
  'sys.exit with words': 'import sys\nprint("x")\nsys.exit("failed")',
  'sys.exit that is caught':
    'import sys\ntry: sys.exit(3)\nexcept SystemExit as error: print(error.code)',
  exit: 'print("x")\nexit()',
  'os._exit': 'import os\nprint("x", flush=True)\nos._exit(3)',
  'quit in a loop': solve(
    'while True:\n    line = input()\n    if not line.strip(): quit()\n    print(line)',
    '1\n2\n\n3\n',
  ),
  'an interrupt': 'print("x")\nraise KeyboardInterrupt',
  'an interrupt in exec that is caught':
    'try: exec("raise KeyboardInterrupt")\nexcept KeyboardInterrupt: print("caught")',
  'an interrupt of a class of its own': 'class K(KeyboardInterrupt): pass\nraise K("mine")',
  'an interrupt with a hook':
    'import sys\nsys.excepthook = lambda *a: print("hook", a[0])\nraise KeyboardInterrupt',
  'an interrupt kept in mind':
    'import sys\nsys.last_type = KeyboardInterrupt\nsys.excepthook = lambda *a: None\n1 / 0',
  main: 'import sys\ndef main() -> int:\n    print(__name__)\n    return 0\nif __name__ == "__main__":\n    sys.exit(main())',
  'a main that is called': solve(
    'def main():\n    n, k = map(int, input().split())\n    for i in range(n): print(i * k)\nif __name__ == "__main__":\n    main()',
  ),
  'a trace at the end': 'import sys\nclass A:\n    pass\nsys.settrace(lambda *a: None)\nprint("x")',
  'an audit at the end':
    'import os, sys\nsys.addaudithook(lambda name, args: os.write(2, name.encode() + b"\\n"))\nprint("x")',
  'a hook of unraisable errors':
    'import sys\nsys.unraisablehook = lambda *a: print("hook")\nprint("x")',
  'a thread that goes on':
    'import threading, time\nsaid = threading.Event()\nthreading.Thread(target=lambda: (said.wait(), time.sleep(0.1), print("late"))).start()\nprint("early")\nsaid.set()',
  'a child that goes on':
    'import os, sys\nsys.stdout.flush()\nif os.fork() == 0: print("child")\nelse:\n    os.wait(); print("parent")',
  'an exit function': 'import atexit\natexit.register(print, "bye")\nprint("end")',
  'a handler of SIGINT':
    'import signal\nsignal.signal(signal.SIGINT, lambda *a: print("int"))\nprint("x")',
  'a handler given back': 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint("x")',
  PYTHONINSPECT: 'import os\nos.environ["PYTHONINSPECT"] = "1"\nprint("x")',
  'a source that is not quiet by a comment alone': '# __del__ yield open\nprint("x")',
  'a string that holds words': 'print("import os; open yield __init__")',
  annotations: 'from __future__ import annotations\nx: undefined = 1\nprint(__annotations__)',
  'star import': 'from math import *\nprint(sqrt(2), pi)',
  'a walrus and a slice':
    'if (n := len("abc")) > 2: print(n, "abcdef"[::-2], [*range(3), *"ab"], {**{"a": 1}})',
  'much output': 'for n in range(50000): print(n)',
  'much memory': 'x = [[n] * 10 for n in range(100000)]\nprint(len(x))',
  'two hundred thousand numbers': solve(
    'import sys\nn = int(sys.stdin.readline())\na = sorted(map(int, sys.stdin.readline().split()), reverse=True)\nprint(n, a[0], sum(a) % 998244353)',
    `200000\n${Array.from({ length: 200_000 }, (_, n) => (n * 7919) % 1_000_003).join(' ')}\n`,
  ),
}

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
  'a number too large to print': 'print(10 ** 5000)',
  'a generator half read': 'def g():\n    try: yield 1\n    finally: print("closed")\nx = g()\nprint(next(x))',
  'a class that says goodbye': 'class M(type):\n    def __del__(cls): print("class gone")\nclass A(metaclass=M): pass',
  'a finalizer by another name': 'def bye(self): print("bye")\nclass A: pass\nA.__del__ = bye\na = A()',
  'a context that is never left':
    'class C:\n    def __enter__(self): print("in"); return self\n    def __exit__(self, *a): print("out")\nc = C().__enter__()',
  'a file never closed': 'f = open("x", "w")\nf.write("kept")\nimport os\nprint(os.path.getsize("x"))',
  'an output never closed': 'f = open(1, "w", closefd=False)\nf.write("late")\nprint("early", flush=True)',
  'an output of its own': 'import os\nf = os.fdopen(os.dup(1), "w")\nf.write("late\\n")\nprint("early")',
  'an output of the type of another': 'import sys\nlate = type(sys.stdout)(sys.stdout.buffer)\nlate.write("late")',
  'an output of a type kept for later':
    'import sys\nT = type(sys.stdout.buffer)\nlate = T(sys.stdout.buffer.raw)\nlate.write(b"late")\nprint("early")',
  'an output of a subclass':
    'import sys\nclass T(type(sys.stdout)):\n    def close(self): print("closed")\nlate = T(sys.stdout.buffer)',
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
  'quit in a loop': solve('while True:\n    line = input()\n    if not line.strip(): quit()\n    print(line)', '1\n2\n\n3\n'),
  'an interrupt in exec that is caught': 'try: exec("raise KeyboardInterrupt")\nexcept KeyboardInterrupt: print("caught")',
  'an interrupt of a class of its own': 'class K(KeyboardInterrupt): pass\nraise K("mine")',
  'an interrupt with a hook': 'import sys\nsys.excepthook = lambda *a: print("hook", a[0])\nraise KeyboardInterrupt',
  'an interrupt kept in mind': 'import sys\nsys.last_type = KeyboardInterrupt\nsys.excepthook = lambda *a: None\n1 / 0',
  main: 'import sys\ndef main() -> int:\n    print(__name__)\n    return 0\nif __name__ == "__main__":\n    sys.exit(main())',
  'a handler of SIGINT': 'import signal\nsignal.signal(signal.SIGINT, lambda *a: print("int"))\nprint("x")',
  'a handler given back': 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint("x")',
  PYTHONINSPECT: 'import os\nos.environ["PYTHONINSPECT"] = "1"\nprint("x")',
  'much output': 'for n in range(50000): print(n)',
  'much memory': 'x = [[n] * 10 for n in range(100000)]\nprint(len(x))',
} // prettier-ignore

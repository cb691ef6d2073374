// Which Python programs end before CPython has freed everything. python-fork.test.ts tests that no program loses anything by
// it.
import t from 'tap'
import { run, startExecutor } from '../../../helper/executor.ts'

/**
 * Opens a directory for reading, by a name that is not in the source. CPython warns of the open directory when it frees
 * everything, so only such a trick shows whether it did.
 */
const witness = `
import os as _os, _warnings
_warnings.filters.insert(0, ('always', None, Warning, None, 0))
_warnings._filters_mutated()
_reading = getattr(_os, 'scan' + 'dir')('/')
`

const early = [
  'print(1)',
  '',
  'import sys\nprint(sys.argv)',
  'import sys, math as m\nfrom collections import (deque,\n  Counter)\nfrom heapq import *',
  'import sys;input = sys.stdin.readline;print(input())',
  'class A:\n  def __init__(self): self.x = [y for y in range(3)]\nprint(A())',
  '"""import io\nyield"""\nprint("open")',
  'import re, typing, dataclasses, json, random, datetime, fractions, decimal, string, enum, statistics, functools',
  'from abc import ABC\nclass A(ABC): pass\nA.register(int)\nprint(isinstance(1, A))',
  'import io, os, sys\nsys.stdin = io.BytesIO(os.read(0, 100))\nprint(sys.stdin.read())',
  'print(open(0).read())',
  'import _thread, time\n_thread.start_new_thread(time.sleep, (60,))',
  'print(sum(x for x in range(9)))',
  'rows = [[0] * 3 for row in range(6000)]\nprint(len(rows))',
  'import sys\nsys.setrecursionlimit(9**5)\ndef f(n): return n and f(n - 1)\nprint(f(5000))',
  'import os\nprint(1, flush=True)\nif os.fork() == 0: print(2)\nelse: os.wait()',
]

const freed = [
  'class A:\n  def __del__(self): print(1)\na = A()',
  'a = type("A", (), {"__de" + "l__": print})()',
  'class A(int):\n  __slots__ = ()\na = type("B", (A,), {"__slots__": (), "__de" + "l__": print})()',
  'class A:\n  def __𝒅el__(self): print(1)\na = A()',
  'class A:\n  def __𝒅el__(self): print(1)\nrows = [[0] for row in range(6000)] + [A()]',
  'def f():\n  try: yield\n  finally: print(1)\ng = f(); next(g)',
  'async def f(): pass\nc = f()',
  'f = open("/dev/stdout", "w")',
  'import sys\nlate = type(sys.stdout)(sys.stdout.buffer)',
  'import dataclasses\nx = dataclasses.inspect.linecache.tokenize.TextIOWrapper(open(1, "wb"))',
  'import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, print)',
  'import weakref\nclass A: pass\na = A()\nr = weakref.proxy(a, print)',
  'import sys\nsys.stdout.flush = sys.stdout.flush',
  'import sys\nsys.stdout.buffer.close = print',
  'import io, sys\nsys.stdout = io.StringIO()',
  'import io\nb = io.BytesIO()\nb.close = print',
  'import sys\nsys.addaudithook(print)',
  'import sys\nsys.settrace(print)',
  'import gc\ngc.callbacks.append(print)',
  'import ctypes',
  'import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
  'exec("x")if 0 else 0',
  'rows = [[0] * 3 for row in range(60_000)]',
]

const executor = await startExecutor(t, { languages: ['python'] })

for (const [what, programs] of Object.entries({ early, freed })) {
  t.test(`ends ${what === 'early' ? 'early' : 'once everything is freed'}`, async (t) => {
    for (const source of programs) {
      const { stderr, exitCode } = await run(executor, 'python', source + witness, 'words\n')
      t.equal(exitCode, 0, source)
      t.equal(stderr.includes('unclosed scandir'), what === 'freed', source)
    }
  })
}

t.test(
  'the end is judged by the interpreter’s own objects, not by what replaced them',
  async (t) => {
    for (const source of [
      'import builtins\nbuiltins.__import__ = print',
      'import sys\nsys.modules.clear()',
      'import sys\nsys.getallocatedblocks = lambda: print(1)\nx = [[] for y in range(9000)]',
    ])
      t.match(await run(executor, 'python', source), { stdout: '', exitCode: 0 }, source)
  },
)

// What Python writes about errors: tracebacks with their source lines, syntax errors, warnings, depth.
import type { Programs } from './program.ts'

/** Programs with errors. */
export const traceback: Programs = {
  'nested calls': String.raw`
def outer(value):
    return middle(value) + 1
def middle(value):
    return (lambda found: inner(found))(value)
def inner(value):
    return 1 / (value - 1)
outer(1)`,
  'repeated frames': 'def f(n):\n    if n == 0: raise KeyError("end")\n    f(n - 1)\nf(40)',
  'an exception during another': String.raw`
try:
    {}['missing']
except KeyError:
    int('no number')`,
  'an exception group': String.raw`
raise ExceptionGroup('several', [ValueError(1), ExceptionGroup('more', [TypeError('two'), OSError(2, 'three')])])`,
  'carets below an expression':
    'value = {"a": {"b": None}}\nprint(value["a"]["b"]["c"] + (1 /\n 2))',
  'a wide line': 'x = "äöü€𝄞" + "日本語"; y = x.missing; print("日本" + y)',
  'a name that is nearly right': 'import collections\ncollections.namedtoplo',
  'a missing module': 'import no_such_module',
  'an exception with bytes in it': 'raise ValueError("\\udc80\\ud800 \\x00 \\x1b")',
  'a coroutine never awaited': 'async def f(): pass\nf()\nprint("after")',
  'a module of its own': String.raw`
open('helper.py', 'w').write('def fail():\n    raise ValueError("in helper")\n')
import helper, os
print(sorted(os.listdir('.')), helper.__cached__, helper.__file__)
helper.fail()`,
  exec: 'exec("x = 1\\ny = x / 0\\n")',
  'compile with a name': 'exec(compile("a = 1\\nb = a.nothing", "given.py", "exec"))',
  'compile under its own name':
    'exec(compile("\\n\\nraise ValueError(1)", __file__, "exec"))\n# third line',
  'traceback.print_exc': 'import traceback\ntry: 1 / 0\nexcept Exception: traceback.print_exc()',
  'an excepthook': 'import sys\nsys.excepthook = lambda *a: print("hook", a[:2])\n1 / 0',
  'an excepthook that fails': 'import sys\nsys.excepthook = lambda *a: 1 / 0\n{}[1]',
  'an unraisable exception':
    'class A:\n    def __del__(self): 1 / 0\na = A()\ndel a\nprint("goes on")',
  'a thread': String.raw`
import threading
def work():
    raise ValueError('in a thread')
thread = threading.Thread(target=work, name='worker')
thread.start(); thread.join(); print('goes on')`,
  'no more than the limit of frames':
    'import sys\nsys.tracebacklimit = 2\ndef f(n):\n  if n: f(n-1)\n  else: 1/0\nf(9)',
  'recursion without end': 'def f(): f()\nf()',
  'the depth at which recursion ends': String.raw`
def depth(n):
    try: return depth(n + 1)
    except RecursionError: return n
print(depth(0))
class A:
    def __repr__(self): return repr([self])
try: repr(A())
except RecursionError as error: print(error)
def lists(n):
    found = []
    for _ in range(n): found = [found]
    return found
try: repr(lists(100_000))
except RecursionError as error: print(error)
import json
for n in range(900, 1000):
    try: json.dumps(lists(n))
    except RecursionError: print(n); break
try: eval('(' * 150 + ')' * 150)
except Exception as error: print(type(error), error)
try: compile('-' * 3000 + '1', 'x', 'eval')
except Exception as error: print(type(error), error)`,
  'recursion 50,000 deep': String.raw`
import sys
sys.setrecursionlimit(1_000_000)
def f(n): return 0 if n == 0 else 1 + f(n - 1)
print(f(50_000))`,
  'a thread that recurses within its stack': String.raw`
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(256 * 1024 * 1024)
def f(n): return 0 if n == 0 else 1 + f(n - 1)
thread = threading.Thread(target=lambda: print(f(40_000)))
thread.start(); thread.join()`,
  'the depth at which the stack of a thread ends': String.raw`
import os, sys, threading, functools
sys.setrecursionlimit(10**9)
@functools.lru_cache(None)
def f(n):
    if n % 200 == 0: os.write(1, b'%d\n' % n)
    return f(n + 1)
threading.Thread(target=f, args=(0,)).start()`,
  'the stack of the main thread overflows': String.raw`
import sys, functools, resource
resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.RLIM_INFINITY))
sys.setrecursionlimit(10**9)
@functools.lru_cache(None)
def f(n): return f(n + 1)
print('before', flush=True)
f(0)`,
  'a deprecated escape': 'print("\\d")\nprint(1 is 1)',
  'a deprecated call in __main__':
    'import warnings\nwarnings.warn("old", DeprecationWarning)\nwarnings.warn("plain")',
  'a file left open': 'import warnings\nwarnings.simplefilter("always")\nopen("main.py")',
  tracemalloc: String.raw`
import tracemalloc, warnings
warnings.simplefilter('always')
tracemalloc.start()
found = [0] * 1000
print(tracemalloc.get_traced_memory()[0] > 8000, tracemalloc.get_object_traceback(found))
open('main.py')`,
  'syntax: an open bracket': 'print((1, 2\nprint(3)',
  'syntax: an f-string': 'print(f"{1 +}")',
  'syntax: a future': 'from __future__ import braces',
  'syntax: far below': `${'x = 1\n'.repeat(3000)}x = = 2`,
  'syntax: a line of 5,000': `x = [${'1, '.repeat(2500)}) + 2`,
  'syntax: too deep': `${'('.repeat(300)}${')'.repeat(300)}`,
}

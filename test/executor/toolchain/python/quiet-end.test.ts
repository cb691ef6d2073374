// Which Python programs may be ended without being taken down, and that nothing is lost by it.
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { endsQuietly } from '../../../../src/executor/toolchain/python/quiet-end.ts'
import { run, startExecutor } from '../../../helper/executor.ts'

const quiet = [
  '# -*- coding: utf-8 -*-\nprint(1)',
  '#\n# coding=UTF8',
  'print(1)',
  'import sys\nprint(sys.argv)',
  'import sys, math as m  # from here on\nfrom collections import (deque,\n  Counter)\nfrom heapq import *',
  'import sys;input = sys.stdin.readline;print(input())',
  'class A:\n  def __init__(self): self.x = (y for y in range(3))\nprint(A())',
  '"""import io\nyield"""\nprint("open", \'exec\')',
  'import re\nmatch = re.match("a", "a")\nmatch.group()\nmatch[0] = 1\ncase = 1\ncase += 1\ncase.x = 2',
  'class A:\n  def __init__(self): self.queue = []; self.code, self.test = 0, 1',
  'print(f"from {1:>{3}}", f"open {{", rf"import", F\'yield\')',
  "print('it''s', \"#\", '\\'')\r\nimport os\r\n",
]
const loud = [
  'class A:\n  def __del__(self): print(1)',
  'type("A", (), {"__del__": print})',
  'type("A", (), {"__de" + "l__": print})',
  'def f():\n  try: yield\n  finally: print(1)',
  'f = open("/dev/stdout", "w")',
  'import io',
  'import sys; import io',
  'import sys as s, io',
  'from os import fdopen as f',
  'import weakref',
  'from . import x',
  '__import__("io")',
  'exec("x")',
  'x = "\\""; import io',
  "x = '''a'b\\'''c'''; import threading",
  'class A:\n  def __𝒅el__(self): print(1)',
  'raise ValueError from e',
  '# no code\rimport io',
  's = "＂"\nimport io\ns = "＂"',
  '#\n# vim: fileencoding=utf-7\nprint(1)',
  'import sys\nsys.stdout. flush = print',
  'type("A", (), {chr(95) * 2 + "del" + chr(95) * 2: print})',
  'import sys\nlate = type(sys.stdout)(sys.stdout.buffer)',
  'import sys\nsys.stdout.flush = print',
  'print(f"a {open(1)} b")',
  'import dataclasses\nx = dataclasses.inspect',
  'import dataclasses\nx = dataclasses. \\\n  inspect',
  'import dataclasses\nx = dataclasses._thread',
  'from dataclasses import inspect',
  'from copy import (copy,\n  weakref as w)',
  'import dataclasses\nmatch dataclasses:\n  case object(inspect=x): pass',
  'import dataclasses\nif 1:\n  match (dataclasses):\n    case object(inspect=x): pass',
  'import dataclasses\nmatch .5, dataclasses:\n  case .5, object(inspect=x): pass',
  'import sys\nsys.addaudithook(print)',
  'import sys\nsys.meta_path[2]',
  'import typing\ndef f(a: "dataclasses.inspect"): pass\ntyping.get_type_hints(f)',
  'f = x.TextIOWrapper(y)',
  'f = x.BufferedWriter(y)',
  "print(rF'''{{}} {x!r:>{open(1)}}''')",
]

for (const source of quiet) {
  t.test(`ends quietly: ${JSON.stringify(source)}`, (t) => {
    t.equal(endsQuietly(Buffer.from(source)), true)
    t.end()
  })
}
for (const source of loud) {
  t.test(`is taken down: ${JSON.stringify(source)}`, (t) => {
    t.equal(endsQuietly(Buffer.from(source)), false)
    t.end()
  })
}

t.test('no quiet module leads to one that is not, by names that are quiet themselves', (t) => {
  // Of every module that is there once the quiet ones are: what modules it has among its names.
  const script = `
import abc, array, bisect, calendar, cmath, collections.abc, copy, dataclasses, datetime, decimal, enum, fractions
import functools, heapq, itertools, json, math, numbers, operator, os.path, random, re, statistics, string, struct
import sys, textwrap, time, typing, __future__
for module in list(sys.modules.values()):
    for name, value in list(vars(module).items()):
        if isinstance(value, type(sys)): print(module.__name__, name, value.__name__)
`
  const edges = execFileSync('/usr/bin/python3', ['-I', '-c', script], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [from: string, name: string, to: string])
  const isQuiet = (source: string): boolean => endsQuietly(Buffer.from(source))
  /** What does nothing at its end, and is no module that a program may import unseen for other reasons. */
  const harmless =
    /^(?:builtins|stat|errno|posixpath|genericpath|json\.\w+|re\.\w+|sre_\w+|_(?:constants|parser|compiler|casefix|sre|json|stat|random|string))$/
  const reached = new Set(edges.map(([from]) => from).filter((name) => isQuiet(`import ${name}`)))
  t.ok(reached.size > 5, `${reached.size} quiet modules`)
  for (const module of reached)
    for (const [from, name, to] of edges)
      if (from === module && (isQuiet(`x.${name}`) || isQuiet(`from sys import ${name}`)))
        reached.add(to)
  t.same(
    [...reached].filter((name) => !isQuiet(`import ${name}`) && !harmless.test(name)),
    [],
  )
  t.end()
})

t.test('what a program does at its end happens, and its exit code is its own', async (t) => {
  const executor = await startExecutor(t)
  const programs = [
    ['print("a", end="")', 'a', 0],
    ['class A:\n  def __del__(self): print("gone")\na = A()', 'gone\n', 0],
    ['def f():\n  try: yield\n  finally: print("closed")\ng = f(); next(g)', 'closed\n', 0],
    ['f = open("/dev/stdout", "w"); f.write("x" * 10)', 'xxxxxxxxxx', 0],
    ['import atexit\natexit.register(print, "last")\nprint("first")', 'first\nlast\n', 0],
    ['import sys\nprint("out")\nsys.exit(3)', 'out\n', 3],
    ['raise SystemExit("words")', '', 1],
    ['1 / 0', '', 1],
    ['import os\nprint("x")\nos.close(1)', '', 120],
    ['import sys\nsys.stdout.close()', '', 0],
    ['import os\nos._exit(5)', '', 5],
    ['raise KeyboardInterrupt', '', 130],
    [
      'import sys\nclass S:\n  def write(self, s): pass\n  def flush(self): sys.__stdout__.write("flushed")\nsys.stdout = S()\nprint(1)',
      'flushed',
      0,
    ],
  ] as const
  for (const [source, stdout, exitCode] of programs) {
    const phase = await run(executor, 'python', source)
    t.match(phase, { stdout, exitCode }, source)
  }
})

// Nim's programs.
import type { Programs, Shared } from './program.ts'

/** Most behaviours, because the compiler takes four seconds of CPU time. */
const most: Shared = {
  shared: `import std/[net, os, strutils]

proc sum() =
  let a = parseInt(readLine(stdin))
  let b = parseInt(readLine(stdin))
  echo a + b

proc copy() =
  for line in stdin.lines:
    echo line

proc exitThree() =
  stdout.write "out"
  stderr.write "err"
  quit 3

proc memoryBomb() =
  var kept: seq[string]
  while true:
    kept.add repeat('x', 1_000_000)

proc outputFlood() =
  while true:
    echo "for ever and ever and ever"

proc scratch() =
  writeFile("/tmp/file", "kept")
  echo readFile("/tmp/file")

proc network() =
  try:
    let socket = newSocket()
    socket.connect("127.0.0.1", Port(9))
  except OSError:
    echo "closed"

case getEnv("BEHAVIOUR")
of "sum": sum()
of "copy": copy()
of "unicode":
  echo "Grüße, 世界 🎉"
  echo readLine(stdin)
of "exitThree": exitThree()
of "sleeper": sleep(60_000)
of "memoryBomb": memoryBomb()
of "outputFlood": outputFlood()
of "scratch": scratch()
of "network": network()
of "arguments":
  for word in commandLineParams():
    echo word
of "variable": echo getEnv("GREETING")
else: discard`,
}

export const nim: Programs = {
  sum: most,
  copy: most,
  unicode: most,
  exitThree: most,
  uncaught: {
    code: 'proc f(x: int) =\n  raise newException(ValueError, "no such thing")\n\nf(1)',
    says: /Error: unhandled exception: no such thing \[ValueError\]/,
  },
  broken: { code: 'let a = 1\nlet b = 2\nlet c: int = "b"\n', says: /main\.nim\(3, 14\) Error/ },
  busyLoop: 'var n = 0\nwhile true:\n  n = (n + 1) mod 1000003',
  sleeper: most,
  memoryBomb: most,
  outputFlood: most,
  scratch: most,
  threads: `import std/[math, sequtils, threadpool]

proc add(part: int): int =
  for n in part * 250 + 1 .. part * 250 + 250:
    result += n

var sums: seq[FlowVar[int]]
for part in 0 .. 3:
  sums.add(spawn add(part))
echo sums.mapIt(^it).sum`,
  network: most,
  usual: `import std/[algorithm, re, strformat, strutils, tables]

var rows: seq[(int, string)]
var numbers: CountTable[string]
for line in stdin.lines:
  var found: array[2, string]
  if line.match(re"^(\\w+)\\s+(-?\\d+)$", found):
    rows.add (parseInt(found[1]), found[0])
    numbers.inc(found[0])
var sum = 0
for (number, name) in sorted(rows):
  echo &"{name}: {number}"
  sum += number
echo &"mean: {sum / rows.len:.2f}"`,
  arguments: most,
  variable: most,
  secondFile: {
    code: 'import answer\n\necho get()',
    file: { name: 'answer.nim', content: 'proc get*(): int = 42\n' },
  },
  compileArguments: { words: ['-d:n=42'], code: 'const n {.intdefine.} = 0\necho n' },
}

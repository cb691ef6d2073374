// Nim's programs.
import type { Programs } from './program.ts'

export const nim: Programs = {
  sum: `import std/strutils

let a = parseInt(readLine(stdin))
let b = parseInt(readLine(stdin))
echo a + b`,
  copy: 'for line in stdin.lines:\n  echo line',
  unicode: 'echo "Grüße, 世界 🎉"\necho readLine(stdin)',
  exitThree: 'stdout.write "out"\nstderr.write "err"\nquit 3',
  uncaught: {
    code: 'proc f(x: int) =\n  raise newException(ValueError, "no such thing")\n\nf(1)',
    says: /Error: unhandled exception: no such thing \[ValueError\]/,
  },
  broken: { code: 'let a = 1\nlet b = 2\nlet c: int = "b"\n', says: /main\.nim\(3, 14\) Error/ },
  busyLoop: 'var n = 0\nwhile true:\n  n = (n + 1) mod 1000003',
  sleeper: 'import std/os\n\nsleep(60_000)',
  memoryBomb: `import std/strutils

var kept: seq[string]
while true:
  kept.add repeat('x', 1_000_000)`,
  outputFlood: 'while true:\n  echo "for ever and ever and ever"',
  scratch: 'writeFile("/tmp/file", "kept")\necho readFile("/tmp/file")',
  threads: `import std/[math, sequtils, threadpool]

proc add(part: int): int =
  for n in part * 250 + 1 .. part * 250 + 250:
    result += n

var sums: seq[FlowVar[int]]
for part in 0 .. 3:
  sums.add(spawn add(part))
echo sums.mapIt(^it).sum`,
  network: `import std/net

try:
  let socket = newSocket()
  socket.connect("127.0.0.1", Port(9))
except OSError:
  echo "closed"`,
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
  arguments: 'import std/os\n\nfor word in commandLineParams():\n  echo word',
  variable: `import std/os

echo getEnv("GREETING")`,
  secondFile: {
    code: 'import answer\n\necho get()',
    file: { name: 'answer.nim', content: 'proc get*(): int = 42\n' },
  },
  compileArguments: { words: ['-d:n=42'], code: 'const n {.intdefine.} = 0\necho n' },
}

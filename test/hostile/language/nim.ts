// Attacks in Nim, and through its compiler, which runs static blocks.
import { aims, exhausts, onePath, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
import os, posix, strutils
proc syscall(number: clong): clong {.importc, varargs, header: "<unistd.h>".}
const host = [${aims.hostFiles}]
const own = [${aims.boxFiles}]
const rows = [${aims.calls}]
const policy = [${aims.errors}]
proc rest(none: pointer): pointer {.noconv.} =
  while true: discard posix.pause()
if fileExists("/etc/debian_version"):
  echo "ESCAPED there is no box"
  quit 1
let way = stdin.readAll.strip
case way
of "files":
  for path in host:
    if posix.open(cstring(path), O_RDONLY) >= 0: echo "ESCAPED ", path
  for path in own:
    try: echo readFile(path)
    except IOError: discard
of "calls":
  for i in countup(0, rows.len - 1, 7):
    template a(n: int): clong = clong(rows[i + n])
    let result = syscall(a(0), a(1), a(2), a(3), a(4), a(5), a(6))
    if result != -1: echo "ESCAPED call ", rows[i], ": ", result
    elif int(errno) notin policy: echo "UNSURE call ", rows[i], ": ", errno
of "daemon":
  if fork() == 0:
    discard setsid()
    if fork() > 0: exitnow(0)
    while true: sleep(600_000)
  sleep(50)
of "disk":
  let file = posix.open("/tmp/fill", O_WRONLY or O_CREAT, 0o600)
  var written = 0
  let text = repeat('x', 1 shl 20)
  while written < 64 shl 20:
    let n = posix.write(file, cstring(text), text.len)
    if n <= 0: break
    written += n
  if written > 32 shl 20: echo "ESCAPED the disk"
of "output":
  let text = repeat('x', 65536)
  while true: stdout.write(text)
of "memory":
  var held: seq[string]
  while true: held.add(repeat('x', 1 shl 20))
of "processes":
  while true: discard fork()
of "threads":
  while true:
    var one: Pthread
    discard pthread_create(addr one, nil, rest, nil)
else: quit 9
echo "held"`

const main = '\necho "held"'

export const nim: HostileLanguage = {
  language: 'nim',
  program,
  ways: everyWay,
  sources: [
    shows(
      'staticRead shows no file',
      (path) => `const text = staticRead("${path}")\necho text${main}`,
      onePath,
    ),
    shows(
      'staticExec shows no file',
      (path) => `const text = staticExec("cat ${path} 2>&1; id; env")\necho text${main}`,
      onePath,
    ),
    showsNone('an include shows no file', (path) => `include "${path}"${main}`, onePath),
    shows(
      'C that it emits shows no file',
      (path) => `{.emit: """#include "${path}"\n""".}${main}`,
      onePath,
    ),
    showsNone(
      'a file to be compiled with it shows no file',
      (path) => `{.compile: "${path}".}${main}`,
      onePath,
    ),
    showsNone(
      'options for the linker show no file',
      (path) => `{.passL: "-Wl,@${path}".}\n{.link: "${path}".}${main}`,
      onePath,
    ),
    showsNone(
      'a compiler of its own choosing shows no file',
      (path) => `{.passC: "-imacros ${path} -fplugin=${path}".}${main}`,
      onePath,
    ),
    exhausts(
      'what is computed without end ends',
      `static:\n  var n = 0\n  while true: n = (n + 1) mod 1000${main}`,
    ),
    exhausts(
      'programs that it starts while compiling end',
      `const x = staticExec("while :; do sleep 60 & done")${main}`,
    ),
    exhausts(
      'macros without end end',
      `import macros\nmacro m(): untyped = newStmtList(newCall("m"), newCall("m"))\nm()${main}`,
    ),
  ],
}

// Reading input, and sources in every encoding.
import { crc32 } from 'node:zlib'
import type { Program, Programs } from './program.ts'

const lines = 'first\nsecond line\n3 4 5\n\nlast without end'
const bytes = Buffer.concat([
  Buffer.from('text ü\n'),
  Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0x00, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from('é\u0301 end'),
])

function fed(code: string, stdin: string | Uint8Array = lines): Program {
  return { code, stdin }
}

/** Programs that read their input. */
const input: Programs = {
  'input()': fed('print([input(), input("prompt "), input()])'),
  'input() at the end': fed('while True: print(repr(input()))'),
  'input() without any': fed('input()', ''),
  'input() with readline': fed('import readline\nprint(input("> "))'),
  'sys.stdin.read': fed('import sys\nprint(repr(sys.stdin.read()), repr(sys.stdin.read()))'),
  'sys.stdin.readline': fed('import sys\nprint([sys.stdin.readline() for _ in range(7)])'),
  iteration: fed('import sys\nfor line in sys.stdin: print(repr(line))'),
  'iteration and input': fed('import sys\nprint(next(sys.stdin))\nprint(input())'),
  'tell and seek of the bytes': fed(
    'import sys\nb = sys.stdin.buffer\nprint(b.tell(), b.read(3), b.tell(), b.seek(1), b.readline(), b.peek()[:4], b.seek(-3, 2), b.read())',
  ),
  bytes: fed('import sys\nprint(sys.stdin.buffer.read())', bytes),
  'bytes that are no text': fed(
    'print(ascii(input())); print(ascii(input())); print(ascii(input()))',
    bytes,
  ),
  'bytes that are no text, written': fed('import sys\nsys.stdout.write(sys.stdin.read())', bytes),
  'os.read': fed('import os\nprint(os.read(0, 5), os.read(0, 1000), os.read(0, 1000))'),
  '/dev/stdin': fed('print(open("/dev/stdin").readlines())'),
  '/dev/stdin twice': fed('print(open("/dev/stdin").readline(), open("/dev/stdin").readline(), input())'),
  'open(0)': fed('for line in open(0): print(line.split())'),
  mmap: fed('import mmap\nm = mmap.mmap(0, 0, access=mmap.ACCESS_READ)\nprint(len(m), m[:5], m.find(b"last"))'),
  'input cannot be written': fed(
    'import os\nfor act in (lambda: os.write(0, b"x"), lambda: os.ftruncate(0, 0), lambda: open("/dev/stdin", "r+b")):\n    try: act()\n    except OSError as error: print(error)',
  ),
  select: fed('import select\nprint(select.select([0], [1], [], 0))'),
  'stdin closed': fed('import sys\nsys.stdin.close()\ninput()'),
  'stdin closed below': fed('import os\nos.close(0)\ninput()'),
  'stdin replaced': fed('import io, sys\nsys.stdin = io.StringIO("own\\n")\nprint(input(), sys.__stdin__.readline())'),
  'a child reads on': fed('import subprocess, sys\nprint(input(), flush=True)\nsubprocess.run(["cat"])'),
  'a fork shares the place': fed(
    'import os\nif os.fork() == 0:\n    os.read(0, 6); os._exit(0)\nos.wait()\nprint(os.read(0, 100))',
  ),
  'a line of a megabyte': fed('print(len(input()))', 'x'.repeat(1 << 20)),
  'code.interact': fed('import code\ncode.interact(banner="b", exitmsg="e")', 'x = 1\nx + 1\nx.y\n'),
  pdb: fed('import pdb\ndef f():\n    value = 5\n    breakpoint()\n    return value\nf()', 'p value\nw\nl\nc\n'),
} // prettier-ignore

function raw(...parts: (string | readonly number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)))
}

/** Makes a zip archive that holds only a `__main__.py`. */
function archive(code: string): Buffer {
  const [name, content] = [Buffer.from('__main__.py'), Buffer.from(code)]
  // Version, flags, method, time, date, checksum, both sizes, length of the name.
  const entry = Buffer.alloc(26)
  entry.writeUInt16LE(20, 0)
  entry.writeUInt16LE(0x5821, 8)
  entry.writeUInt32LE(crc32(content), 10)
  entry.writeUInt32LE(content.length, 14)
  entry.writeUInt32LE(content.length, 18)
  entry.writeUInt16LE(name.length, 22)
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), entry, name, content])
  const listed = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), entry, Buffer.alloc(14), name])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(file.length, 12)
  return Buffer.concat([file, listed, Buffer.from('PK\x05\x06'), end])
}

/** Sources that are not plain text. */
const source: Programs = {
  'an empty source': '',
  'a comment alone': '# nothing',
  'no newline at the end': 'print(1)',
  CRLF: 'print(1)\r\nif True:\r\n    print("""a\r\nb""".encode())\r\n',
  'a mark of byte order': '\ufeffprint("ü")',
  'a cookie of latin-1': raw(
    '# -*- coding: latin-1 -*-\nprint(ascii("',
    [0xfc],
    '"))\n1/0 # ',
    [0xe4],
  ),
  'a cookie in the second line': raw('#!/usr/bin/python3\n# vim: set fileencoding=cp1252 :\nprint(ascii("', [0x80], '"))'),
  'an unknown cookie': '# coding: nothing\nprint(1)',
  'a byte that is no text': raw('print(1)\nprint("', [0xff], '")\n'),
  'NUL at the start': raw([0], 'print(1)'),
  'NUL at the end': raw('print(1)\n', [0]),
  'identifiers of many scripts': 'größe = 1\nπ = 3\n变量 = 2\nprint(größe + π + 变量, ﬁ := 5, fi)',
  'text of many scripts': 'print("äöü ß € 日本語 𝄞 \u202e \\U0001f600 😀")',
  'a source of 200 KB': `${'x = 1\n'.repeat(34_000)}print(x)`,
  'a line of 100 KB': `x = "${'y'.repeat(100_000)}"\nprint(len(x))`,
  'an archive': raw([0x50, 0x4b, 0x03, 0x04], ' is no archive yet\n'),
  'an archive that runs': archive('import sys\nprint(sys.path[0], sys.argv, __file__, __name__)\n1 / 0'),
  'the source that is read while it runs': 'import linecache\nprint(linecache.getlines("main.py"), linecache.getline(__file__, 1))',
  'the source cannot be changed':
    'import os\ntry: open("main.py", "w")\nexcept OSError as error: print(error)\nprint(os.access("main.py", os.X_OK))',
  'the source replaced before an error':
    'import os\nos.rename("main.py", "old.py")\nopen("main.py", "w").write("one\\ntwo\\nthree\\n")\n1 / 0',
  'the source removed before an error': 'import os\nos.unlink("main.py")\n1 / 0',
  'runpy of itself':
    'import runpy, sys\nif __name__ == "__main__": runpy.run_path("main.py", run_name="again")\nprint(__name__, sys.argv)',
} // prettier-ignore

/** Reading input, and sources in every encoding. */
export const stream: Programs = { ...input, ...source }

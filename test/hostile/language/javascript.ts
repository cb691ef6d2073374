// Attacks in JavaScript: through Node's own bindings, and through programs that Node starts.
import { aims, attackSources, callRows, onePath, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

/** Makes the calls in Perl, because Node cannot make system calls. A program that Node starts is in the same box. */
const perl = callRows
  .map((row) => `$! = 0; $r = syscall(${row.join(', ')}); print "$r ", $! + 0, "\\n";`)
  .join(' ')

const program = raw`
const fs = require('node:fs'), child = require('node:child_process'), { Worker } = require('node:worker_threads')
if (fs.existsSync('/etc/debian_version')) { console.log('ESCAPED there is no box'); process.exit(1) }
const way = fs.readFileSync(0, 'utf8').trim()
const block = Buffer.alloc(1 << 20, 'x')
const attempt = (what, f) => { try { console.log('ESCAPED', what, f()) } catch (error) { console.log('refused', what, error.code) } }
const held = []
switch (way) {
  case 'files':
    for (const path of [${aims.hostFiles}]) {
      attempt(path, () => fs.openSync(path))
      attempt('import of ' + path, () => require(path))
    }
    for (const path of [${aims.boxFiles}]) try { console.log(fs.readFileSync(path, 'utf8')) } catch {}
    console.log(process.env, process.argv, process.report.getReport())
    break
  case 'calls': {
    for (const line of child.execFileSync('perl', ['-e', ${JSON.stringify(perl)}], { encoding: 'utf8' }).trim().split('\n')) {
      const [result, error] = line.split(' ').map(Number)
      if (result !== -1) console.log('ESCAPED call', line)
      else if (![${aims.errors}].includes(error)) console.log('UNSURE call', line)
    }
    attempt('setuid', () => process.setuid(0))
    attempt('setgid', () => process.setgid(0))
    attempt('kill', () => process.kill(@WORKER_PID@, 0))
    attempt('a library as a module', () => process.dlopen({ exports: {} }, 'libc.so.6'))
    attempt('a child of root', () => child.execFileSync('/usr/bin/id', { uid: 0 }).toString())
    break
  }
  case 'daemon':
    child.spawn('/bin/sh', ['-c', 'sleep 600 & sleep 600'], { detached: true, stdio: 'inherit' }).unref()
    break
  case 'disk': {
    const file = fs.openSync('/tmp/fill', 'w')
    let written = 0
    try { while (written < 64 << 20) written += fs.writeSync(file, block) } catch {}
    if (written > 32 << 20) console.log('ESCAPED the disk')
    break
  }
  case 'output': for (;;) fs.writeSync(1, block)
  case 'memory': for (;;) held.push(Buffer.alloc(1 << 20, 'x'))
  case 'processes': for (;;) try { child.spawn('/bin/sh', ['-c', 'sleep 60 & sleep 60']).on('error', () => {}) } catch {}
  case 'threads': for (;;) try { new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', () => {}) } catch {}
  default: process.exit(9)
}
console.log('held')
`

const sources = [
  showsNone(
    'an import shows no file',
    (path: string) =>
      `import(${JSON.stringify(path)}).catch((error) => console.log(error)).then(() => console.log('held'))`,
  ),
  showsNone(
    'a require shows no file',
    (path: string) =>
      `try { require(${JSON.stringify(path)}) } catch (error) { console.log(error.stack) }\nconsole.log('held')`,
  ),
]

export const javascript: HostileLanguage = {
  language: 'javascript',
  program,
  ways: {
    ...everyWay,
    memory: ['crashed', 'signaled'],
    processes: ['crashed', 'signaled'],
    threads: ['crashed', 'signaled'],
  },
  sources,
}

/** Sources that make the TypeScript compiler read other files. */
export const typescript = attackSources('typescript', [
  showsNone(
    'a reference shows no file',
    (path) => `/// <reference path="${path}" />\nconsole.log("held")`,
  ),
  showsNone(
    'a reference to types shows no file',
    (path) => `/// <reference types="${path}" />\nconsole.log("held")`,
    onePath,
  ),
  showsNone(
    'an import shows no file',
    (path) => `import * as x from "${path}"\nconsole.log(x, "held")`,
    onePath,
  ),
  showsNone(
    'an import of JSON shows no file',
    (path) => `import x = require("${path}")\nlet y: never = x\nconsole.log("held")`,
    onePath,
  ),
])

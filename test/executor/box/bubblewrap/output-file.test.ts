// Reading what is left in a directory, with things in it that the filter on system calls forbids a program to make.
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, constants, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs' // prettier-ignore
import t from 'tap'
import {
  openWorkDirectory,
  readOutputFiles,
} from '../../../../src/executor/box/bubblewrap/output-file.ts'
import { failsAt } from '../../../helper/executor.ts'

// Nothing of the host's is named: should a link be followed, its mode would be changed.
const outside = mkdtempSync('/dev/shm/runledger-test-')
t.teardown(() => rmSync(outside, { recursive: true }))
writeFileSync(`${outside}/file`, 'outside')
const root = t.testdir({ plain: 'plain', sub: { file: 'below' } })
execFileSync('mkfifo', [`${root}/pipe`])
execFileSync('mkfifo', [`${root}/sub/pipe`])
if (process.getuid?.() === 0) execFileSync('mknod', [`${root}/zeroes`, 'c', '1', '5'])
mkdirSync(`${root}/closed`)
writeFileSync(`${root}/closed/file`, 'closed')
chmodSync(`${root}/closed/file`, 0)
chmodSync(`${root}/closed`, 0)
symlinkSync(outside, `${root}/outside`)
symlinkSync(`${outside}/file`, `${root}/direct`)
symlinkSync(`${root}/sub`, `${root}/around`)
const directory = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY)
t.teardown(() => closeSync(directory))

t.test('only files are read, by names without links', async (t) => {
  const names = ['pipe', 'sub/pipe', 'zeroes', 'sub', 'outside/file', 'direct', 'around/file', 'plain/x', 'closed/file', 'plain', 'sub/file'] // prettier-ignore
  const before = readdirSync('/proc/self/fd').length
  const found = readOutputFiles(directory, names)
  t.strictSame(
    found.map(({ name, content }) => [name, Buffer.from(content ?? []).toString()]),
    [['closed/file', 'closed'], ['plain', 'plain'], ['sub/file', 'below']], // prettier-ignore
  )
  t.equal(readdirSync('/proc/self/fd').length, before, 'nothing stays open')
})

t.test('a process that shows no box of its own is refused', async (t) => {
  t.throws(() => openWorkDirectory(process.pid), failsAt('bubblewrap.output'))
})

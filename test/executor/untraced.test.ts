// A worker that is root without CAP_SYS_PTRACE is not let into its boxes: it runs programs, and says that it reads no files of
// theirs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startExecutor } from '../helper/executor.ts'

for (const box of ['keeper', 'bubblewrap'] as const) {
  t.test(`with its rights it reads them, from boxes of kind ${box}`, async (t) => {
    t.equal((await startExecutor(t, { box, languages: ['python'] })).readsOutputFiles, true)
  })
}

const needsRoot = { skip: process.getuid?.() !== 0 && 'needs root' }

t.test('without the right to trace it does not, and says so', needsRoot, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-untraced-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const launcher = ['--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace', process.execPath]
  const told = execFileSync(
    'setpriv',
    [...launcher, join(import.meta.dirname, 'untraced-worker.ts'), directory],
    { encoding: 'utf8', timeout: 240_000 },
  )
  t.match(JSON.parse(told), { reads: false, fallbacks: [/output_files/], stdout: 'works\n' })
})

// A program is blamed for a lack of memory only when it has reached its own limit.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { buildKeeper } from '../../../../src/executor/box/keeper/build.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { failsAt, keeperDirectory } from '../../../helper/executor.ts'
import { request, startLoneKeeper } from './lone-keeper.ts'

const mebibyte = 1024 * 1024
const fill = 'kept = [b"x" * 1_000_000 for _ in range(300)]'
const command = ['/usr/bin/python3', '-S', '-c', fill]
const isRoot = process.getuid?.() === 0

t.test('who takes more than his own limit has reached it', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const asked = request(command, { memoryBytes: 64 * mebibyte })
  group.allow(asked.limits)
  const { reason, outOfMemoryKills } = await keeper.run(asked)
  t.ok(reason === 'memory_limit' || outOfMemoryKills > 0)
})

t.test('who is killed for the memory of others is not blamed', { skip: !isRoot }, async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const asked = request(command, { memoryBytes: 1024 * mebibyte })
  group.allow(asked.limits)
  const files = group.entrances
    .map((path) => dirname(dirname(path)))
    .flatMap((above) => ['memory.limit_in_bytes', 'memory.max'].map((name) => join(above, name)))
  for (const file of files.filter((path) => existsSync(path)))
    writeFileSync(file, `${96 * mebibyte}`)
  await t.rejects(keeper.run(asked), failsAt('box.memory'))
})

/**
 * Returns a keeper that looks for the peak in a file that no kernel has. The name is replaced in the compiled keeper, because
 * compiling another one takes a minute in emulation.
 */
async function forgetPeak(t: Test): Promise<string> {
  const { program } = await buildKeeper(keeperDirectory)
  const changed = readFileSync(program, 'latin1').replaceAll('memory.peak', 'memory.none')
  const path = join(makeDirectory(t, 0o755), 'keeper')
  writeFileSync(path, changed, 'latin1')
  chmodSync(path, 0o755)
  return path
}

t.test('where the kernel counts no peak, it is sampled', async (t) => {
  const { keeper, group } = await startLoneKeeper(t, { program: await forgetPeak(t) })
  const hold = 'import time; kept = b"x" * 100_000_000; time.sleep(1)'
  const asked = request(['/usr/bin/python3', '-S', '-c', hold], { memoryBytes: 256 * mebibyte })
  group.allow(asked.limits)
  const { usage } = await keeper.run(asked)
  t.ok(usage.memoryPeakBytes > 95 * mebibyte, `${usage.memoryPeakBytes}`)
})

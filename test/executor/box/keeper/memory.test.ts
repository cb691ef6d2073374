// A program is blamed for a lack of memory only when it has reached its own limit.
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { failsAt } from '../../../helper/executor.ts'
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

t.test('where the kernel counts no peak, it is sampled', async (t) => {
  const { keeper, group } = await startLoneKeeper(t, { further: ['-DPEAK_FILE="no.peak"'] })
  const hold = 'import time; kept = b"x" * 100_000_000; time.sleep(1)'
  const asked = request(['/usr/bin/python3', '-S', '-c', hold], { memoryBytes: 256 * mebibyte })
  group.allow(asked.limits)
  const { usage } = await keeper.run(asked)
  t.ok(usage.memoryPeakBytes > 95 * mebibyte, `${usage.memoryPeakBytes}`)
})

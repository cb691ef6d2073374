// Workers of one host use different uids, even if they are configured with the same.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { SandboxError } from '#contract'
import { claimUids } from '#executor'

// Other tests' workers have uids below.
const first = 3_000_000 + (process.pid % 1000) * 1000

t.test('who comes second gets the next range, and who comes third the one after it', async (t) => {
  const ranges = [await claimUids(first, 4), await claimUids(first, 4), await claimUids(first, 4)]
  t.strictSame(
    ranges.map(({ firstUid }) => firstUid),
    [first, first + 4, first + 8],
  )
  for (const range of ranges) range.release()
})

t.test('a range that overlaps by one uid is another’s', async (t) => {
  const [one, other] = [await claimUids(first + 3, 2), await claimUids(first, 4)]
  t.equal(other.firstUid, first + 8, 'the first free one, and what was half claimed is free again')
  const between = await claimUids(first, 3)
  t.equal(between.firstUid, first)
  for (const range of [one, other, between]) range.release()
})

t.test('what is released can be claimed again', async (t) => {
  const range = await claimUids(first, 4)
  range.release()
  const again = await claimUids(first, 4)
  t.equal(again.firstUid, first)
  again.release()
})

t.test('a process that is killed holds nothing any more', async (t) => {
  const script = `import('#executor').then(async ({ claimUids }) => {
    console.log((await claimUids(${first}, 4)).firstUid)
    setInterval(() => {}, 1000)
  })`
  const child = spawn('node', ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  t.equal(Number(line), first)
  const beside = await claimUids(first, 4)
  t.equal(beside.firstUid, first + 4)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const after = await claimUids(first, 4)
  t.equal(after.firstUid, first)
  for (const range of [beside, after]) range.release()
})

t.test('where nothing is free the worker is told so', async (t) => {
  const ranges = await Promise.all(Array.from({ length: 64 }, () => claimUids(first, 1)))
  t.equal(new Set(ranges.map(({ firstUid }) => firstUid)).size, 64)
  const error = await claimUids(first, 1).catch((error: unknown) => error)
  t.ok(error instanceof SandboxError)
  t.match(error, { step: 'slot.uid', message: /FIRST_UID/ })
  for (const range of ranges) range.release()
})

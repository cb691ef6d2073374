// Each failpoint is in the code once, does nothing without a listener, and calls its listeners before the process goes on.
import { spawnSync } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { failpoints, reachFailpoint } from '../../src/job/failpoint.ts'

const root = resolve(import.meta.dirname, '../..')

t.test('every one stands in the code once', async (t) => {
  const code = readdirSync(join(root, 'src/job'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src/job', name), 'utf8'))
    .join('\n')
  for (const name of failpoints)
    t.equal(code.split(`reachFailpoint('${name}')`).length - 1, 1, name)
  t.equal(code.match(/reachFailpoint\('/g)?.length, failpoints.length)
})

t.test('who listens is told of this one alone, before the process goes on', async (t) => {
  const seen: string[] = []
  subscribe('runledger:submit.after_commit', () => void seen.push('told'))
  reachFailpoint('submit.before_commit')
  t.strictSame(seen, [])
  reachFailpoint('submit.after_commit')
  t.strictSame(seen, ['told'])
})

t.test('a crash there leaves no time to clean up', async (t) => {
  const script = `
    import { reachFailpoint } from './src/job/failpoint.ts'
    process.on('exit', () => console.log('cleaned up'))
    reachFailpoint('execute.after_start')
    console.log('went on')`
  const crash = `--import=${join(root, 'test/faults/crash.ts')}`
  const { signal, stdout } = spawnSync('node', [crash, '--input-type=module', '-e', script], {
    cwd: root,
    env: { ...process.env, CRASH_AT: 'execute.after_start' },
  })
  t.equal(signal, 'SIGKILL')
  t.equal(stdout.toString(), '')
})

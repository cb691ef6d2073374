// The places to die at: each stands in the code once, does nothing unless it is chosen, and then leaves no time.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { ConfigError } from '#config'
import { armCrashPoint, crashPoint, crashPoints } from '../../src/job/crash-point.ts'

const root = resolve(import.meta.dirname, '../..')

t.test('every place stands in the code once', async (t) => {
  const code = readdirSync(join(root, 'src/job'))
    .map((name) => readFileSync(join(root, 'src/job', name), 'utf8'))
    .join('\n')
  for (const point of crashPoints)
    t.equal(code.split(`crashPoint('${point}')`).length - 1, 1, point)
  t.equal(code.match(/crashPoint\('/g)?.length, crashPoints.length)
})

t.test('without a choice, or with another, a process passes', async (t) => {
  crashPoint('submit.before_commit')
  armCrashPoint('submit.after_commit')
  crashPoint('submit.before_commit')
  armCrashPoint(undefined)
  crashPoint('submit.after_commit')
  t.pass('it lives')
})

t.test('the chosen one is a kill', async (t) => {
  const script = `
    import { armCrashPoint, crashPoint } from './src/job/crash-point.ts'
    process.on('exit', () => console.log('cleaned up'))
    armCrashPoint('execute.after_start')
    crashPoint('execute.after_start')
    console.log('went on')`
  const { signal, stdout } = spawnSync('node', ['--input-type=module', '-e', script], { cwd: root })
  t.equal(signal, 'SIGKILL')
  t.equal(stdout.toString(), '')
})

t.test('a name that is none is a mistake in the configuration', async (t) => {
  t.throws(() => armCrashPoint('execute.nowhere'), ConfigError)
})

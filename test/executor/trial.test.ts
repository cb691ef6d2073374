// A language's trial without a box: which output passes, and when the trial's time starts.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { tryLanguage } from '#executor'
import type { ExecutionRequest, Outcome } from '#executor'
import { describePhase, failsAt } from '../helper/executor.ts'

const say = (stdout: string): Outcome => ({
  compile: null,
  compileCached: false,
  run: describePhase({ stdout: Buffer.from(stdout) }),
})
const never = new AbortController().signal

t.test('a trial that waits for its slot loses no time by it', async (t) => {
  await tryLanguage(
    {
      async execute({ onSlot }: ExecutionRequest, signal) {
        // A timer that was set before this delay has fired when the delay is over.
        await delay(50)
        signal.throwIfAborted()
        onSlot?.()
        return say('65536\n')
      },
    },
    'python',
    never,
    10,
  )
  t.pass('it passed')
})

t.test('one that has a slot and does not end is given up', async (t) => {
  const hanging = tryLanguage(
    {
      execute({ onSlot }, signal) {
        onSlot?.()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    },
    'python',
    never,
    10,
  )
  await t.rejects(hanging, failsAt('language.trial'))
})

t.test('one that says anything else has not passed', async (t) => {
  const trial = tryLanguage({ execute: async () => say('65535\n') }, 'python', never)
  await t.rejects(trial, failsAt('language.trial'))
})

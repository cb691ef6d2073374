// A program that is stopped while it waits for another slot between two phases: what it has done is reported. The boxes are
// stand-ins.
import t from 'tap'
import type { Boxes } from '#contract'
import { NotStartedError } from '#executor'
import type { ExecutionRequest, Outcome, Phase } from '#executor'
import { defaultLimits } from '#language'
import { createArtefactCache } from '../../src/executor/artefact-cache.ts'
import type { InstalledLanguage } from '../../src/executor/languages.ts'
import { runProgram } from '../../src/executor/program.ts'
import { createSlotPool } from '../../src/executor/slot.ts'
import { withSlot } from '../../src/executor/tenancy.ts'
import { judgeByProgram } from '../../src/job/execute/program-checker.ts'
import { describePhase } from '../helper/executor.ts'

const { signal } = new AbortController()
const command = { argv: ['true'], files: [], unlimitedStack: false }
const compiler = {
  commandLine: [],
  identity: '',
  command: () => ({ ...command, argv: ['compile'] }),
  readArtefact: (content: Buffer) => ({ content, entry: '' }),
}
const language: InstalledLanguage = {
  toolchain: {
    version: '',
    location: '',
    compiler,
    commandLine: [],
    paths: [],
    files: [],
    warmPaths: [],
    run: () => command,
    ranOutOfMemory: () => false,
    accelerators: {},
  },
  limits: defaultLimits.cpp,
  residents: null,
}
const ended = describePhase({ stdout: Buffer.from('made'), stderr: Buffer.from('a warning') })

/**
 * Runs a request in one slot. Phase number `refused` does not start, the slot then never becomes clear, and the request is
 * stopped.
 */
async function stopAt(refused: number, more: Partial<ExecutionRequest>): Promise<Outcome> {
  const stop = new AbortController()
  let phases = 0
  const boxes: Boxes = {
    async run() {
      phases += 1
      if (phases === refused) throw new NotStartedError('keeper.failed', 'what the last run left')
      return ended
    },
    renew() {},
    clearing() {
      if (phases < refused) return null
      // The request now waits for a slot.
      setImmediate(() => stop.abort(new Error('enough')))
      return new Promise(() => {})
    },
    settled: async () => {},
    close: async () => {},
  }
  const shared = {
    cache: createArtefactCache('', 0),
    installed: new Map([['cpp', language]] as const),
  }
  const nothing = new Uint8Array()
  const request = {
    language: 'cpp',
    code: nothing,
    stdin: nothing,
    cacheScope: '',
    ...more,
  } as const
  return withSlot(
    createSlotPool(1, null),
    boxes,
    signal,
    (runPhase) => runProgram(shared, runPhase, language, { ...request, stop: stop.signal }, signal),
    AbortSignal.any([signal, stop.signal]),
  )
}

t.test('before the compiler has begun nothing was done', async (t) => {
  t.strictSame(await stopAt(1, {}), { compile: null, compileCached: false, run: null })
})

t.test('what was compiled is told, though it never ran', async (t) => {
  const { compile, run } = await stopAt(2, {})
  t.match(compile, { ending: 'exited', stderr: ended.stderr })
  t.equal(run, null)
})

t.test('the runs that were made are told, though another was to come', async (t) => {
  const inputs = [{ stdin: new Uint8Array() }, { stdin: new Uint8Array() }]
  const told: number[] = []
  const onRun = (_run: Phase, index: number): boolean => {
    told.push(index)
    return true
  }
  const { compile, run } = await stopAt(3, { runs: { inputs, onRun } })
  t.strictSame(told, [0])
  t.match([compile, run], [{ ending: 'exited' }, { ending: 'exited' }])
})

for (const [refused, what] of [
  [3, 'compiled'],
  [4, 'run'],
] as const) {
  t.test(`a checker that was still to be ${what} has judged nothing`, async (t) => {
    const verdicts: unknown[] = []
    const checker = { type: 'program', language: 'cpp', code: 'checker' } as const
    const given = { stdin: new Uint8Array(), expectedStdout: null }
    const { run } = await stopAt(refused, {
      runs: {
        inputs: [given],
        async onRun(ran, _index, execute) {
          verdicts.push(await judgeByProgram(checker, given, ran, '', execute))
          return true
        },
      },
    })
    t.strictSame(verdicts, [{ verdict: null, message: '' }])
    t.match(run, { ending: 'exited' })
  })
}

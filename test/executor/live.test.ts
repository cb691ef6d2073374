// Live output: what is read while a program runs is what its outcome has at the end.
import t from 'tap'
import type { Live, OutputSource } from '#executor'
import { patientLimits, startExecutor } from '../helper/executor.ts'

const outputs = ['stdout', 'stderr'] as const

interface Tapped extends Live {
  readonly events: string[]
  readonly text: Record<(typeof outputs)[number], string>
  readonly lengths: number[]
}

/** Makes a tap that reads all output as soon as it arrives. @param onText called with both outputs so far. */
function tapAll(onText: (text: Tapped['text']) => void): Tapped {
  let source: OutputSource | undefined
  const events: string[] = []
  const text = { stdout: '', stderr: '' }
  const lengths: number[] = []
  const read = (): void => {
    for (const output of outputs) {
      const bytes = source?.read(output, text[output].length, 1000) ?? Buffer.alloc(0)
      lengths.push(bytes.length)
      text[output] += bytes.toString('latin1')
    }
    onText(text)
  }
  const tap: Live['tap'] = {
    open(opened) {
      events.push('open')
      source = opened
      read()
    },
    note: read,
    close() {
      events.push('close')
    },
  }
  return {
    events,
    text,
    lengths,
    tap,
    compiled: ({ stderr }) => events.push(`compiled ${Buffer.from(stderr).toString()}`),
  }
}

t.test('in one executor', async (t) => {
  const executor = await startExecutor(t)
  const ask = (code: string, live: Live, more: object = {}) =>
    executor.execute({
      language: 'python',
      code: Buffer.from(code),
      stdin: new Uint8Array(),
      cacheScope: 'test',
      live,
      ...more,
    })

  t.test('a program that has not ended is heard', async (t) => {
    const stop = new AbortController()
    // Only this abort ends the program. If its output did not arrive, the test would run into its time limit.
    const live = tapAll(({ stdout, stderr }) => {
      if (stdout === 'early\n' && stderr === 'too\n') stop.abort()
    })
    const code = 'import sys, time\nprint("early", flush=True)\nprint("too", file=sys.stderr, flush=True)\ntime.sleep(100)' // prettier-ignore
    const limits = { compile: null, run: patientLimits.python.run }
    const { run } = await ask(code, live, { stop: stop.signal, limits })
    t.equal(run?.ending, 'cancelled')
    t.equal(Buffer.from(run?.stdout ?? []).toString(), 'early\n')
    t.strictSame(live.events, ['open', 'close'])
  })

  t.test('what is read is what the outcome has, in pieces of the asked size', async (t) => {
    const live = tapAll(() => {})
    const { run } = await ask(
      'import os\nfor n in range(3000): os.write(1, b"%d " % n); os.write(2, b"x")',
      live,
    )
    for (const output of outputs) {
      const whole = Buffer.from(run?.[output] ?? []).toString()
      t.ok(whole.startsWith(live.text[output]), output)
    }
    t.ok(Math.max(...live.lengths) <= 1000)
  })

  t.test('a flood is not held up by who listens to it', async (t) => {
    const live = tapAll(() => {})
    const { run } = await ask('import os\nwhile True: os.write(1, b"x" * 65536)', live)
    t.match(run, { ending: 'output_limit', stdoutTruncated: true })
  })

  t.test('the compiler\u2019s messages come before the run', async (t) => {
    const live = tapAll(() => {})
    const { run } = await ask('#warning careful\nint main() { return 0; }', live, {
      language: 'cpp',
    })
    t.equal(run?.exitCode, 0)
    t.match(live.events, [/^compiled .*careful/s, 'open', 'close'])
  })

  t.test('of several runs none is told', async (t) => {
    const live = tapAll(() => {})
    const inputs = [{ stdin: new Uint8Array() }, { stdin: new Uint8Array() }]
    await ask('print(1)', live, { runs: { inputs, onRun: () => true } })
    t.strictSame(live.events, [])
  })
})

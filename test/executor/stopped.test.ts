// A stopped program is dead. What it has done so far is reported, and is not taken for more than that.
import t from 'tap'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import type { Language } from '#language'
import {
  accelerated,
  execute,
  failsAt,
  findBoxProcesses,
  startExecutor,
} from '../helper/executor.ts'
import type { TextOutcome } from '../helper/executor.ts'

interface Stopped {
  readonly stop: AbortController
  readonly outcome: Promise<TextOutcome>
}

function begin(executor: Executor, language: Language, code: string): Stopped {
  const stop = new AbortController()
  return { stop, outcome: execute(executor, language, code, '', { stop: stop.signal }) }
}

const end = (stop: AbortController): void => stop.abort(new Error('enough'))

const talking = {
  python:
    'import sys, time\nprint("before", flush=True)\nprint("told", file=sys.stderr, flush=True)\ntime.sleep(300)\nprint("after")',
  cpp: '#include <cstdio>\n#include <unistd.h>\nint main() { puts("before"); fflush(stdout); fputs("told\\n", stderr); sleep(300); puts("after"); }',
  java: 'class Main { public static void main(String[] a) throws Exception { System.out.println("before"); System.err.println("told"); Thread.sleep(300_000); System.out.println("after"); } }',
} as const

t.test('in one executor', async (t) => {
  const executor = await startExecutor(t, { languages: accelerated })

  for (const language of accelerated) {
    t.test(`what a program in ${language} had written is kept`, async (t) => {
      // The test does not learn when the program has written, so it stops later each time until there is output.
      for (let delay = 500; ; delay *= 2) {
        const { stop, outcome } = begin(executor, language, talking[language])
        setTimeout(() => end(stop), delay)
        const { run } = await outcome
        t.same(findBoxProcesses(), [])
        if (run === null || run.stderr.length === 0) continue
        t.match(run, { ending: 'cancelled', exitCode: 137, signal: 'SIGKILL' })
        t.match(run, { stdout: 'before\n', stderr: 'told\n' })
        t.ok(run.usage.wallSeconds > 0 && run.usage.memoryPeakBytes > 0)
        return
      }
    })
  }

  t.test('at whatever moment, it ends without an error and leaves nothing', async (t) => {
    for (let delay = 0; delay < 60; delay += 3) {
      const { stop, outcome } = begin(executor, 'python', 'import time\ntime.sleep(300)')
      setTimeout(() => end(stop), delay)
      const { run } = await outcome
      if (run !== null) t.match(run, { ending: 'cancelled', exitCode: 137 })
    }
    t.same(findBoxProcesses(), [])
    t.equal(executor.slots, 2)
  })

  t.test('a compiler that is stopped says so, and is asked anew the next time', async (t) => {
    for (let delay = 60; ; delay += 20) {
      const code = `#include <iostream>\n#include <regex>\nint main() { std::cout << ${delay}; }`
      const { stop, outcome } = begin(executor, 'cpp', code)
      setTimeout(() => end(stop), delay)
      const { compile, run } = await outcome
      // Not begun, or over before the timer of a stalled process fired.
      if (compile === null || compile.ending === 'exited') continue
      t.match(compile, { ending: 'cancelled', exitCode: 137 })
      t.equal(run, null)
      t.same(findBoxProcesses(), [])
      const again = await begin(executor, 'cpp', code).outcome
      t.equal(again.compileCached, false)
      t.equal(again.run?.ending, 'exited')
      return
    }
  })

  t.test('one that waits, for a slot or for the compiler of another, waits no more', async (t) => {
    const nothing = { compile: null, compileCached: false, run: null }
    const code = `#include <regex>\nint main() { return 6; }`
    const compiling = begin(executor, 'cpp', code)
    const same = begin(executor, 'cpp', code)
    const slotless = begin(executor, 'python', 'print(1)')
    end(slotless.stop)
    t.same(await slotless.outcome, nothing)
    await new Promise(setImmediate)
    end(same.stop)
    let isCompiled = false
    void compiling.outcome.then(() => (isCompiled = true))
    t.same(await same.outcome, nothing)
    t.equal(isCompiled, false)
    t.equal((await compiling.outcome).run?.exitCode, 6)
  })

  t.test('one that was stopped before it began never runs', async (t) => {
    const stop = AbortSignal.abort(new Error('enough'))
    t.equal((await execute(executor, 'python', 'print(1)', '', { stop })).run, null)
  })

  t.test('an end that came first stands', async (t) => {
    const { stop, outcome } = begin(executor, 'python', 'print(1)')
    t.match((await outcome).run, { ending: 'exited', exitCode: 0 })
    end(stop)
    t.same(findBoxProcesses(), [])
  })

  t.test(
    'whoever closes the executor gets its reason, stopped or not, running or later',
    async (t) => {
      const sleep = 'import time\ntime.sleep(300)'
      const [stopped, running] = [1, 2].map(() => begin(executor, 'python', sleep))
      await new Promise((resolve) => setTimeout(resolve, 200))
      const closed = executor.close()
      end(stopped!.stop)
      const outcomes = [stopped!, running!].map(({ outcome }) => outcome)
      await Promise.all(outcomes.map((each) => t.rejects(each, failsAt('executor.close'))))
      await closed
      t.same(findBoxProcesses(), [])
      const late = begin(executor, 'python', 'print(1)').outcome
      await t.rejects(late, new SandboxError('executor.close', 'the executor is closed'))
    },
  )
})

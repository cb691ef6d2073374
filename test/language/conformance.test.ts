// Every language of this host does, in a box, what programs in any language are expected to do. Real toolchains, real
// boxes. LANGUAGES="go rust" tests some languages, LANGUAGES= tests all; without the variable only Python is tested.
// Languages that the host lacks are named; with EVERY_LANGUAGE=1 a missing language is a failure.
import t from 'tap'
import type { ExecutionRequest, Executor, Outcome } from '#executor'
import { catalogue, languages } from '#language'
import type { Language, PhaseLimits } from '#language'
import { scaleLimits, startExecutor, timeFactor } from '../helper/executor.ts'
import { loadPrograms } from './all.ts'
import type { Program } from './program.ts'

const wanted = (process.env['LANGUAGES'] ?? 'python').split(/[\s,]+/).filter(Boolean)
const chosen = languages.filter((name) => wanted.length === 0 || wanted.includes(name))
const programs = await loadPrograms(chosen)
const line = 'Grüße, 世界 🎉\n'
const big = 'The quick brown fox jumps over the lazy dog, 0123456789 times..\n'.repeat(1024)
const rows = 'pear 7\napple 12\nfig 7\nplum -3\ndate 40\n'
const sorted = 'plum: -3\nfig: 7\npear: 7\napple: 12\ndate: 40\nmean: 12.60\n'
// An option comes first, because a language's runtime may take it for its own.
const given = ['-x', 'two words', 'é"\'\\$HOME', '']
const lines = (words: readonly string[]): string => words.map((word) => `${word}\n`).join('')

const missing = new Set<string>()
// Time depends on the machine. The limits are wide except where time itself is tested.
const enough = { cpuSeconds: 100, wallSeconds: 200 }
const slots = 4
const limit = (run: Partial<PhaseLimits>): ReturnType<typeof scaleLimits> =>
  scaleLimits({ ...enough, ...run }, enough)
const start = (limits: ReturnType<typeof scaleLimits>): Promise<Executor> =>
  startExecutor(t, {
    languages: chosen,
    accelerators: ['prestart'],
    slots,
    limits,
    onMissing: ({ language, reason }) => missing.add(`${language} (${reason})`),
  })
const roomy = await start(limit({}))
// Limits are stretched on slow machines, but stay shorter than the programs that must pass them.
const briefCpu = limit({ cpuSeconds: Math.min(1, 5 / timeFactor) })
const briefWall = limit({ wallSeconds: Math.min(2, 20 / timeFactor) })
// An executor of its own, because runtimes are started ahead with the memory that its programs have by default.
const small = await start(limit({ memoryBytes: 256 * 1024 * 1024 }))
if (process.env['EVERY_LANGUAGE'] === '1')
  t.strictSame([...missing], [], 'every language is installed')
if (missing.size > 0) t.comment(`not installed, and so not looked at: ${[...missing].join(', ')}`)

// More jobs than cores, because programs that sleep until their limit leave the cores to the others.
t.jobs = slots
// Slow compilers come first. Otherwise they run last, while other cores are idle.
const compileTime = (name: Language): number => catalogue[name].limits.compile?.cpuSeconds ?? 0
const found = chosen
  .filter((name) => roomy.runtimes[name] !== undefined)
  .toSorted((one, other) => compileTime(other) - compileTime(one))

/** Checks the outcome of a behaviour. */
type Check = (outcome: Outcome) => void

for (const language of found) {
  const own = programs.get(language)
  if (own === undefined) throw new Error(`${language} has no programs`)
  const { example, trial, limits } = catalogue[language]
  t.test(`${language}: ${roomy.runtimes[language]?.version}`, { buffered: true }, async (t) => {
    const run = async (
      name: string,
      code: Program,
      stdin: string,
      check: Check,
      executor: Executor = roomy,
      given: Partial<ExecutionRequest> = {},
    ): Promise<void> => {
      if (typeof code !== 'string' && 'cannot' in code) {
        t.comment(`${name}: ${code.cannot}`)
        return
      }
      const request = { language, stdin: Buffer.from(stdin), cacheScope: 'conformance', ...given }
      check(
        await executor.execute(
          typeof code === 'string'
            ? { ...request, code: Buffer.from(code) }
            : {
                ...request,
                code: Buffer.from(code.shared),
                environment: { ...given.environment, BEHAVIOUR: name },
              },
        ),
      )
    }
    const tell = (name: string, outcome: Outcome): string =>
      `${name}: ${JSON.stringify(describe(outcome)).slice(0, 600)}`
    const prints =
      (name: string, text: string): Check =>
      (outcome) =>
        t.match(
          describe(outcome),
          { ending: 'exited', exitCode: 0, stdout: text, stderr: '' },
          tell(name, outcome),
        )
    /** Blanks around the text do not count. */
    const says =
      (name: string, text: string): Check =>
      (outcome) =>
        t.equal(describe(outcome).stdout?.trim(), text, tell(name, outcome))
    const stopped =
      (name: string, ending: string): Check =>
      (outcome) =>
        t.equal(outcome.run?.ending, ending, tell(name, outcome))

    await run('example', example, '', prints('example', 'Hello, world!\n'))
    await run('trial', trial, 'x'.repeat(65_536), says('trial', '65536'))
    await run('sum', own.sum, '17\n25\n', says('sum', '42'))
    await run('copy', own.copy, big, (outcome) =>
      t.ok(describe(outcome).stdout === big, 'copy: 64 KiB come back as they are'),
    )
    await run('unicode', own.unicode, line, prints('unicode', line + line))
    await run('exitThree', own.exitThree, '', (outcome) => {
      const { stdout, stderr, exitCode } = describe(outcome)
      t.strictSame([stdout?.trim(), stderr?.trim(), exitCode], ['out', 'err', 3], 'exitThree')
    })
    await run('uncaught', own.uncaught.code, '', (outcome) => {
      t.match(describe(outcome).stderr, own.uncaught.says, 'uncaught: stderr says it')
      t.not(describe(outcome).exitCode, 0, 'uncaught: the exit status says it')
    })
    await run('broken', own.broken.code, '', (outcome) => {
      if (limits.compile !== null) t.equal(outcome.run, null, 'broken: it is not run')
      const said = limits.compile === null ? outcome.run : outcome.compile
      t.match(String(said?.stderr), own.broken.says, 'broken: the message names the line')
      t.not(said?.exitCode, 0, 'broken: the exit status says it')
    })
    await run('busyLoop', own.busyLoop, '', stopped('busyLoop', 'cpu_limit'), roomy, {
      limits: briefCpu[language],
    })
    await run('sleeper', own.sleeper, '', stopped('sleeper', 'wall_limit'), roomy, {
      limits: briefWall[language],
    })
    await run('memoryBomb', own.memoryBomb, '', stopped('memoryBomb', 'memory_limit'), small)
    await run('outputFlood', own.outputFlood, '', stopped('outputFlood', 'output_limit'))
    await run('scratch', own.scratch, '', says('scratch', 'kept'))
    await run('threads', own.threads, '', says('threads', '500500'))
    await run('network', own.network, '', says('network', 'closed'))
    await run('usual', own.usual, rows, prints('usual', sorted))
    const printsExactly =
      (name: string, text: string): Check =>
      (outcome) => {
        const { stdout, stderr, exitCode } = describe(outcome)
        t.strictSame([stdout, stderr, exitCode], [text, '', 0], name)
      }
    await run('arguments', own.arguments, '', printsExactly('arguments', lines(given)), roomy, {
      arguments: given,
    })
    const value = 'a = "b"  $HOME \\n'
    await run('variable', own.variable, '', printsExactly('variable', `${value}\n`), roomy, {
      environment: { GREETING: value, ENV: '/box/none', DEBUG: '1' },
    })
    const { secondFile, compileArguments } = own
    if ('cannot' in secondFile) t.comment(`secondFile: ${secondFile.cannot}`)
    else {
      const { name, content } = secondFile.file
      await run('secondFile', secondFile.code, '', printsExactly('secondFile', '42\n'), roomy, {
        files: [{ name, content: Buffer.from(content) }],
      })
    }
    if (compileArguments !== undefined) {
      const { words, code } = compileArguments
      await run('compileArguments', code, '', printsExactly('compileArguments', '42\n'), roomy, {
        compileArguments: words,
      })
    }
  })
}

function describe({ compile, run }: Outcome) {
  return {
    ending: run?.ending ?? compile?.ending,
    exitCode: run?.exitCode ?? compile?.exitCode,
    stdout: run === null ? undefined : Buffer.from(run.stdout).toString(),
    stderr: Buffer.from((run ?? compile)?.stderr ?? []).toString(),
  }
}

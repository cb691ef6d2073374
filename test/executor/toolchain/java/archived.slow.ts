// Archives of classes change nothing but time. The programs of every language (test/language/) have the same result with
// and without archives, and write the same to stdout and stderr. LANGUAGES="kotlin" tests some. Real toolchains, real
// boxes.
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ExecutionRequest, Executor } from '#executor'
import { catalogue, languages } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { makeDirectory } from '../../../helper/directory.ts'
import { execute, scaleLimits, startExecutor } from '../../../helper/executor.ts'
import { loadPrograms } from '../../../language/all.ts'
import type { Programs } from '../../../language/program.ts'

const wanted = (process.env['LANGUAGES'] ?? '').split(/[\s,]+/).filter(Boolean)
const archived = languages.filter((name) => {
  const { recipe }: LanguageDefinition = catalogue[name]
  return recipe?.archives !== undefined && (wanted.length === 0 || wanted.includes(name))
})
const programs = await loadPrograms(archived)
// The users of programs must be able to reach the archives in it.
const directory = makeDirectory(t, 0o711)

const enough = { cpuSeconds: 100, wallSeconds: 200 }
const shared = { languages: archived, limits: scaleLimits(enough, enough), cacheBytes: 0 }
const plain = await startExecutor(t, { ...shared, accelerators: [] })
const quick = await startExecutor(t, {
  ...shared,
  cacheDirectory: join(directory, 'cache'),
  accelerators: ['preparation'],
})
const found = archived.filter((name) => plain.runtimes[name] !== undefined)
await quick.settled()

t.test(
  'each of these languages has an archive, which nobody but the worker may write',
  async (t) => {
    const made = globSync(`${directory}/cache/class-archive/*/archive/*.jsa`)
    t.equal(made.length, found.length)
    t.ok(made.every((path) => (statSync(path).mode & 0o777) === 0o444))
  },
)

t.test('a program that runs by an archive cannot change it', async (t) => {
  if (!found.includes('groovy')) return
  const code = `def options = java.lang.management.ManagementFactory.runtimeMXBean.inputArguments
def archive = new File(options.find { it.startsWith('-XX:SharedArchiveFile=') }.split('=')[1])
println archive.exists()
try {
  archive.append('x')
  println 'written'
} catch (IOException e) {
  println 'refused'
}
println archive.delete()
println archive.setWritable(true)
println new File(archive.parentFile, 'other').mkdir()`
  const { run } = await execute(quick, 'groovy', code)
  t.match(run, { stdout: 'true\nrefused\nfalse\nfalse\nfalse\n', exitCode: 0 })
})

/**
 * Lists requests whose programs end by themselves, and not because of the machine. They load what a program usually loads, and
 * what it loads where it ends badly.
 */
function listRequests(
  language: Language,
  own: Programs,
): [string, Omit<ExecutionRequest, 'cacheScope'>][] {
  const ask = (code: unknown, stdin = '', more: Partial<ExecutionRequest> = {}) =>
    typeof code === 'string'
      ? { language, code: Buffer.from(code), stdin: Buffer.from(stdin), ...more }
      : null
  const compiling: [string, ReturnType<typeof ask>][] = [
    ['usual', ask(own.usual, 'pear 7\napple 12\nfig 7\n')],
    ['broken', ask(own.broken.code)],
  ]
  const running: typeof compiling = [
    ['unicode', ask(own.unicode, 'Grüße, 世界 🎉\n')],
    ['exitThree', ask(own.exitThree)],
    ['uncaught', ask(own.uncaught.code)],
    ['threads', ask(own.threads)],
    ['arguments', ask(own.arguments, '', { arguments: ['-x', 'two words', 'é"\'\\$HOME', ''] })],
  ]
  // The archive of a compiler's classes is absent when the program runs.
  const isCompiled = catalogue[language].limits.compile !== null
  return [...compiling, ...(isCompiled ? [] : running)].flatMap(([name, request]) =>
    request === null ? [] : [[name, request]],
  )
}

/** Masks the random name of the file into which Clojure reports an uncaught error. */
const nameReports = (text: string): string => text.replace(/\/tmp\/clojure-\d+/g, '/tmp/clojure')

async function end(executor: Executor, request: Omit<ExecutionRequest, 'cacheScope'>) {
  const { compile, run } = await executor.execute({ ...request, cacheScope: 'archived' })
  return {
    ends: [compile, run].map(
      (phase) =>
        phase && {
          ending: phase.ending,
          exitCode: phase.exitCode,
          stdout: Buffer.from(phase.stdout).toString(),
          stderr: nameReports(Buffer.from(phase.stderr).toString()),
        },
    ),
    memory: (compile ?? run)?.usage.memoryPeakBytes ?? Number.NaN,
  }
}

for (const language of found) {
  t.test(`${language}: programs end with an archive as without`, async (t) => {
    const peaks: number[] = []
    for (const [name, request] of listRequests(language, programs.get(language)!)) {
      const [slow, fast] = await Promise.all([end(plain, request), end(quick, request)])
      t.strictSame(fast.ends, slow.ends, name)
      peaks.push(fast.memory / slow.memory)
    }
    const median = peaks.toSorted((a, b) => a - b)[peaks.length >> 1] ?? Number.NaN
    t.ok(median < 1, `memory, held against that without: x${median.toFixed(2)}`)
  })
}

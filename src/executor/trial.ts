// Tests a language: its trial program must print the expected output in an ordinary box. So a language that is half installed,
// prints nonsense or hangs is found here, before it produces a wrong verdict on somebody's program.
import { SandboxError } from '#contract'
import type { ExecutionRequest, Language, Outcome } from '#contract'
import { catalogue } from '#language'

// More than a trial can take under the default limits.
const trialMilliseconds = 120_000

// As large as a submission's input may be, so that the trial fails on a disk with too little space.
const input = Buffer.alloc(65_536, 'x')

/**
 * Runs a language's trial; resolves when it passes.
 * @param milliseconds its time limit, counted from when it has a slot, because the wait for one says nothing about the
 * language.
 * @throws {SandboxError} step `language.trial` when it fails; what `execute` throws; the signal's reason.
 */
export async function tryLanguage(
  { execute }: { execute(request: ExecutionRequest, signal: AbortSignal): Promise<Outcome> },
  language: Language,
  signal: AbortSignal,
  milliseconds = trialMilliseconds,
): Promise<void> {
  // The text differs each time, because a cached compilation would not test the compiler.
  const { trial, comment } = catalogue[language]
  const code = Buffer.from(`${trial}\n${comment.join(` ${Date.now()}-${performance.now()} `)}\n`)
  const limit = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onSlot = (): void => {
    const tooLong = new SandboxError('language.trial', `its trial took over ${milliseconds} ms`)
    timer = setTimeout(() => limit.abort(tooLong), milliseconds)
  }
  const { compile, run } = await execute(
    { language, code, stdin: input, cacheScope: 'trial', onSlot },
    AbortSignal.any([signal, limit.signal]),
  ).finally(() => clearTimeout(timer))
  if (run?.exitCode === 0 && Buffer.from(run.stdout).toString().trim() === String(input.byteLength))
    return
  const last = run ?? compile
  const said = Buffer.from(last?.stderr ?? [])
    .toString()
    .trim()
    .split('\n')[0]
  throw new SandboxError(
    'language.trial',
    `its trial ended as ${JSON.stringify({ compile: compile?.ending, run: run?.ending, status: last?.exitCode })} ${said}`.trim(),
  )
}

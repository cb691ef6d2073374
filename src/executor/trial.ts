// Tries a language: its own trial must print what it always prints, in a box like every program's. What is installed by half,
// or answers nonsense, or hangs, shows here and not as a verdict on somebody's program.
import { SandboxError } from '#contract'
import type { ExecutionRequest, Language, Outcome } from '#contract'
import { catalogue } from '#language'

// Longer than a trial may take under the default limits.
const trialMilliseconds = 120_000

// As much as a submission's input may be: a disk that takes less is what the trial is to find.
const input = Buffer.alloc(65_536, 'x')

/**
 * Resolves when the program did what it always does.
 * @param milliseconds that it may take once it has a slot: how long others keep theirs says nothing of the language.
 * @throws {SandboxError} step `language.trial` when it did not; what `execute` throws; the signal's reason.
 */
export async function tryLanguage(
  { execute }: { execute(request: ExecutionRequest, signal: AbortSignal): Promise<Outcome> },
  language: Language,
  signal: AbortSignal,
  milliseconds = trialMilliseconds,
): Promise<void> {
  // Another text each time: what is compiled already would prove nothing of the compiler's box.
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

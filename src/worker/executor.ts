// Creates the worker's executor from its settings. The process exits when the host cannot
// isolate programs or has no language.
import { describeLimits } from '#execute'
import { claimUids, countSpares, createExecutor, SandboxError } from '#executor'
import type { Executor } from '#executor'
import type { Language, Limits } from '#language'
import type { Logger } from '#log'
import type { WorkerSettings } from './settings.ts'

export interface WorkerExecutor {
  readonly executor: Executor
  /** Languages that this host does not have. */
  readonly absent: readonly Language[]
}

/** Creates the executor. @param onChange called when the set of offered languages changes. */
export async function makeExecutor(
  settings: WorkerSettings,
  log: Logger,
  onChange: () => void,
): Promise<WorkerExecutor> {
  const absent: Language[] = []
  try {
    const executor = await createExecutor({
      slots: settings.SLOTS,
      spares: countSpares(settings.SLOTS),
      firstUid: await claimFirstUid(settings, log),
      limits: settings.limits,
      cacheBytes: settings.ACCELERATORS ? settings.CACHE_BYTES : 0,
      ...(settings.ACCELERATORS ? {} : { accelerators: [] }),
      cacheDirectory: settings.CACHE_DIRECTORY,
      onChange,
      onFallback: (reason) => log.warn({ reason }, 'executor.fallback'),
      settings: settings.settings,
      ...(settings.LANGUAGES && { languages: settings.LANGUAGES }),
      onMissing({ isBroken, ...missing }) {
        if (isBroken) log.warn(missing, 'language.missing')
        else absent.push(missing.language)
      },
    })
    return { executor, absent }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    log.fatal({ step: error.step }, 'worker.refused')
    process.stderr.write(
      `${error.message}\nThe worker does not start without isolation, or without any language. \`make doctor\` checks this host.\n`,
    )
    process.exit(69) // EX_UNAVAILABLE of sysexits
  }
}

/**
 * Claims host uids: two for each slot and each spare slot, and one for each resident compiler. An
 * unprivileged worker uses its own uid.
 */
async function claimFirstUid({ FIRST_UID, SLOTS }: WorkerSettings, log: Logger): Promise<number> {
  if (process.getuid?.() !== 0) return FIRST_UID
  const { firstUid } = await claimUids(FIRST_UID, 5 * SLOTS)
  if (firstUid !== FIRST_UID) log.info({ wanted: FIRST_UID, firstUid }, 'worker.uids_moved')
  return firstUid
}

/** Returns the languages that run now, as the worker's row has them. */
export function describeLanguages(
  { runtimes, awaited }: Executor,
  limits: Readonly<Record<Language, Limits>>,
): object {
  // Submissions in these languages are accepted, and wait until the language has passed its trial.
  const waiting = Object.entries(awaited).map(
    ([name, runtime]) => [name, { ...runtime, awaits_trial: true }] as const,
  )
  return Object.fromEntries(
    [...Object.entries(runtimes), ...waiting].map(([name, runtime]) => [
      name,
      { ...runtime, limits: describeLimits(limits[name as Language]) },
    ]),
  )
}

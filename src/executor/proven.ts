// Which of the languages that a host has are offered: those whose trial has ended as it should. What has passed once is
// remembered beside the compiled programs, by everything that decides it, so that a worker that starts again offers it at once.
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { describe } from '#contract'
import type { Language } from '#contract'
import { identifyFile } from '#toolchain'
import type { Toolchain } from '#toolchain'

/** The languages that are offered, and those that wait for their trial. */
export interface ProvenLanguages {
  has(language: Language): boolean
  /** Whether its trial is still to come. */
  awaits(language: Language): boolean
  /** Resolves with false when none is left to offer, and with true once there is one. */
  readonly any: Promise<boolean>
  /** Resolves when every language has had its trial. */
  readonly settled: Promise<void>
  /** False when a file that decides what the language does is another one than at its trial. */
  isUnchanged(language: Language): boolean
  /** Offers it no more until it has passed another trial. */
  doubt(language: Language): void
}

export interface ProofOptions {
  readonly toolchains: ReadonlyMap<Language, Toolchain>
  /** Of the worker's own, where passed trials are remembered; it is there. */
  readonly directory: string
  /** What else decides how a trial ends, such as the kind of box. */
  readonly circumstances: string
  readonly tryOut: (language: Language) => Promise<void>
  /** Looks for a language anew, of which a file was replaced. @returns what is there now; null if nothing. */
  readonly lookAgain: (language: Language) => Promise<Toolchain | null>
  readonly signal: AbortSignal
  /** What is offered has changed. */
  readonly onChange: () => void
  /** Its trial failed: it is not offered. */
  readonly onRefused: (language: Language, reason: string) => void
}

/** Offers what has passed before, and tries the others one after the other, in the background. */
export function proveLanguages(options: ProofOptions): ProvenLanguages {
  const toolchains = new Map(options.toolchains)
  const { directory, circumstances, tryOut, signal, onChange, onRefused } = options
  const marks = new Map<Language, string>()
  const offered = new Set<Language>()
  const waiting: Language[] = []
  const awaiting = new Set<Language>()
  const anyone = Promise.withResolvers<boolean>()

  function pathOf(mark: string): string {
    return `${directory}/${createHash('sha256').update(`${circumstances}\n${mark}`).digest('hex')}`
  }

  async function tryNext(language: Language, toolchain: Toolchain): Promise<void> {
    const mark = markOf(toolchain)
    toolchains.set(language, toolchain)
    try {
      await tryOut(language)
      // One that was replaced meanwhile was tried in part as it was, in part as it is.
      if (markOf(toolchain) !== mark) throw new Error('it was replaced during its trial')
      marks.set(language, mark)
      writeFileSync(pathOf(mark), '')
      offered.add(language)
      awaiting.delete(language)
      anyone.resolve(true)
      onChange()
    } catch (error) {
      refuse(language, describe(error))
    }
  }

  function refuse(language: Language, reason: string): void {
    if (signal.aborted) return
    awaiting.delete(language)
    onRefused(language, reason)
    onChange()
  }

  async function tryAll(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const toolchain = toolchains.get(next)
      if (signal.aborted) break
      if (toolchain !== undefined) await tryNext(next, toolchain)
    }
  }

  async function tryAfresh(language: Language, before: Promise<void>): Promise<void> {
    await before
    const found = await options.lookAgain(language)
    if (found === null) refuse(language, 'it is not there any more')
    else await tryNext(language, found)
  }

  for (const [language, toolchain] of toolchains) {
    const mark = markOf(toolchain)
    marks.set(language, mark)
    if (existsSync(pathOf(mark))) offered.add(language)
    else {
      waiting.push(language)
      awaiting.add(language)
    }
  }
  if (offered.size > 0) anyone.resolve(true)
  let settled = tryAll()
  void settled.then(() => anyone.resolve(offered.size > 0))

  return {
    has: (language) => offered.has(language),
    awaits: (language) => awaiting.has(language),
    any: anyone.promise,
    get settled() {
      return settled
    },
    isUnchanged(language) {
      const toolchain = toolchains.get(language)
      return toolchain !== undefined && marks.get(language) === markOf(toolchain)
    },
    doubt(language) {
      if (!offered.delete(language)) return
      awaiting.add(language)
      onChange()
      settled = tryAfresh(language, settled)
    },
  }
}

/** What decides how a language's programs end: its version, command lines and files. */
function markOf({ version, compiler, commandLine, files }: Toolchain): string {
  const found = files.map((path) => identifyFile(path) ?? `${path} is gone`)
  return [version, compiler?.identity ?? '', ...commandLine, ...found].join('\n')
}

// Finds programs on the host, for the doctor and the worker alike, so that they agree.
import { accessSync, constants, statSync } from 'node:fs'
import { describe } from '#contract'
import type { Tool } from '#language'
import { readVersion } from './version.ts'

export interface ToolHost {
  /** The directories to search for programs, in this order. */
  readonly programDirectories: readonly string[]
  /** The directory of libraries and other files of languages, such as the JDKs. */
  readonly libraryDirectory: string
}

/** An ordinary host: the program directories that boxes show, and those of root's programs. */
export const ordinaryToolHost: ToolHost = {
  programDirectories: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'],
  libraryDirectory: '/usr/lib',
}

/** A tool is missing or unusable. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  /** True when the tool is installed but broken; installing it again may help. */
  readonly isBroken: boolean
  /** A remedy besides installing the tool; null when there is none. */
  readonly advice: string | null

  constructor(message: string, isBroken = false, advice: string | null = null) {
    super(message)
    this.isBroken = isBroken
    this.advice = advice
  }
}

export interface FoundTool {
  readonly path: string
  readonly major: number
  /** The full version, such as `3.1.2p20`. */
  readonly version: string
}

/** Returns the path of the first executable file of this name; null if there is none. */
export function findProgram(
  { programDirectories }: Pick<ToolHost, 'programDirectories'>,
  name: string,
): string | null {
  for (const directory of programDirectories) {
    const path = `${directory}/${name}`
    try {
      if (!statSync(path).isFile()) continue
      accessSync(path, constants.X_OK)
      return path
    } catch {
      continue
    }
  }
  return null
}

/**
 * Finds a tool and its version.
 * @throws {ToolError} when the tool is missing, broken or too old.
 */
export async function findTool(
  host: Pick<ToolHost, 'programDirectories'>,
  { program, ask = ['--version'], input = '', pattern, oldest }: Tool,
): Promise<FoundTool> {
  const path = findProgram(host, program)
  if (path === null) throw new ToolError(`${program} not found`)
  const text = await readVersion(path, ask, input).catch((error: unknown) => {
    throw new ToolError(`${describe(error).split('\n')[0]}`, true)
  })
  const match = new RegExp(pattern, `${pattern.flags}d`).exec(text)
  const [matched = '', major = '', minor = '0'] = match ?? []
  if (matched === '') throw new ToolError(`${path} ${ask.join(' ')}: ${text.split('\n')[0]}`, true)
  const isOld =
    Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1])
  if (isOld) throw new ToolError(`${matched.trim()} is older than ${oldest.join('.')}`)
  const [begin, end] = [match?.indices?.[1]?.[0], match?.indices?.[0]?.[1]]
  return { path, major: Number(major), version: text.slice(begin, end).trim() }
}

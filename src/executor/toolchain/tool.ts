// Looks for the programs that a language's definition names. The doctor and the worker both look here, so that they agree.
import { accessSync, constants, statSync } from 'node:fs'
import type { Tool } from '#language'
import { askProgram } from './version.ts'

/** Where a host's tools are looked for. */
export interface ToolHost {
  /** Directories in which programs are looked up, in order. */
  readonly programDirectories: readonly string[]
  /** Holds what languages keep beside their programs, such as the directory of the JDKs. */
  readonly libraryDirectory: string
}

/** An ordinary host: what boxes show of it, and root's own programs. */
export const ordinaryToolHost: ToolHost = {
  programDirectories: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'],
  libraryDirectory: '/usr/lib',
}

/** A tool that is not there or will not do. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  /** True when it is installed and broken: installing it changes nothing, installing it again may. */
  readonly isBroken: boolean
  /** What an operator can do besides installing it; null: nothing. */
  readonly advice: string | null

  constructor(message: string, isBroken = false, advice: string | null = null) {
    super(message)
    this.isBroken = isBroken
    this.advice = advice
  }
}

/** A tool as it was found. */
export interface FoundTool {
  readonly path: string
  readonly major: number
  /** In full, such as `3.1.2p20`. */
  readonly version: string
}

/** The first executable file of this name; null without one. */
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

/** Finds a tool and asks it for its version. @throws {ToolError} */
export async function findTool(
  host: Pick<ToolHost, 'programDirectories'>,
  { program, ask, input = '', pattern, oldest }: Tool,
): Promise<FoundTool> {
  const path = findProgram(host, program)
  if (path === null) throw new ToolError(`${program} not found`)
  const { succeeded, text } = await askProgram(path, ask, input)
  const match = new RegExp(pattern, `${pattern.flags}d`).exec(text)
  const [told = '', major = '', minor = '0'] = match ?? []
  if (!succeeded || told === '')
    throw new ToolError(`${path} ${ask.join(' ')}: ${text.split('\n')[0]}`, true)
  const isOld =
    Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1])
  if (isOld) throw new ToolError(`${told.trim()} is older than ${oldest.join('.')}`)
  const [begin, end] = [match?.indices?.[1]?.[0], match?.indices?.[0]?.[1]]
  return { path, major: Number(major), version: text.slice(begin, end).trim() }
}

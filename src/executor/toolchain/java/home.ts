// Selects the JDK: the one that the operator names, otherwise the newest one that is complete and works.
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { java } from '#language'
import { findProgram, findTool, ToolError } from '../tool.ts'
import type { ToolHost } from '../tool.ts'

/** Files of a complete JDK, besides its programs. */
const parts = ['lib/modules', 'lib/server/libjvm.so', 'conf/security']

const wrongNameAdvice =
  'JAVA_HOME names no JDK that can be used: correct it, or leave it out and the newest one is used'

/**
 * Returns the directory of the JDK to use.
 * @param wanted directory that the operator set, if any.
 * @throws {ToolError} when no JDK is usable; of several unusable ones the message describes the newest.
 */
export async function findHome(host: ToolHost, wanted: string | undefined): Promise<string> {
  let reason: unknown = null
  for (const home of wanted === undefined ? listHomes(host) : [wanted]) {
    try {
      await examineHome(home)
      return realpathSync(home)
    } catch (error) {
      reason ??= error
    }
  }
  if (wanted !== undefined && reason instanceof ToolError)
    throw new ToolError(reason.message, reason.isBroken, wrongNameAdvice)
  const { libraryDirectory } = host
  throw reason ?? new ToolError(`no JDK under ${libraryDirectory}/jvm, and javac not found`)
}

/** Checks a JDK. @throws {ToolError} when it is incomplete, too old or made for another C library. */
async function examineHome(home: string): Promise<void> {
  const programDirectories = [`${home}/bin`]
  const missing = [...java.tools.map(({ program }) => `bin/${program}`), ...parts].filter(
    (part) => !existsSync(`${home}/${part}`),
  )
  if (missing.length > 0)
    throw new ToolError(`no complete JDK in ${home}: no ${missing.join(', ')}`)
  const [compilerTool, runtimeTool] = java.tools
  const compiler = await findTool({ programDirectories }, compilerTool)
  const runtime = await findTool({ programDirectories }, runtimeTool)
  // A JVM refuses the classes of a newer compiler, so every submission would fail.
  if (compiler.major > runtime.major) {
    const words = `javac ${compiler.major} writes classes that java ${runtime.major} refuses`
    throw new ToolError(`${home}: ${words}`, true)
  }
}

/** Lists the host's JDKs, the newest first. */
function listHomes(host: ToolHost): string[] {
  const root = `${host.libraryDirectory}/jvm`
  const names = existsSync(root) ? readdirSync(root) : []
  const homes = names
    .map((name) => `${root}/${name}`)
    .filter((home) => existsSync(`${home}/release`))
  const compiler = findProgram(host, 'javac')
  if (compiler !== null) homes.push(dirname(dirname(realpathSync(compiler))))
  return [...new Set(homes.map((home) => realpathSync(home)))].toSorted(
    (left, right) => readRelease(right) - readRelease(left),
  )
}

/** Returns the major version from the JDK's `release` file; 0 when the file does not have it. */
function readRelease(home: string): number {
  try {
    return Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(`${home}/release`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Lists the targets of a JDK's links to its configuration, which Debian keeps in /etc. The box must show them. */
export function findConfiguration(home: string): string[] {
  const found = new Set<string>()
  for (const folder of ['lib', 'lib/security', 'conf', 'conf/security', 'conf/management']) {
    const directory = `${home}/${folder}`
    if (!existsSync(directory)) continue
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isSymbolicLink() || !existsSync(`${directory}/${entry.name}`)) continue
      const target = realpathSync(`${directory}/${entry.name}`)
      if (!target.startsWith('/usr/') && !target.startsWith(`${home}/`)) found.add(target)
    }
  }
  return [...found]
}

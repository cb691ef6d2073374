// Runs programs to ask for their versions. Fifty programs take seconds, so a worker keeps the answers for its next start, by
// the identity of the program's file.
import { execFile } from 'node:child_process'
import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'

/**
 * The environment of programs outside boxes. It has none of the worker's variables: CPATH, for one, changes what GCC includes.
 */
export const plainEnvironment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' } as const

const remembered = new Map<string, string>()

/**
 * Identifies the file behind all links, so that a replaced program is noticed even if it reports the same version. Null without
 * a file.
 */
export function identifyFile(path: string): string | null {
  try {
    // Called before each run. Node's own realpathSync takes six times as long.
    const real = realpathSync.native(path)
    const { ino, size, mtimeMs } = statSync(real)
    return `${real} ${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}

/** Reads the kept answers from a directory of the worker. */
export function loadVersions(directory: string): void {
  try {
    const text = readFileSync(`${directory}/answers.json`, 'utf8')
    const answers = v.parse(v.record(v.string(), v.string()), JSON.parse(text))
    for (const [question, answer] of Object.entries(answers)) remembered.set(question, answer)
  } catch {
    // Without a readable file every program is asked.
  }
}

/** Writes the answers to a directory of the worker. */
export function saveVersions(directory: string): void {
  try {
    writeFileSync(`${directory}/answers.json`, JSON.stringify(Object.fromEntries(remembered)))
  } catch {
    // Another module reports an unwritable directory.
  }
}

/**
 * Runs a program with `plainEnvironment`. Returns its stdout followed by its stderr, trimmed, or the kept answer.
 * @throws when the program cannot be run or fails; the message has its words.
 */
export async function readVersion(
  program: string,
  options: readonly string[],
  input = '',
): Promise<string> {
  const question = JSON.stringify([identifyFile(program), program, ...options])
  const known = remembered.get(question)
  if (known !== undefined) return known
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const context = { cwd: '/', env: plainEnvironment, timeout: 60_000 }
  const child = execFile(program, options, context, (error, ...output) => {
    const text = output.join('').trim()
    if (error === null) resolve(text)
    else reject(new Error(`${program} ${options.join(' ')}: ${text || error.message}`))
  })
  child.stdin?.on('error', () => {}) // it may end without reading
  child.stdin?.end(input)
  const answer = await promise
  remembered.set(question, answer)
  return answer
}

// Saves the files that a run has written (`submit --output-file`) below one directory, under the names that the caller gave.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { Result } from '#client'
import { describeMemory } from './test-lines.ts'

/**
 * Writes the output files of a result.
 * @param names the requested names. Other files that the service reports are not written.
 * @returns a line for each file that is missing or too large.
 * @throws when a file cannot be written.
 */
export async function saveOutputFiles(
  names: readonly string[],
  { files }: Pick<Result, 'files'>,
  directory: string,
): Promise<string[]> {
  const lines: string[] = []
  for (const name of names) {
    const file = files?.find((one) => one.name === name)
    if (file === undefined) {
      lines.push(`${name}: the program has left no such file`)
    } else if (file.content === null) {
      lines.push(`${name}: not returned, because it is too large (${describeMemory(file.size)})`)
    } else {
      const path = join(directory, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, Buffer.from(file.content, 'base64'))
    }
  }
  return lines
}

/** Checks the path of an option. @throws {TypeError} for a path that is absolute or has `..` in it. */
export function checkPath(option: string, path: string): void {
  if (isAbsolute(path) || path.split('/').includes('..'))
    throw new TypeError(`${option} ${path}: must be a relative path without ".."`)
}

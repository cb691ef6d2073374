// A copy of a checkout in which faults may be planted. It stands under the checkout's own .data, because node_modules is
// hard-linked, which does not go beyond a file system.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTest, findText, readSources } from './place.ts'

export interface Checkout {
  readonly directory: string
  /** Where a text occurs in src, sql and the client: a file once for each time, by its path in the checkout. */
  find(text: string): string[]
  /** Replaces the text's one occurrence. @returns what restores it. */
  replace(path: string, text: string, instead: string): () => void
  /** A test file by its room and its own name, wherever in the room it stands; null unless there is exactly one. */
  findTest(name: string): string | null
  remove(): void
}

/** Copies what git knows of, or would, as it stands now; node_modules is linked. */
export function copyCheckout(source: string): Checkout {
  mkdirSync(join(source, '.data'), { recursive: true, mode: 0o700 })
  const directory = mkdtempSync(join(source, '.data/planted-'))
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: source,
    encoding: 'utf8',
  })
  for (const path of listed.split('\0')) {
    if (path !== '' && existsSync(join(source, path)))
      cpSync(join(source, path), join(directory, path))
  }
  execFileSync('cp', ['-al', join(source, 'node_modules'), join(directory, 'node_modules')])
  const sources = readSources(directory)

  return {
    directory,
    find: (text) => findText(sources, text),
    replace(path, text, instead) {
      const whole = sources.get(path) ?? ''
      // By a function: `$` means itself.
      writeFileSync(
        join(directory, path),
        whole.replace(text, () => instead),
      )
      return () => writeFileSync(join(directory, path), whole)
    },
    findTest: (name) => findTest(directory, name),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

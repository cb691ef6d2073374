// A copy of a checkout in which faults may be planted. It is under the checkout's own .data, because node_modules is
// hard-linked and hard links do not cross file systems.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTest, findText, readSources } from './place.ts'

export interface Checkout {
  readonly directory: string
  /** Returns the files of src, sql and the client that contain a text, by path in the checkout, once for each occurrence. */
  find(text: string): string[]
  /** Replaces the text's only occurrence. @returns a function that restores it. */
  replace(path: string, text: string, instead: string): () => void
  /**
   * Returns the path of a test file, given its directory in test/ and its name, at any depth; null unless exactly one
   * exists.
   */
  findTest(name: string): string | null
  remove(): void
}

/** Copies the tracked and untracked files that git does not ignore, in their present state; node_modules is linked. */
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
      // A function, because `$` is special in a replacement string.
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

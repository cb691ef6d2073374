// Finds the place of a planted fault in a checkout by its text, and the tests that must detect it by name, so that files may
// move.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the text of every file of src, sql and the client, by its path in the checkout. */
export function readSources(directory: string): ReadonlyMap<string, string> {
  const paths = globSync('{src,sql,clients/typescript/src}/**/*.{ts,c,h,java,sql}', {
    cwd: directory,
  })
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}

/** Returns the files that contain a text, once for each occurrence. */
export function findText(sources: ReadonlyMap<string, string>, text: string): string[] {
  return [...sources].flatMap(([path, whole]) =>
    whole
      .split(text)
      .slice(1)
      .map(() => path),
  )
}

/** Returns the path of a test file, given its directory in test/ and its name, at any depth; null unless exactly one exists. */
export function findTest(directory: string, name: string): string | null {
  const own = name.slice(dirname(name).length + 1)
  const found = globSync(`test/${dirname(name)}/**/${own}.{test,slow}.ts`, { cwd: directory })
  return found.length === 1 ? found[0]! : null
}

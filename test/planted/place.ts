// Where in a checkout a fault would be planted, and where the tests stand that have to see it: by text and by name, so
// that files may move.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The text of every file of src, sql and the client, by its path in the checkout. */
export function readSources(directory: string): ReadonlyMap<string, string> {
  const paths = globSync('{src,sql,clients/typescript/src}/**/*.{ts,c,h,java,sql}', {
    cwd: directory,
  })
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}

/** The files in which a text occurs: each once for each time. */
export function findText(sources: ReadonlyMap<string, string>, text: string): string[] {
  return [...sources].flatMap(([path, whole]) =>
    whole
      .split(text)
      .slice(1)
      .map(() => path),
  )
}

/** A test file by its room and its own name, wherever in the room it stands; null unless there is exactly one. */
export function findTest(directory: string, name: string): string | null {
  const own = name.slice(dirname(name).length + 1)
  const found = globSync(`test/${dirname(name)}/**/${own}.{test,slow}.ts`, { cwd: directory })
  return found.length === 1 ? found[0]! : null
}

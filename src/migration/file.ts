// Reads the SQL files shipped with this code. The web process reads the newest migration's name here, because migration.ts
// would load the queue's library.
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const shippedSql = fileURLToPath(new URL('../../sql/', import.meta.url))

export interface SqlFile {
  readonly name: string
  readonly text: string
  /** The hash of the text, in hex. */
  readonly sha256: string
}

/** Reads a folder below `directory`, with its subfolders, in the order of file names. */
export async function readSql(directory: string, folder: string): Promise<SqlFile[]> {
  const root = join(directory, folder)
  const paths = selectSql(await readdir(root, { recursive: true }))
  return Promise.all(
    paths.map(async (path) => {
      const [name, text] = [basename(path), await readFile(join(root, path), 'utf8')]
      return { name, text, sha256: hash('sha256', text) }
    }),
  )
}

/** Lists the paths of the shipped migrations, in order. */
export function listMigrations(): string[] {
  return selectSql(readdirSync(join(shippedSql, 'migrations')))
}

/** Returns the newest migration. A database without it is older than this code. @throws when there is none. */
export function findNewestMigration(): string {
  const name = listMigrations().at(-1)
  if (name === undefined) throw new Error(`no migration in ${shippedSql}`)
  return name
}

function selectSql(paths: readonly string[]): string[] {
  const found = paths.filter((path) => path.endsWith('.sql'))
  return found.toSorted((one, other) => (basename(one) < basename(other) ? -1 : 1))
}

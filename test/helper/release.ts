// An earlier state of this repository, unpacked beside it so that its processes can be started: for tests of what happens
// while a release goes out.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'

const root = resolve(import.meta.dirname, '../..')

/** A release that went before. */
export interface Release {
  /** The revision, for messages. */
  readonly revision: string
  /** True for one that was published: everything it calls must be there. */
  readonly isPublished: boolean
  /** Where its files stand. */
  readonly directory: string
  /** Its snapshot of the schema. */
  readonly schema: string
  /** The functions that its code names, among them those that its schema offers. */
  readonly calls: ReadonlySet<string>
}

/**
 * The release before this code: the newest tag `v…`; before there is one, the commit before the last change of the
 * schema. PREVIOUS_RELEASE names another. Null where git or the history is missing, as in a shallow clone.
 */
export function unpackPreviousRelease(t: Test): Release | null {
  const given = process.env['PREVIOUS_RELEASE']
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
  const revision = git(
    'rev-parse',
    '--verify',
    '--short',
    `${given ?? tag ?? findBefore()}^{commit}`,
  )
  if (revision === null) return null
  const directory = mkdtempSync(join(tmpdir(), 'runledger-release-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  mkdirSync(directory, { recursive: true })
  const archive = spawnSync('git', [...trust, 'archive', revision, 'src', 'sql', 'package.json', 'test/sql/schema.sql'], { cwd: root, maxBuffer: 2 ** 30 }) // prettier-ignore
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`${revision} could not be unpacked: ${archive.stderr.toString()}`)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    revision,
    isPublished: tag !== null && given === undefined,
    directory,
    schema: readFileSync(join(directory, 'test/sql/schema.sql'), 'utf8'),
    calls: findCalls(join(directory, 'src')),
  }
}

function findCalls(directory: string): ReadonlySet<string> {
  const texts = globSync('**/*.ts', { cwd: directory }).map((path) =>
    readFileSync(join(directory, path), 'utf8'),
  )
  return new Set(texts.flatMap((text) => text.match(/\b(?:runledger|job)\.\w+(?=\()/g) ?? []))
}

function findBefore(): string {
  const isChanged = git('status', '--porcelain', '--', 'sql') !== null
  const last = git('log', '-1', '--format=%H', '--', 'sql')
  return isChanged ? 'HEAD' : `${last ?? 'none'}^`
}

// The checkout may be another user's than root's, who runs the tests.
const trust = ['-c', 'safe.directory=*']

/** What git says; null when it says nothing, or fails. */
function git(...parameters: string[]): string | null {
  const { status, stdout } = spawnSync('git', [...trust, ...parameters], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}

/**
 * What a schema no longer offers to processes that were written for an earlier one: functions that are gone, take other
 * arguments or return less. Further arguments with defaults, further columns and further functions of a name are no loss;
 * nor, of a name's several forms, all but one: the others were for processes before these.
 * @param earlier and `present`: snapshots such as test/sql/schema.sql.
 * @param calls the names that those processes call.
 */
export function listLosses(earlier: string, present: string, calls: ReadonlySet<string>): string[] {
  const now = Map.groupBy(readFunctions(present), ({ name }) => name)
  const granted = readFunctions(earlier).filter(({ isGranted }) => isGranted) // only other functions call the rest
  return [...Map.groupBy(granted, ({ name }) => name)].flatMap(([name, forms]) => {
    if (!calls.has(name)) return []
    const found = forms.map((form) => findLoss(form, now.get(name)))
    return found.includes(null) ? [] : [`${name} ${found[0]}`]
  })
}

function findLoss(
  earlier: SqlFunction,
  successors: readonly SqlFunction[] | undefined,
): string | null {
  if (successors === undefined) return 'is gone'
  const { parameters, columns } = earlier
  const successor = successors.find(
    (found) =>
      parameters.every(({ type }, index) => found.parameters[index]?.type === type) &&
      found.parameters.slice(parameters.length).every(({ hasDefault }) => hasDefault),
  )
  if (successor === undefined) return 'takes other arguments'
  return columns.every((column) => successor.columns.includes(column))
    ? null
    : 'returns something else'
}

interface SqlFunction {
  readonly name: string
  readonly parameters: readonly { readonly type: string; readonly hasDefault: boolean }[]
  /** Of a table that it returns, each with its type; else the one type. */
  readonly columns: readonly string[]
  /** A process of the service calls it. */
  readonly isGranted: boolean
}

function readFunctions(schema: string): SqlFunction[] {
  return schema.split('\n\n').flatMap((block) => {
    const [, name = '', list = ''] = /^(?:function|procedure) (\S+)\((.*)\)$/m.exec(block) ?? []
    if (name === '') return []
    const [, returned = ''] =
      /^ {2}returns (.*?)(?: (?:immutable|stable|strict|security definer|set) ?.*)?$/m.exec(
        block,
      ) ?? []
    const table = /^TABLE\((.*)\)$/.exec(returned)?.[1]
    return [
      {
        name,
        parameters: (list === '' ? [] : list.split(', ')).map((parameter) => {
          const [declared = '', preset] = parameter.split(' DEFAULT ')
          return { type: declared.replace(/^\S+ /, ''), hasDefault: preset !== undefined }
        }),
        columns: table === undefined ? [returned] : table.split(', '),
        isGranted: /^ {2}grant execute to runledger_(api|worker)$/m.test(block),
      },
    ]
  })
}

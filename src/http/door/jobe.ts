// The Jobe door, for Moodle's CodeRunner: runs, languages and files under /jobe/index.php/restapi and /jobe/restapi.
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { nameFile, readFiles, storeBlob } from '#blob'
import { Problem } from '#error'
import { jobe } from '#language'
import type { Language } from '#language'
import { decode } from '#options'
import type { TrackedResult } from '#result'
import { sendJson } from '../answer.ts'
import type { HttpContext, Route } from '../http.ts'
import { describeLanguages } from '../languages.ts'
import { withDeadline } from '../problem.ts'
import type { ApiRequest, DoorAnswer, Handler } from '../request.ts'
import type { Door } from './door.ts'
import { fileSpecifier, isSourceName, runRequest } from './jobe-request.ts'
import { translateArguments, translateLimits } from './jobe-request.ts'
import { describeFile, describeMistakes, findDoorLanguage } from './run.ts'
import { readDoorBody, readVersion, refuse, runToEnd } from './run.ts'

/** The most bytes of files that fit into a submission. */
const filesBytesMost = 1024 * 1024
const filesMost = 64
const upload = v.object(
  { file_contents: v.string('put: missing file_contents parameter') },
  'put: missing file_contents parameter',
)

const names = {
  language: 'language_id',
  code: 'sourcecode',
  stdin: 'input',
  files: 'file_list',
  args: 'runargs',
  compile_args: 'compileargs',
  'limits.cpu_time': 'cputime',
  'limits.wall_time': 'cputime',
  'limits.memory': 'memorylimit',
  'limits.processes': 'numprocs',
  'limits.disk': 'disklimit',
  'limits.stdout': 'streamsize',
  'limits.stderr': 'streamsize',
}

export function openJobe(context: HttpContext): Door {
  const { database } = context

  const run = runToEnd(context, {
    names,
    async read(incoming, response) {
      const { run_spec: asked } = await readBody(incoming, response, runRequest)
      const { caller } = incoming
      const name = asked.language_id.toLowerCase()
      const language = findDoorLanguage(name, jobe.names)
      if (language === undefined) throw refuse(`Language '${name}' is not known`)
      const limits = translateLimits(asked.parameters ?? {}, language, caller.limits)
      if (!isSourceName(asked.sourcefilename ?? 'prog'))
        throw refuse('The sourcefilename for the run_spec is illegal')
      return {
        language,
        code: asked.sourcecode,
        stdin: asked.input ?? '',
        ...translateArguments(asked.parameters ?? {}, language),
        files: await loadFiles(caller.accountId, asked.file_list ?? []),
        limits,
        output_encoding: 'base64',
      }
    },
    translate: translateRecord,
    // CodeRunner grades an outcome of 20 as a wrong answer, and does not grade an answer other than 200.
    describeNotRun: (body) => ({ status: 500, body }),
  })

  async function loadFiles(accountId: string, list: readonly unknown[]): Promise<object[]> {
    if (list.length > filesMost) throw refuse(`file_list holds more than ${filesMost} files`)
    const specifiers = list.map((one, index) => {
      if (!v.is(fileSpecifier, one)) throw refuse(`Invalid file specifier: file_list.${index}`)
      return one
    })
    if (specifiers.length === 0) return []
    const ids = [...new Set(specifiers.map(([id]) => id))]
    const found = await withDeadline(() => readFiles(database, accountId, ids, filesBytesMost))
    if (found.length < ids.length)
      throw new Problem('not_found', 'One or more of the specified files is missing/unavailable')
    const contents = new Map(found.map(({ id, content }) => [id, content]))
    return specifiers.map(([id, name]) => {
      const content = contents.get(id)
      if (!content) throw refuse(`file_list is larger than ${filesBytesMost} bytes in all`)
      return describeFile(name, content)
    })
  }

  const putFile: Handler = async (incoming, response) => {
    const id = readId(incoming)
    const { file_contents: text } = await readBody(incoming, response, upload)
    const bytes = decode(text, 'base64')
    if (bytes === null) throw refuse(`put: contents of file ${id} are not valid base-64`)
    if (bytes.length > filesBytesMost)
      throw refuse(`put: contents of file ${id} are larger than ${filesBytesMost} bytes`)
    const { apiKeyId } = incoming.caller
    const sha256 = hash('sha256', bytes, 'hex')
    const stored = await withDeadline((signal) =>
      storeBlob(database, apiKeyId, sha256, bytes, signal),
    )
    if (stored === 'quota_exceeded')
      throw new Problem('quota_exceeded', `put: the account has no room for file ${id}`)
    await withDeadline(() => nameFile(database, apiKeyId, id, sha256))
    response.writeHead(204).end()
  }

  const headFile: Handler = async (incoming, response) => {
    const { accountId } = incoming.caller
    const found = await withDeadline(() => readFiles(database, accountId, [readId(incoming)], 0))
    response.writeHead(found.length > 0 ? 204 : 404).end()
  }

  const listLanguages: Handler = async (_incoming, response) => {
    const known = await describeLanguages(database)
    const theirs = new Map(Object.entries(jobe.names).map(([other, own]) => [own as string, other]))
    const pairs = known.map(({ name, runtime }) => [theirs.get(name) ?? name, readVersion(runtime)])
    sendJson(response, 200, pairs)
  }

  const noPost: Handler = () => {
    throw new Problem('not_found', 'post: files are PUT under an id')
  }

  const routes = ['/jobe/index.php/restapi', '/jobe/restapi'].flatMap((root): Route[] => [
    ['POST', `${root}/runs`, run],
    ['GET', `${root}/languages`, listLanguages],
    ['PUT', `${root}/files/:id`, putFile],
    ['HEAD', `${root}/files/:id`, headFile],
    ['POST', `${root}/files`, noPost],
  ])
  return { routes, describeProblem }
}

/** Reads a body as JSON whatever its media type, as Jobe does. */
const readBody: typeof readDoorBody = (incoming, response, schema) => {
  incoming.headers['content-type'] = 'application/json'
  return readDoorBody(incoming, response, schema)
}

function readId({ params: { id = '' } }: ApiRequest): string {
  if (!/^[\dA-Za-z]{1,200}$/.test(id))
    throw new Problem('not_found', 'A file’s id is 1 to 200 letters and digits')
  return id
}

function translateRecord(record: TrackedResult): object {
  const stdout = clean(record.stdout)
  const stderr = clean(record.stderr)
  const outcome = nameOutcome(record, stderr)
  const messages = record.verdict === 'CE' ? record.compile_output : stderr
  return {
    run_id: record.id,
    outcome,
    // For Jobe's clients, text here means that the program did not compile and was not run.
    cmpinfo: outcome === 11 ? messages || 'The compiler failed.\n' : '',
    stdout: outcome === 11 ? '' : stdout,
    // CodeRunner treats any outcome with text here as a runtime error.
    stderr: outcome === 12 ? stderr || describeSignal(record) : '',
  }
}

function nameOutcome({ verdict, signal, language }: TrackedResult, stderr: string): number {
  switch (verdict) {
    case 'CE':
      return 11
    case 'TLE':
    // Jobe truncates output and lets the program run on. Such a program most often never ends and exceeds its time limit.
    case 'OLE':
      return 13
    case 'MLE':
      return 17
    case 'AC':
      return stderr === '' ? 15 : 12
    default:
      if (signal === 'SIGSYS') return 19
      return signal === null && jobe.syntaxErrors[language as Language]?.test(stderr) === true
        ? 11
        : 12
  }
}

/** Describes a signal in the words of Jobe's sandbox. */
function describeSignal({ signal, exit_code: code }: TrackedResult): string {
  return signal === null ? '' : `warning: command terminated with signal ${(code ?? 128) - 128}\n`
}

/** Decodes output as UTF-8, or else writes every byte that is not printable ASCII as `\xff`. */
function clean(output: string | null): string {
  const bytes = Buffer.from(output ?? '', 'base64')
  if (isUtf8(bytes)) return bytes.toString()
  return bytes
    .toString('latin1')
    .replaceAll(
      /[^\t\n\r -~]/g,
      (byte) => String.raw`\x` + byte.charCodeAt(0).toString(16).padStart(2, '0'),
    )
}

function describeProblem(problem: Problem): DoorAnswer {
  // Jobe answers 403 for a bad key, and CodeRunner would take 401 for an exceeded limit of submissions.
  if (problem.code === 'unauthorized') return { status: 403, body: problem.message }
  const nameField = (path: string): string => path.replace(/^run_spec\.?(?:parameters\.?)?/, '')
  return { status: problem.status, body: describeMistakes(problem, nameField) }
}

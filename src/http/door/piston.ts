// The Piston v2 door: GET /api/v2/runtimes and POST /api/v2/execute, also under /api/v2/piston.
import { isUtf8 } from 'node:buffer'
import semver from 'semver'
import * as v from 'valibot'
import type { TierLimits } from '#account'
import { blame } from '#error'
import type { Problem } from '#error'
import { pistonNames } from '#language'
import type { Language } from '#language'
import { few } from '#options'
import { sendJson } from '../answer.ts'
import type { HttpContext, Route } from '../http.ts'
import { describeLanguages } from '../languages.ts'
import type { DoorAnswer, Handler } from '../request.ts'
import type { Door } from './door.ts'
import { translateRecord } from './piston-answer.ts'
import {
  describeFile,
  describeLimits,
  describeMistakes,
  dropNulls,
  findDoorLanguage,
  hasCompiler,
  limitTimes,
  readDoorBody,
  readVersion,
  refuse,
  runToEnd,
} from './run.ts'

const required = (name: string) =>
  `${name} is required as ${name === 'files' ? 'an array' : 'a string'}`
const notNumber = (name: string) => `If specified, ${name} must be a number`
const limit = (name: string) =>
  v.nullish(
    v.pipe(
      v.number(notNumber(name)),
      v.finite(notNumber(name)),
      v.check((value) => value === -1 || value > 0, `${name} must be positive, or -1`),
      v.transform((value) => (value === -1 ? null : value)),
    ),
  )

/** Describes a missing field. */
function describeMissing({ path }: v.ObjectIssue): string {
  const name = path?.at(-1)?.key
  if (name === undefined) return 'the body must be a JSON object'
  return required(typeof name === 'string' ? name : 'files.content')
}

const versionLimit = 64

const fileEntry = v.object(
  {
    name: v.nullish(v.string('files.name must be a string')),
    content: v.string(required('files.content')),
    encoding: v.nullish(
      v.picklist(['utf8', 'base64', 'hex'], 'files.encoding must be utf8, base64 or hex'),
    ),
  },
  'files must hold objects',
)

const request = v.object(
  {
    language: v.string(required('language')),
    version: v.pipe(
      v.string(required('version')),
      // Reading a range takes time in proportion to its length.
      v.maxLength(versionLimit, `version must have at most ${versionLimit} characters`),
    ),
    files: v.pipe(
      few(v.array(fileEntry, required('files'))),
      v.minLength(1, 'files must contain at least one utf8 encoded file'),
      v.check(
        ([main]) => main === undefined || isUtf8(decodeContent(main)),
        'files.content of the program is not UTF-8',
      ),
    ),
    stdin: v.nullish(v.string('stdin must be a string')),
    args: v.nullish(few(v.array(v.string('args must hold strings'), 'args must be an array'))),
    env: v.nullish(
      few(v.record(v.string(), v.string('env must hold strings'), 'env must be an object')),
    ),
    run_timeout: limit('run_timeout'),
    compile_timeout: limit('compile_timeout'),
    run_cpu_time: limit('run_cpu_time'),
    compile_cpu_time: limit('compile_cpu_time'),
    run_memory_limit: limit('run_memory_limit'),
    compile_memory_limit: limit('compile_memory_limit'),
  },
  describeMissing,
)

type PistonRequest = v.InferOutput<typeof request>

interface Encoded {
  readonly content: string
  readonly encoding?: 'utf8' | 'base64' | 'hex' | null | undefined
}

function decodeContent({ content, encoding }: Encoded): Buffer {
  return Buffer.from(content, encoding ?? 'utf8')
}

/** Piston's names of the API's fields. */
const names = {
  'limits.wall_time': 'run_timeout',
  'limits.cpu_time': 'run_cpu_time',
  'limits.memory': 'run_memory_limit',
  'compile_limits.wall_time': 'compile_timeout',
  'compile_limits.cpu_time': 'compile_cpu_time',
  'compile_limits.memory': 'compile_memory_limit',
  code: 'files.0.content',
}

export function openPiston(context: HttpContext): Door {
  const { database, offered } = context

  const listRuntimes: Handler = async (_request, response) => {
    const known = await describeLanguages(database)
    sendJson(
      response,
      200,
      known.map(({ name, aliases, runtime }) => ({
        language: name,
        version: readVersion(runtime),
        aliases: [
          ...aliases,
          ...Object.keys(pistonNames).filter((other) => pistonNames[other] === name),
        ],
      })),
    )
  }

  const execute = runToEnd(context, {
    names,
    async read(incoming, response) {
      const asked = await readDoorBody(incoming, response, request)
      const { version } = asked
      const name = findDoorLanguage(asked.language, pistonNames)
      const willDo = (runtime: string): boolean => suits(readVersion(runtime), version)
      if (name === undefined || !(await offered.hasVersion(name, willDo)))
        throw refuse(`${asked.language}-${version} runtime is unknown`)
      return {
        language: name,
        ...translateFiles(asked),
        ...dropNulls({ stdin: asked.stdin, args: asked.args, env: asked.env }),
        ...translateLimits(asked, name, incoming.caller.limits),
      }
    },
    translate: translateRecord,
    // A status of Piston's own would be taken for a failing program.
    describeNotRun: (message, { fault, retry }) => ({
      status: 500,
      body: { message, fault, retry },
    }),
  })

  const routes: Route[] = ['/api/v2', '/api/v2/piston'].flatMap((root): Route[] => [
    ['GET', `${root}/runtimes`, listRuntimes],
    ['POST', `${root}/execute`, execute],
  ])
  return { routes, describeProblem }
}

/** The first file is the program; the others are stored beside it. */
function translateFiles({ files }: PistonRequest): {
  readonly code: string
  readonly files?: object
} {
  const [main, ...others] = files.map((file, index) => ({
    name: file.name ?? `file${index}.code`,
    bytes: decodeContent(file),
  }))
  return {
    code: main?.bytes.toString() ?? '',
    ...(others.length > 0 && {
      files: others.map(({ name, bytes }) => describeFile(name, bytes)),
    }),
  }
}

/** Translates limits from milliseconds and bytes. Compiler limits are ignored for a language without a compiler. */
function translateLimits(asked: PistonRequest, language: Language, allowed: TierLimits): object {
  const translate = (phase: 'run' | 'compile'): object => {
    const seconds = toSeconds(asked[`${phase}_timeout`])
    const cpuSeconds = toSeconds(asked[`${phase}_cpu_time`])
    const memory = asked[`${phase}_memory_limit`]
    return {
      ...limitTimes(allowed, language, phase, seconds, cpuSeconds),
      ...dropNulls({ memory }),
    }
  }
  return describeLimits(translate('run'), hasCompiler(language) ? translate('compile') : {})
}

function toSeconds(milliseconds: number | null | undefined): number | undefined {
  return typeof milliseconds === 'number' ? milliseconds / 1000 : undefined
}

/** True when a version, which may be as short as `17`, matches `*`, a version or a semver range. */
function suits(version: string, range: string): boolean {
  const exact = semver.coerce(version)
  return range === version || (exact !== null && semver.satisfies(exact, range))
}

/** Describes a problem by a message, as Piston does, and adds `fault` and `retry`. */
function describeProblem(problem: Problem): DoorAnswer {
  const message = describeMistakes(problem)
  return { status: problem.status, body: { message, ...blame(problem.code) } }
}

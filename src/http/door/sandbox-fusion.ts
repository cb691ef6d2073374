// The SandboxFusion door: POST /run_code, which training pipelines call to score programs.
import * as v from 'valibot'
import type { TierLimits } from '#account'
import { blame } from '#error'
import type { Problem } from '#error'
import { sandboxFusionNames } from '#language'
import type { Language } from '#language'
import { few, messages } from '#options'
import { signalNumber } from '#result'
import type { ResultRecord, TrackedResult } from '#result'
import type { HttpContext } from '../http.ts'
import type { DoorAnswer } from '../request.ts'
import type { Door } from './door.ts'
import {
  compilerCode,
  describeLimits,
  dropNulls,
  findDoorLanguage,
  limitTimes,
  readDoorBody,
  runToEnd,
} from './run.ts'

const seconds = v.nullish(
  v.pipe(v.number('must be a number of seconds'), v.minValue(0.001, 'must be greater than 0')),
)

const request = v.object(
  {
    code: v.string('is required as a string'),
    language: v.string('is required as a string'),
    stdin: v.nullish(v.string('must be a string')),
    compile_timeout: seconds,
    run_timeout: seconds,
    memory_limit_MB: v.nullish(v.number('must be a number of MB, or -1')),
    files: v.nullish(
      few(v.record(v.string(), v.nullable(v.string('must be base64')), 'must be an object')),
    ),
    fetch_files: v.nullish(few(v.array(v.string('must be a path'), 'must be an array'))),
    args: v.nullish(few(v.array(v.string('must be a string'), 'must be an array'))),
  },
  messages('a request', 'must be a JSON object'),
)

type FusionRequest = v.InferOutput<typeof request>

const names = {
  'limits.wall_time': 'run_timeout',
  'limits.cpu_time': 'run_timeout',
  'limits.memory': 'memory_limit_MB',
  'compile_limits.wall_time': 'compile_timeout',
  'compile_limits.cpu_time': 'compile_timeout',
  output_files: 'fetch_files',
}

export function openSandboxFusion(context: HttpContext): Door {
  const handler = runToEnd(context, {
    names,
    async read(incoming, response) {
      const asked = await readDoorBody(incoming, response, request)
      const language = findDoorLanguage(asked.language, sandboxFusionNames)
      return {
        // The API's own check refuses an unknown name.
        language: language ?? asked.language,
        code: asked.code,
        ...dropNulls({ stdin: asked.stdin, args: asked.args }),
        ...translateFiles(asked),
        ...(language !== undefined && translateLimits(asked, language, incoming.caller.limits)),
      }
    },
    translate: translateRecord,
    describeNotRun: (message, { fault, retry }) => ({
      status: fault === null ? 200 : faultStatus,
      body: { ...describeFault(message), fault, retry },
    }),
  })
  return { routes: [['POST', '/run_code', handler]], describeProblem }
}

function translateFiles({ files, fetch_files: fetched }: FusionRequest): object {
  const given = Object.entries(files ?? {}).filter(([, content]) => content !== null)
  return {
    ...(given.length > 0 && {
      files: given.map(([name, content]) => ({ name: ownName(name), content, encoding: 'base64' })),
    }),
    ...((fetched ?? []).length > 0 && { output_files: fetched?.map(ownName) }),
  }
}

/** Makes a path relative to the program's directory. */
const ownName = (path: string): string => path.replace(/^\.\//, '')

function translateLimits(asked: FusionRequest, language: Language, allowed: TierLimits): object {
  const { memory_limit_MB: memory } = asked
  const ofRun = {
    ...limitTimes(allowed, language, 'run', asked.run_timeout ?? 10),
    ...(typeof memory === 'number' && memory > 0 && { memory: Math.round(memory * 1024 * 1024) }),
  }
  const ofCompiler = limitTimes(allowed, language, 'compile', asked.compile_timeout ?? 10)
  return describeLimits(ofRun, ofCompiler)
}

function translateRecord(record: TrackedResult): object {
  return {
    status: record.verdict === 'AC' ? 'Success' : 'Failed',
    message: '',
    compile_result: describeCompile(record),
    run_result: record.verdict === 'CE' ? null : describeRun(record),
    executor_pod_name: null,
    files: Object.fromEntries(
      (record.files ?? []).flatMap(({ name, content }) =>
        content === null ? [] : [[name, content]],
      ),
    ),
  }
}

/**
 * The status for a fault of the service. Reward functions retry at this status only (verl's `call_sandbox_api`). They score
 * any other failure as a program that failed.
 */
const faultStatus = 504

function describeFault(message: string): object {
  return {
    status: 'SandboxError',
    message,
    compile_result: null,
    run_result: null,
    executor_pod_name: null,
    files: {},
  }
}

function describeCompile(record: ResultRecord): object | null {
  const { compile, compile_output: output } = record
  if (compile === null) return null
  return {
    status: 'Finished',
    execution_time: compile.wall_time,
    cpu_time: compile.cpu_time,
    return_code: compilerCode(record, compile.exit_code),
    stdout: '',
    stderr: output ?? '',
  }
}

function describeRun(record: ResultRecord): object {
  const { verdict, exit_code: code, signal, stdout, stderr } = record
  const isLate = verdict === 'TLE'
  return {
    status: isLate ? 'TimeLimitExceeded' : 'Finished',
    execution_time: record.wall_time,
    cpu_time: record.cpu_time,
    // Python reports a child that a signal ended in the same way.
    return_code: isLate ? null : signal === null ? code : -signalNumber(signal),
    stdout,
    stderr,
  }
}

/**
 * Describes a mistake of the caller as FastAPI does, with status 422. A fault of the service has its own status, so that it
 * never looks like a failing program.
 */
function describeProblem(problem: Problem): DoorAnswer {
  const { code, status, message, details } = problem
  const blamed = blame(code)
  if (code === 'invalid_request') {
    const detail = details.issues?.map(({ path, message: msg }) => ({
      type: 'value_error',
      loc: ['body', ...path.split('.').filter((part) => part !== '')],
      msg,
    }))
    return { status: 422, body: { detail: detail ?? [], ...blamed } }
  }
  if (blamed.fault === 'caller') return { status, body: { detail: message, ...blamed } }
  return { status: faultStatus, body: { ...describeFault(message), ...blamed } }
}

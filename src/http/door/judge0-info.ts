// The Judge0 door's information about the service: languages by their ids, statuses, limits, workers.
import { machine } from 'node:os'
import type { Caller } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { catalogue, judge0Ids, usualRun } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { judge0Statuses } from '#result'
import { sendBody, sendJson } from '../answer.ts'
import type { HttpContext, Route } from '../http.ts'
import { describeLanguages } from '../languages.ts'
import { withDeadline } from '../problem.ts'
import { mostAllowed } from '../relations.ts'
import type { Handler } from '../request.ts'
import { extraTimeMost, runsMost, usualStack } from './judge0-request.ts'

/** The version of Judge0 whose protocol the door speaks. Clients choose the ids of languages by it. */
const version = '1.13.1'

/** The most submissions in a batch and tokens in an answer: as many as Judge0 takes, unless the key's tier allows fewer. */
export function batchMost({ batchItems }: Caller, queueCapacity: number): number {
  return Math.min(20, batchItems, queueCapacity)
}

/** Names a language as Judge0 does: `Python (3.11.2)`, `C++ (GCC 12.2.0)`. */
export function nameLanguage(language: string, runtime: string | null): string {
  const known: Partial<LanguageDefinition> = catalogue[language as Language] ?? {}
  const [short = ''] = (known.title ?? language).split(' (', 1)
  if (runtime === null) return short
  return `${short} (${runtime.startsWith(`${short} `) ? runtime.slice(short.length + 1) : runtime})`
}

/** Lists the languages that workers offer, once under each id that Judge0 has for them. */
async function listLanguages(database: Database) {
  const offered = await describeLanguages(database)
  return offered
    .flatMap(({ name, runtime, compile, run }) => {
      const { recipe, ownFiles }: Partial<LanguageDefinition> = catalogue[name as Language] ?? {}
      return (judge0Ids[name as Language] ?? []).map((id) => ({
        id,
        name: nameLanguage(name, runtime),
        is_archived: false,
        source_file: recipe?.source ?? ownFiles?.[0] ?? null,
        compile_cmd: compile?.join(' ') ?? null,
        run_cmd: run.join(' '),
      }))
    })
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en') || one.id - other.id)
}

type Load = Record<'waiting' | 'queued' | 'running' | 'slots', number>

async function readLoad(database: Database): Promise<Load> {
  const [load] = await withDeadline(
    async () =>
      database<[Load]>`
        select waiting::float8, queued::float8, running::float8, slots::float8 from runledger.read_load()`,
  )
  return load
}

export function listInfoRoutes(dependencies: HttpContext): readonly Route[] {
  const { database } = dependencies

  const languages: Handler = async (_request, response) => {
    const known = await listLanguages(database)
    sendJson(
      response,
      200,
      known.map(({ id, name }) => ({ id, name })),
    )
  }

  const language: Handler = async (request, response) => {
    const asked = request.params['id'] ?? ''
    const known = await listLanguages(database)
    if (asked === 'all') {
      const all = known.map(({ id, name, is_archived }) => ({ id, name, is_archived }))
      sendJson(response, 200, all)
      return
    }
    const found = known.find(({ id }) => String(id) === asked)
    if (found === undefined) throw new Problem('not_found', 'There is no such language.')
    sendJson(response, 200, found)
  }

  const statuses: Handler = (_request, response) => {
    const all = judge0Statuses.map((description, index) => ({ id: index + 1, description }))
    sendJson(response, 200, all)
  }

  const about: Handler = (_request, response) => {
    const maintainer = 'Runledger, which speaks the protocol of Judge0'
    sendJson(response, 200, { version, homepage: '', source_code: '', maintainer })
  }

  const system: Handler = async (_request, response) => {
    const { slots } = await readLoad(database)
    sendJson(response, 200, { Architecture: machine(), 'CPU(s)': String(slots) })
  }

  const workers: Handler = async (_request, response) => {
    const { waiting, queued, running, slots } = await readLoad(database)
    const queue = {
      queue: version,
      size: waiting + queued,
      available: slots,
      idle: Math.max(0, slots - running),
      working: running,
      paused: 0,
      failed: 0,
    }
    sendJson(response, 200, [queue])
  }

  const text =
    (line: string): Handler =>
    (_request, response) =>
      sendBody(response, 200, 'text/plain; charset=utf-8', line)

  return [
    ['GET', '/judge0/languages', languages],
    ['GET', '/judge0/languages/:id', language],
    ['GET', '/judge0/statuses', statuses],
    ['GET', '/judge0/about', about],
    ['GET', '/judge0/version', text(version)],
    ['GET', '/judge0/license', text('MIT License\n')],
    ['GET', '/judge0/isolate', text('Programs run in boxes of Runledger; there is no isolate.\n')],
    ['GET', '/judge0/system_info', system],
    ['GET', '/judge0/config_info', describeConfig(dependencies)],
    ['GET', '/judge0/workers', workers],
  ]
}

/** Describes the limits of the key's tier, or a language's defaults where they are higher. */
function describeConfig({ queueCapacity }: HttpContext): Handler {
  return ({ caller }, response) => {
    const { limits } = caller
    const kibibytes = (name: 'memory' | 'stdout'): number =>
      Math.floor(mostAllowed(name, usualRun, limits) / 1024)
    sendJson(response, 200, {
      maintenance_mode: false,
      enable_wait_result: true,
      enable_compiler_options: true,
      allowed_languages_for_compile_options: [],
      enable_command_line_arguments: true,
      enable_submission_delete: true,
      enable_callbacks: true,
      callbacks_max_tries: 8,
      callbacks_timeout: 15,
      enable_additional_files: true,
      max_queue_size: queueCapacity,
      cpu_time_limit: usualRun.cpuSeconds,
      max_cpu_time_limit: mostAllowed('cpu_time', usualRun, limits),
      cpu_extra_time: 0,
      max_cpu_extra_time: extraTimeMost,
      wall_time_limit: usualRun.wallSeconds,
      max_wall_time_limit: mostAllowed('wall_time', usualRun, limits),
      memory_limit: usualRun.memoryBytes / 1024,
      max_memory_limit: kibibytes('memory'),
      stack_limit: usualStack,
      max_stack_limit: kibibytes('memory'),
      max_processes_and_or_threads: usualRun.processes,
      max_max_processes_and_or_threads: mostAllowed('processes', usualRun, limits),
      enable_per_process_and_thread_time_limit: false,
      allow_enable_per_process_and_thread_time_limit: false,
      enable_per_process_and_thread_memory_limit: false,
      allow_enable_per_process_and_thread_memory_limit: false,
      max_file_size: usualRun.stdoutBytes / 1024,
      max_max_file_size: kibibytes('stdout'),
      number_of_runs: 1,
      max_number_of_runs: runsMost,
      redirect_stderr_to_stdout: false,
      max_extract_size: 1024,
      enable_batched_submissions: true,
      max_submission_batch_size: batchMost(caller, queueCapacity),
      submission_cache_duration: 0,
      use_docs_as_homepage: false,
      allow_enable_network: false,
      enable_network: false,
    })
  }
}

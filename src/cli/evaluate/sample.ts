// Reads an evaluation's files. All mistakes in them are found before anything is submitted.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { SubmissionRequest } from '#client'
import { CommandError, exitStatuses } from '../command.ts'
import { readAsked } from './format.ts'

/** One solution of one task. */
export interface Sample {
  /** The line in the file, from 1. */
  readonly line: number
  readonly task: string
  /** The number among the samples of the same task, from 0. */
  readonly number: number
  readonly request: SubmissionRequest
}

type Fields = Readonly<Record<string, unknown>>

/** The most mistakes that are listed; further ones are only counted. */
const listedMost = 20

/**
 * Reads the samples of a file.
 * @param file JSON lines, gzipped if the name ends in `.gz`. @param problems the tasks, if `file` has only the solutions.
 * @throws {CommandError} that lists the mistakes by line.
 */
export function readSamples(file: string, problems?: string): readonly Sample[] {
  const mistakes: string[] = []
  const tasks = problems === undefined ? null : readProblems(problems, mistakes)
  const samples: Sample[] = []
  const known = new Map<string, { readonly line: number; readonly tests: string; count: number }>()
  for (const { number: line, fields } of readLines(file, mistakes)) {
    try {
      const asked = readAsked(tasks === null ? fields : addProblem(fields, tasks))
      const first = known.get(asked.task) ?? { line, tests: asked.tests, count: 0 }
      if (first.tests !== asked.tests)
        throw new Error(`has other tests than line ${first.line}, which is the same task`)
      known.set(asked.task, first)
      for (const request of asked.requests) {
        samples.push({ line, task: asked.task, number: first.count, request })
        first.count += 1
      }
    } catch (error) {
      mistakes.push(`${file}:${line}: ${(error as Error).message}`)
    }
  }
  if (samples.length === 0 && mistakes.length === 0)
    mistakes.push(`${file}: there is nothing in it`)
  if (mistakes.length > 0) throw describe(mistakes)
  return samples
}

function describe(mistakes: readonly string[]): CommandError {
  const more = mistakes.length - listedMost
  const list = mistakes.slice(0, listedMost).join('\n')
  return new CommandError(more > 0 ? `${list}\nand ${more} more` : list, exitStatuses.refused)
}

/** Reads a file of tasks. @returns its lines by the task's id. */
function readProblems(file: string, mistakes: string[]): ReadonlyMap<string, Fields> {
  const tasks = new Map<string, Fields>()
  for (const { number, fields } of readLines(file, mistakes)) {
    const id = readId(fields)
    if (id === null) mistakes.push(`${file}:${number}: has no task_id, question_id or task`)
    else if (tasks.has(id)) mistakes.push(`${file}:${number}: the task ${id} is there twice`)
    else tasks.set(id, fields)
  }
  return tasks
}

function addProblem(fields: Fields, tasks: ReadonlyMap<string, Fields>): Fields {
  const id = readId(fields)
  const problem = id === null ? undefined : tasks.get(id)
  if (problem === undefined)
    throw new Error(`is of a task that is no problem: ${id ?? 'it has none'}`)
  return { ...problem, ...fields }
}

function readId(fields: Fields): string | null {
  const id = fields['task_id'] ?? fields['question_id'] ?? fields['task']
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null
}

/** Yields the lines one by one, so that the mistakes of all checks are listed in the order of the lines. */
function* readLines(
  file: string,
  mistakes: string[],
): Generator<{ readonly number: number; readonly fields: Fields }> {
  for (const [index, line] of readText(file).split('\n').entries()) {
    if (line.trim() === '') continue
    const fields = parse(line)
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      yield { number: index + 1, fields: fields as Fields }
    else mistakes.push(`${file}:${index + 1}: is no JSON${fields === undefined ? '' : ' object'}`)
  }
}

/** Parses a line; undefined if it is no JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Reads a file, unpacked if it is gzipped. @throws {CommandError} */
function readText(file: string): string {
  try {
    const bytes = readFileSync(file)
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  } catch (error) {
    throw new CommandError(`${file}: ${(error as Error).message}`, exitStatuses.noInput)
  }
}

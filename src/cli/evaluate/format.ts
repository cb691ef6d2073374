// Reads the published formats of benchmarks into submissions. A line holds a task, its tests and a solution: `completion`, or
// else the published solution. (sample.ts joins the two lines of a task whose solution is in another file.)
import { inflateSync } from 'node:zlib'
import * as v from 'valibot'
import type { SubmissionRequest } from '#client'

/** A task and its solutions, each as a submission. */
interface Asked {
  readonly task: string
  /** A text that is equal for lines with the same tests. */
  readonly tests: string
  readonly requests: readonly SubmissionRequest[]
}

/** Reads a line of one format; null for a line of another. @throws {Error} that says what is wrong with the line. */
type Reader = (line: Readonly<Record<string, unknown>>) => Asked | null

const text = v.string('must be a string')
const name = v.pipe(v.union([v.string(), v.number()], 'must be a name'), v.transform(String))

function read<Value>(
  schema: v.GenericSchema<unknown, Value>,
  line: Readonly<Record<string, unknown>>,
): Value {
  const { success, output, issues } = v.safeParse(schema, line)
  if (success) return output
  const wrong = issues.map((issue) => `${v.getDotPath(issue) ?? 'the line'} ${issue.message}`)
  throw new Error(wrong.join('; '))
}

/** Reads HumanEval. @param line of https://github.com/openai/human-eval. */
const readHumanEval: Reader = (line) => {
  if (!('entry_point' in line) || !('test' in line)) return null
  const shape = { task_id: name, prompt: text, test: text, entry_point: text }
  const task = read(v.object(shape, missing), line)
  const solution = readSolution(line, 'canonical_solution')
  const code = `${task.prompt}${solution}\n${task.test}\ncheck(${task.entry_point})\n`
  return { task: task.task_id, tests: task.test, requests: [{ language: 'python', code }] }
}

/** Reads MBPP. @param line of https://github.com/google-research/google-research/tree/master/mbpp, whole or sanitized. */
const readMbpp: Reader = (line) => {
  if (!('test_list' in line)) return null
  const shape = {
    task_id: name,
    test_list: v.pipe(v.array(text, 'must be a list'), v.minLength(1, 'has no tests')),
    test_imports: v.optional(v.array(text), []),
    test_setup_code: v.optional(text, ''),
  }
  const task = read(v.object(shape, missing), line)
  const { test_imports: imports, test_setup_code: setup, test_list: tests } = task
  const parts = [...imports, setup, readSolution(line, 'code'), ...tests, '']
  const request = { language: 'python', code: parts.join('\n') }
  return { task: task.task_id, tests: tests.join('\n'), requests: [request] }
}

const publishedTests = v.array(
  v.object({ input: text, output: text, testtype: v.optional(text) }, 'must be tests'),
  'must be a list of tests',
)

/**
 * Reads LiveCodeBench.
 * @param line of https://huggingface.co/datasets/livecodebench/code_generation_lite, or one with the `code_list` that the
 * benchmark's runner adds.
 */
const readLiveCodeBench: Reader = (line) => {
  if (!('question_id' in line) || !('public_test_cases' in line)) return null
  const shape = {
    question_id: name,
    public_test_cases: text,
    private_test_cases: v.optional(text, '[]'),
    metadata: v.optional(text, '{}'),
    code_list: v.optional(v.array(text)),
  }
  const task = read(v.object(shape, missing), line)
  const tests = [task.public_test_cases, task.private_test_cases].flatMap((list) =>
    v.parse(publishedTests, JSON.parse(list.startsWith('[') ? list : unpack(list))),
  )
  if (tests.length === 0) throw new Error('has no tests')
  const { func_name: called } = JSON.parse(task.metadata) as { func_name?: string }
  const solutions = task.code_list ?? [readSolution(line, 'code')]
  return {
    task: task.question_id,
    tests: task.public_test_cases + task.private_test_cases,
    requests: solutions.map((code) => ({
      language: 'python',
      code: called === undefined ? code : functionalProgram(code, called),
      tests: tests.map(({ input, output }) => ({
        stdin: input,
        expected_stdout: called === undefined ? output : readJsonTokens(output),
      })),
      checker: { type: 'floats', absolute: 1e-9, relative: 1e-9 },
      stop_on_failure: true,
    })),
  }
}

/** The modules that the benchmark's own runner imports before a solution. */
const modules = ['string', 're', 'datetime', 'collections', 'heapq', 'bisect', 'copy', 'math', 'random', 'statistics', 'itertools', 'functools', 'operator', 'io', 'sys', 'json', 'builtins', 'typing'] // prettier-ignore

/**
 * Returns a Python program that calls a solution which is a function or a method. The program reads its arguments as lines of
 * JSON and prints the value as JSON tokens, so that a checker can compare them as numbers and words.
 * @param called the name of a method of `class Solution` or of a function.
 */
function functionalProgram(solution: string, called: string): string {
  return [
    ...modules.map((module) => `from ${module} import *`),
    `import ${modules.join(', ')}`,
    solution,
    'import json, re, sys',
    `_call = Solution().${called} if 'Solution' in globals() else ${called}`,
    '_value = _call(*[json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()])',
    `print(' '.join(re.findall(r'''${token.source}''', json.dumps(_value))))`,
    '',
  ].join('\n')
}

const token = /"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+|[[\]{},:]/g

/** Returns a JSON value in the form in which a functional program prints it. @throws {Error} for a text that is no JSON. */
function readJsonTokens(json: string): string {
  const value: unknown = JSON.parse(json)
  // Python's json.dumps escapes every character outside ASCII.
  const ascii = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `${(ascii.match(token) ?? []).join(' ')}\n`
}

/** Reads our own format. @param line `task`, `language`, `code`, `tests`, and any other field of a submission. */
const readPlain: Reader = (line) => {
  if (!('task' in line)) return null
  const test = v.record(v.string(), v.unknown(), 'must be an object')
  const shape = {
    task: name,
    language: text,
    tests: v.pipe(v.array(test, 'must be a list'), v.minLength(1, 'has no tests')),
  }
  const { task, completion: _, ...asked } = read(v.looseObject(shape, missing), line)
  const request = { ...asked, code: readSolution(line, 'code') } as SubmissionRequest
  return { task, tests: JSON.stringify(asked.tests), requests: [request] }
}

const readers: readonly Reader[] = [readHumanEval, readMbpp, readLiveCodeBench, readPlain]

/** Reads a line of any known format. @throws {Error} that says what is wrong with the line. */
export function readAsked(line: Readonly<Record<string, unknown>>): Asked {
  for (const reader of readers) {
    const asked = reader(line)
    if (asked !== null) return asked
  }
  throw new Error(
    'has no shape that is known: HumanEval (entry_point, test), MBPP (test_list), LiveCodeBench (question_id, public_test_cases), or task, language, code, tests',
  )
}

function missing({ path }: v.ObjectIssue | v.LooseObjectIssue): string {
  return path === undefined ? 'must be an object' : 'is missing'
}

function readSolution(line: Readonly<Record<string, unknown>>, published: string): string {
  const solution = line['completion'] ?? line[published]
  if (typeof solution === 'string') return solution
  throw new Error(`has no solution: neither completion nor ${published} is a string`)
}

/** Unpacks LiveCodeBench's hidden tests: a pickled string, deflated, in base64. @throws {Error} for any other pickle. */
function unpack(packed: string): string {
  const bytes = inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: 256 * 1024 * 1024 })
  // A pickle of protocol 2 or later. From protocol 4 on, a frame's length precedes the string. The string's length takes
  // 1, 4 or 8 bytes.
  const start = bytes[2] === 0x95 ? 11 : 2
  const lengths: Readonly<Record<number, number>> = { 0x8c: 1, 0x58: 4, 0x8d: 8 }
  const lengthBytes = bytes[0] === 0x80 ? lengths[bytes[start] ?? 0] : undefined
  if (lengthBytes === undefined) throw new Error('private_test_cases is no packed list of tests')
  const from = start + 1 + lengthBytes
  const length = bytes.readUIntLE(start + 1, Math.min(lengthBytes, 6))
  return bytes.toString('utf8', from, from + length)
}

// What `submit` prints and saves of a result. Names and outputs are strangers' text, so their control characters are escaped.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { styleText } from 'node:util'
import type { Difference, Result, StreamedTest, TestResult } from '#client'
import { CommandError, exitStatuses } from './command.ts'
import type { Terminal } from './command.ts'
import { makeVisible, printable, show } from './output.ts'

const excerptCharacters = 40

/**
 * Prints a result for people.
 * @param isStreamed true: a program's output, or a line for each test, was printed already.
 */
export function present(result: Result, { stdout, stderr }: Terminal, isStreamed: boolean): void {
  if (!isStreamed || result.tests !== null) {
    const compiled = isStreamed ? '' : (result.compile_output ?? '')
    const output = show(result.stdout ?? '', stdout)
    stdout.write(output)
    // On a terminal, the next text must start on a new line.
    if (stdout.isTTY === true && output !== '' && !output.endsWith('\n')) stdout.write('\n')
    const messages = show(`${compiled}${result.stderr ?? ''}`, stderr)
    stderr.write(messages)
    if (messages !== '' && !messages.endsWith('\n')) stderr.write('\n')
  }
  if (!isStreamed) for (const line of describeTests(result.tests ?? [])) stderr.write(`${line}\n`)
  if (result.message !== null) stderr.write(`${result.message}\n`)
  if (result.difference !== null) stderr.write(`${describeDifference(result.difference)}\n`)
  stderr.write(`${describeEnd(result, stderr.isTTY === true)}\n`)
}

function describeEnd(result: Result, isColoured: boolean): string {
  const { id, fault, exit_code: exitCode, signal } = result
  const word = nameEnd(result)
  const isCut = result.stdout_truncated === true || result.stderr_truncated === true
  const figures = [
    ...(fault === 'platform' ? ['a fault of the service: submit it again'] : []),
    ...(fault === 'checker' ? ['a fault of the checker'] : []),
    ...(exitCode === null ? [] : [`exit ${exitCode}`]),
    ...(signal === null ? [] : [signal]),
    ...listFigures(result),
    ...(result.score === undefined ? [] : [`score ${result.score} of ${result.max_score}`]),
    ...(isCut ? ['output cut off'] : []),
  ].join(', ')
  const name = isColoured ? styleText(word === 'AC' ? 'green' : 'red', word) : word
  return `${name} ${figures}${figures === '' ? '' : '  '}${id}`
}

/** Returns the verdict, or `cancelled`. */
export function nameEnd({ status, verdict }: Result): NonNullable<Result['verdict']> | 'cancelled' {
  return status === 'cancelled' ? status : (verdict ?? 'IE')
}

/**
 * Writes the output files of a result, and a line on stderr for each that is missing or too large.
 * @param names the requested names. Other files that the service reports are not written.
 * @throws {CommandError} when a file cannot be written.
 */
export async function saveOutputFiles(
  names: readonly string[],
  { files }: Result,
  directory: string,
  { stderr }: Terminal,
): Promise<void> {
  for (const name of names) {
    const file = files?.find((one) => one.name === name)
    if (typeof file?.content === 'string') {
      await saveFile(join(directory, name), file.content)
      continue
    }
    const reason =
      file === undefined
        ? 'the program has left no such file'
        : `not returned, because it is too large (${describeMemory(file.size)})`
    stderr.write(`${printable(name)}: ${reason}\n`)
  }
}

async function saveFile(path: string, base64: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, base64, 'base64')
  } catch (error) {
    throw new CommandError((error as Error).message, exitStatuses.noOutput)
  }
}

/** Returns a line, without a line end, for each test: name, verdict, figures, and where a wrong answer differs. */
function describeTests(tests: readonly TestResult[]): string[] {
  const names = tests.map(({ name }, index) =>
    name === null ? `#${index + 1}` : makeVisible(name),
  )
  const width = Math.max(0, ...names.map((name) => name.length))
  return tests.map((test, index) => `${names[index]?.padEnd(width)}  ${describeOutcome(test)}`)
}

/** Returns the line for a test that has just ended. */
export function describeStreamedTest(test: StreamedTest): string {
  const name = test.name === null ? `#${test.index + 1}` : makeVisible(test.name)
  return `${name}  ${describeOutcome(test)}`
}

function describeOutcome(test: Omit<TestResult, 'stdout' | 'stderr'>): string {
  const { verdict, difference } = test
  if (verdict === null) return '–    not run'
  const remark = difference === null ? '' : `  ${describeDifference(difference)}`
  return `${verdict.padEnd(3)}  ${listFigures(test).join(', ')}${remark}`
}

/** Lists a run's CPU time, wall time and memory, as far as they are known. */
function listFigures({
  cpu_time: cpu,
  wall_time: wall,
  memory_peak: peak,
}: Pick<Result, 'cpu_time' | 'wall_time' | 'memory_peak'>): string[] {
  return [
    ...(cpu === null ? [] : [`${cpu} s CPU`]),
    ...(wall === null ? [] : [`${wall} s`]),
    ...(peak === null ? [] : [describeMemory(peak)]),
  ]
}

/** Formats bytes: 10485760 becomes `10.0 MiB`. */
function describeMemory(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/** Describes where an output differs from the expected one. */
function describeDifference({ line, expected, got }: Difference): string {
  return `line ${line}: expected ${excerpt(expected)}, got ${excerpt(got)}`
}

function excerpt(text: string | null): string {
  if (text === null) return 'nothing'
  const rest = text.length > excerptCharacters ? '…' : ''
  return `"${makeVisible(text.slice(0, excerptCharacters))}${rest}"`
}

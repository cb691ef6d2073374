// The command `evaluate FILE.jsonl`: runs a benchmark's solutions, and prints a table and pass@k.
import { writeFileSync } from 'node:fs'
import { RunledgerError, createClient } from '#client'
import { CommandError, defineCommand, exitStatuses, misuse, takes } from '../command.ts'
import type { Terminal } from '../command.ts'
import { readNumber } from '../option.ts'
import { createProgress, printable, printRecord, printRows } from '../output.ts'
import { readService, serviceOptions, statusOf } from '../service.ts'
import { report } from './report.ts'
import type { Report } from './report.ts'
import { runSamples } from './run.ts'
import type { Evaluated } from './run.ts'
import { readSamples } from './sample.ts'

/** A retry waits up to five seconds, so the service may be away for about ten minutes. */
const retries = 120

export interface EvaluateCall {
  readonly file: string
  readonly problems?: string | undefined
  readonly report?: string | undefined
  readonly items: number
  readonly atOnce: number
  readonly url: string
  readonly apiKey: string
}

export const evaluateCommands = [
  defineCommand({
    name: 'evaluate',
    operands: ['FILE.jsonl'],
    summary: 'run the solutions of a benchmark, and print pass@k',
    notes:
      'A line is a task of HumanEval, MBPP or LiveCodeBench with a `completion` (otherwise its published solution is run), or it has `task`,\n' +
      '`language`, `code` and `tests` as a submission has them. Solutions run at low priority. A solution that fails by the service’s fault\n' +
      'is run again, and the failure is never counted. Called again after an interruption, the command continues. Exit status: 0 all were\n' +
      'judged, 1 some were not, 65 a line is wrong.',
    options: {
      problems: takes('FILE', 'the tasks, if FILE.jsonl has only `task_id` and `completion`'),
      report: takes('FILE', 'write every sample’s result to this file, as JSON'),
      batch: takes('N', 'samples in a request, at most as many as the key’s tier allows', {
        default: '20',
      }),
      'at-once': takes('N', 'requests at once', { default: '4' }),
      ...serviceOptions,
    },
    run: ({ operands: [file = ''], values }) =>
      evaluate(
        {
          file,
          ...values,
          items: readNumber('--batch', values.batch, 1000),
          atOnce: readNumber('--at-once', values['at-once'], 64),
          ...readService(values),
        },
        process,
      ),
  }),
]

/** Runs all solutions and prints the report. @returns the exit status. @throws {CommandError} */
export async function evaluate(call: EvaluateCall, terminal: Terminal): Promise<number> {
  const samples = readSamples(call.file, call.problems)
  // A report that cannot be written is refused before the work of hours.
  if (call.report !== undefined) writeReport(call.report, '', 'a')
  const progress = createProgress(terminal)
  let [ended, passed] = [0, 0]
  const onEnd = ({ end }: Evaluated): void => {
    ended += 1
    if ('verdict' in end && end.verdict === 'AC') passed += 1
    progress(`${ended} of ${samples.length} ended, ${passed} passed`)
  }
  try {
    const { items, atOnce } = call
    const client = createClient({ ...call, retries })
    const evaluated = await runSamples(client, samples, { items, atOnce, onEnd })
    progress('')
    const found = report(evaluated)
    if (call.report !== undefined) writeReport(call.report, `${JSON.stringify(found, null, 2)}\n`)
    present(found, terminal)
    return found.not_judged === 0 ? 0 : exitStatuses.failed
  } catch (error) {
    if (error instanceof TypeError) throw misuse(error.message)
    if (!(error instanceof RunledgerError)) throw error
    throw new CommandError(printable(error.message), statusOf(error))
  }
}

function writeReport(file: string, text: string, flag: 'w' | 'a' = 'w'): void {
  try {
    writeFileSync(file, text, { flag })
  } catch (error) {
    throw new CommandError(`--report: ${(error as Error).message}`, exitStatuses.noOutput)
  }
}

function present(
  { verdicts, pass_at: passAt, results: _results, ...counts }: Report,
  terminal: Terminal,
): void {
  if (terminal.stdout.isTTY !== true) {
    printRecord({ ...counts, pass_at: passAt, verdicts }, terminal)
    return
  }
  printRows(
    Object.entries(verdicts).map(([verdict, samples]) => ({ verdict, samples })),
    terminal,
  )
  for (const [k, share] of Object.entries(passAt))
    terminal.stdout.write(`pass@${k}  ${(100 * share).toFixed(1)} %\n`)
}

// A command's way to a service: its address, a key, and what to do when either is missing. Callers' commands need a submitter's
// key; operators' an operator's.
import { readFileSync } from 'node:fs'
import { createClient, createOperator, RunledgerError } from '#client'
import type { Operator } from '#client'
import { readClientConfig, readOrExit } from '#config'
import { keptOperatorKeyFile, readKept } from '#kept'
import { CommandError, exitStatuses } from './command.ts'
import type { Option } from './command.ts'
import { printable } from './output.ts'

export const serviceOptions = {
  url: { type: 'string', value: 'URL', help: 'address of the service (default RUNLEDGER_URL)' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'file with the key (default RUNLEDGER_API_KEY); `make run` keeps one in .data/key',
  },
} as const satisfies Record<string, Option>

export const operatorOptions = {
  url: serviceOptions.url,
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'file with an operator’s key (default RUNLEDGER_OPERATOR_KEY, or that of `make run`)',
  },
} as const satisfies Record<string, Option>

export interface ServiceValues {
  readonly url: string | undefined
  readonly 'key-file': string | undefined
}

/** Of a caller. @throws {CommandError} */
export function readService(values: ServiceValues): {
  readonly url: string
  readonly apiKey: string
} {
  const config = readOrExit(readClientConfig)
  const apiKey = readKeyFile(values) ?? config.RUNLEDGER_API_KEY
  if (apiKey === undefined) {
    throw new CommandError(
      'there is no key: set RUNLEDGER_API_KEY, or name a file that holds one with --key-file (`make run` keeps one in .data/key)',
      exitStatuses.usage,
    )
  }
  return { url: values.url ?? config.RUNLEDGER_URL, apiKey }
}

/**
 * Asks the operator API.
 * @param retries how often a request is repeated that got no answer.
 * @throws {CommandError} that says what to do when there is no key, it is not valid, or no web process answers.
 */
export async function askOperator<T>(
  values: ServiceValues,
  ask: (operator: Operator) => Promise<T>,
  retries = 5,
): Promise<T> {
  const config = readOrExit(readClientConfig)
  const url = values.url ?? config.RUNLEDGER_URL
  const apiKey =
    readKeyFile(values) ?? config.RUNLEDGER_OPERATOR_KEY ?? readKept(keptOperatorKeyFile)
  if (apiKey === null) {
    throw new CommandError(
      'there is no operator’s key: `runledger keys issue --account ops --role operator` prints one; set RUNLEDGER_OPERATOR_KEY to it, or name a file that holds it with --key-file',
      exitStatuses.usage,
    )
  }
  try {
    return await ask(createOperator(createClient({ url, apiKey, retries })))
  } catch (error) {
    throw explain(error)
  }
}

function explain(error: unknown): unknown {
  if (error instanceof TypeError) return new CommandError(error.message, exitStatuses.usage)
  if (!(error instanceof RunledgerError)) return error
  const message = printable(error.message)
  switch (error.status) {
    case 0:
      return new CommandError(
        `no web process answers: ${message}. Start one, or name its address with --url or RUNLEDGER_URL.`,
        exitStatuses.unavailable,
      )
    case 401:
    case 403:
      return new CommandError(
        `${message} \`runledger keys issue --account ops --role operator\` prints a key that may.`,
        exitStatuses.unauthorized,
      )
    case 400:
      return new CommandError(
        error.issues.length === 0
          ? message
          : error.issues.map((issue) => printable(`${issue.path} ${issue.message}`)).join('; '),
        exitStatuses.refused,
      )
    default:
      return new CommandError(
        message,
        error.status === 404 ? exitStatuses.failed : exitStatuses.unavailable,
      )
  }
}

function readKeyFile({ 'key-file': file }: ServiceValues): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new CommandError(`--key-file: ${(error as Error).message}`, exitStatuses.noInput)
  }
}

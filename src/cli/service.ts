// Connects commands to a service: its address, a key, and what to do when either is missing. Callers' commands need a
// submitter's key, operators' commands need an operator's key.
import { createClient, createOperator, RunledgerError } from '#client'
import type { Operator } from '#client'
import { readClientConfig, readOrExit } from '#config'
import { keptOperatorKeyFile } from '#kept'
import { CommandError, exitStatuses, misuse, takes } from './command.ts'
import { readKept } from './connect.ts'
import { readInput } from './option.ts'
import { jsonOption, printable, printRows } from './output.ts'

export const serviceOptions = {
  url: takes('URL', 'address of the service (default RUNLEDGER_URL)'),
  'key-file': takes(
    'FILE',
    'file with the key (default RUNLEDGER_API_KEY); `make run` keeps one in .data/key',
  ),
}

export const operatorOptions = {
  url: serviceOptions.url,
  'key-file': takes(
    'FILE',
    'file with an operator’s key (default RUNLEDGER_OPERATOR_KEY, or the key of `make run`)',
  ),
}

interface ServiceValues {
  readonly url: string | undefined
  readonly 'key-file': string | undefined
}

/** Reads the service's address and a caller's key. @throws {CommandError} when there is no key. */
export function readService(values: ServiceValues): {
  readonly url: string
  readonly apiKey: string
} {
  const config = readOrExit(readClientConfig)
  const apiKey = readKeyFile(values) ?? config.RUNLEDGER_API_KEY
  if (apiKey === undefined) {
    throw misuse(
      'there is no key: set RUNLEDGER_API_KEY, or name a file that holds one with --key-file (`make run` keeps one in .data/key)',
    )
  }
  return { url: values.url ?? config.RUNLEDGER_URL, apiKey }
}

/** Returns the exit status of a caller's command for an error of the service. */
export function statusOf({ status, code }: RunledgerError): number {
  if (code === 'quota_exceeded') return exitStatuses.refused
  if (status === 401 || status === 403) return exitStatuses.unauthorized
  return status === 400 || status === 404 ? exitStatuses.refused : exitStatuses.unavailable
}

/**
 * Calls the operator API.
 * @param retries how often a request without an answer is repeated.
 * @throws {CommandError} that says what to do when there is no key, the key is not valid, or no web process answers.
 */
export async function askOperator<T>(
  values: ServiceValues,
  ask: (operator: Operator) => Promise<T>,
  retries = 5,
): Promise<T> {
  const config = readOrExit(readClientConfig)
  const url = values.url ?? config.RUNLEDGER_URL
  const apiKey =
    readKeyFile(values) ??
    config.RUNLEDGER_OPERATOR_KEY ??
    readKept(keptOperatorKeyFile, 'RUNLEDGER_OPERATOR_KEY')
  if (apiKey === null) {
    throw misuse(
      'there is no operator’s key: `runledger keys issue --account ops --role operator` prints one; set RUNLEDGER_OPERATOR_KEY to it, or name a file that holds it with --key-file',
    )
  }
  try {
    return await ask(createOperator(createClient({ url, apiKey, retries })))
  } catch (error) {
    throw explain(error)
  }
}

/** Options of a command that prints a list. */
export const listOptions = { json: jsonOption, ...operatorOptions }

/** Prints a list of the operator API. @throws {CommandError} as askOperator. */
export async function printList(
  { json, ...service }: ServiceValues & { readonly json: boolean },
  ask: (operator: Operator) => Promise<readonly object[]>,
): Promise<void> {
  printRows(await askOperator(service, ask), process, json)
}

function explain(error: unknown): unknown {
  if (error instanceof TypeError) return misuse(error.message)
  if (!(error instanceof RunledgerError)) return error
  const { status, issues } = error
  const message = printable(error.message)
  if (status === 0)
    return new CommandError(
      `no web process answers: ${message}. Start one, or name its address with --url or RUNLEDGER_URL.`,
      exitStatuses.unavailable,
    )
  if (status === 401 || status === 403)
    return new CommandError(
      `${message} \`runledger keys issue --account ops --role operator\` prints an operator’s key.`,
      exitStatuses.unauthorized,
    )
  const flaws = issues.map(({ path, message: flaw }) => printable(`${path} ${flaw}`)).join('; ')
  if (status === 400) return new CommandError(flaws || message, exitStatuses.refused)
  return new CommandError(message, status === 404 ? exitStatuses.failed : exitStatuses.unavailable)
}

/** Returns an error handler that replaces the service's message for some statuses. @throws {unknown} always. */
export function rephrase(words: Readonly<Record<number, string>>): (error: unknown) => never {
  return (error) => {
    const known = error instanceof RunledgerError ? words[error.status] : undefined
    throw known === undefined ? error : new CommandError(known)
  }
}

function readKeyFile({ 'key-file': file }: ServiceValues): string | undefined {
  return file === undefined ? undefined : readInput('--key-file', file).trim()
}

// The only logger: JSON lines on stdout. A message names what happened, fields hold the rest. Never log source, stdin,
// output, keys or secrets: redaction is only a safety net.
import { pino } from 'pino'
import type { DestinationStream, Logger, SerializedError } from 'pino'
import { createLogOutput } from './output.ts'

export type { Logger } from 'pino'

export const redactedPaths: readonly string[] = [
  'code',
  'stdin',
  'stdout',
  'stderr',
  'expected_stdout',
  'compile_output',
  'webhook_secret',
  'secret',
  'key',
  'digest',
  'body',
  'headers',
  'url',
  'DATABASE_URL',
  'RECEIPT_KEY',
].flatMap((name) => [name, `*.${name}`])

/**
 * Creates the logger of a process.
 * @param name the process: `web`, `worker`, …
 * @param level pino's; `silent` turns it off.
 * @param destination defaults to stdout.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    name,
    level,
    redact: { paths: [...redactedPaths], censor: '[redacted]' },
    serializers: { err: (error: Error) => rename(pino.stdSerializers.err(error)) },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(options, destination ?? createLogOutput(1))
}

// Codes of errors whose stack is not logged, because it does not help when another host refused or ended a connection.
const withoutStack = /^(CONNECT|E(CONN|HOST|NET|AI_|NOTFOUND|PIPE|TIMEDOUT))/

// Renames an error's `code`, because a field of that name is redacted as a submission's source.
function rename({ code, stack, aggregateErrors, ...rest }: SerializedError): object {
  return {
    ...rest,
    ...(code !== undefined && { error_code: code }),
    ...(!withoutStack.test(String(code)) && { stack }),
    ...(aggregateErrors !== undefined && { aggregateErrors: aggregateErrors.map(rename) }),
  }
}

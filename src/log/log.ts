// The one logger: JSON lines on stdout. A message names what happened; fields hold the rest. Never log source, stdin,
// output, keys or secrets: redaction is only the net below.
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
 * @param name the process: `web`, `worker`, …
 * @param level pino's; `silent` turns it off.
 * @param destination defaults to stdout.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    name,
    level,
    redact: { paths: [...redactedPaths], censor: '[redacted]' },
    serializers: { err: describeError },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(options, destination ?? createLogOutput(1))
}

// Of no use with a connection that another host refused or ended.
const withoutStack = /^(CONNECT|E(CONN|HOST|NET|AI_|NOTFOUND|PIPE|TIMEDOUT))/

// `code` is redacted as a submission's source, so an error's code needs another name.
function describeError(error: Error): object {
  return rename(pino.stdSerializers.err(error))
}

function rename({ code, stack, aggregateErrors, ...rest }: SerializedError): object {
  return {
    ...rest,
    ...(code !== undefined && { error_code: code }),
    ...(!withoutStack.test(String(code)) && { stack }),
    ...(aggregateErrors !== undefined && { aggregateErrors: aggregateErrors.map(rename) }),
  }
}

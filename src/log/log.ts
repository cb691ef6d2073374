// The one logger: JSON lines on stdout, a message that is the name of what happened, everything else in fields.
// Never source, stdin, output, keys or secrets; the redaction list is the net below that rule.
import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { createLogOutput } from './output.ts'

export type { Logger } from 'pino'

/** Paths that are replaced should they ever be logged. */
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
].flatMap((name) => [name, `*.${name}`])

/**
 * Creates a process's logger.
 * @param name which process: `web`, `worker`, …
 * @param level pino's level names; `silent` turns it off.
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

// `code` is a submission's source wherever it stands, and redacted; an error's is what one looks for first.
function describeError(error: Error): object {
  const described = pino.stdSerializers.err(error)
  return 'code' in error ? { ...described, error_code: error.code } : described
}

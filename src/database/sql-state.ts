// Why a statement failed, by its error's code.

/** The codes that our code branches on. Our SQL functions raise those that begin with `RL`. */
export const sqlState = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  readOnly: '25006',
  deadlock: '40P01',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  lockNotAvailable: '55P03',
  /** A statement that timed out, or that the driver cancelled unsent. Only PostgreSQL's error has a severity. */
  queryCanceled: '57014',
  /** The worker was declared lost. It will soon have another id, or has ended. */
  workerGivenUp: 'RL005',
  quotaExceeded: 'RL018',
  /** A command says that the worker takes no jobs. */
  takesNothing: 'RL027',
} as const

const passing: readonly string[] = [
  sqlState.readOnly,
  sqlState.queryCanceled,
  sqlState.lockNotAvailable,
]

/** Returns an SQLSTATE or the driver's code (`CONNECTION_CLOSED`, `ECONNREFUSED`); undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // Node reports the failures of all addresses of a name together.
  if (error instanceof AggregateError) return errorCode(error.errors[0])
  return undefined
}

/**
 * True when the database cannot be reached or cannot answer now. Class 40 (such as deadlocks)
 * counts, because nothing was written.
 */
export function isUnavailable(error: unknown): boolean {
  const code = errorCode(error)
  return (
    code !== undefined &&
    (/^(08|40|53|57P)/.test(code) ||
      passing.includes(code) ||
      /^(CONNECTION_|CONNECT_TIMEOUT)/.test(code) ||
      /^E(CONN|HOST|NET|AI_|NOTFOUND|PIPE|TIMEDOUT)/.test(code))
  )
}

/** True when the server answers and only this statement failed, by a deadlock, a lock or its time limit. */
export function isOfOneStatement(error: unknown): boolean {
  return hasSeverity(error) && /^(40|55P03|57014)/.test(errorCode(error) ?? '')
}

/** True when the server ended the statement at its time limit. Its caller then has hardly any time left. */
export function tookTooLong(error: unknown): boolean {
  return errorCode(error) === sqlState.queryCanceled && hasSeverity(error)
}

/**
 * True when nothing was written, because the server rolled the statement back or the driver withdrew it unsent. False when
 * the effect is unknown, as after a lost connection.
 */
export function hadNoEffect(error: unknown): boolean {
  // The server's other severities end the connection, perhaps after the commit.
  if (hasSeverity(error)) return error.severity === 'ERROR'
  return errorCode(error) === sqlState.queryCanceled
}

/** True when the error comes from the server. */
function hasSeverity(error: unknown): error is Error & { readonly severity: unknown } {
  return error instanceof Error && 'severity' in error
}

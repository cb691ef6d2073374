// What a failed statement failed of, by the code that PostgreSQL, the driver or the network gives.

/** SQLSTATEs that we raise or branch on. */
export const sqlState = {
  uniqueViolation: '23505',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  lockNotAvailable: '55P03',
  queueFull: 'RL003',
  keyRefused: 'RL008',
} as const

/** The SQLSTATE of a driver's error, or its own code (`CONNECTION_CLOSED`, `ECONNREFUSED`); undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // Node tries every address of a name and reports all failures together.
  if (error instanceof AggregateError) return errorCode(error.errors[0])
  return undefined
}

/**
 * True when the error says that the database cannot be reached or cannot answer now, whatever we asked. A statement that
 * was given up so that others can go on (class 40, a deadlock) has left nothing, and may be asked again like the others.
 */
export function isUnavailable(error: unknown): boolean {
  const code = errorCode(error)
  return (
    code !== undefined &&
    (/^(08|40|53|57P)/.test(code) ||
      ['25006', '57014', '55P03'].includes(code) ||
      /^(CONNECTION_|CONNECT_TIMEOUT)/.test(code) ||
      /^E(CONN|HOST|NET|AI_|NOTFOUND|PIPE|TIMEDOUT)/.test(code))
  )
}

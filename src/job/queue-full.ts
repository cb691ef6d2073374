// Whose places are taken when the database refuses with RL003.

/** True when the account holds its share of the queue; false when the whole queue is full. */
export function isOfAccount(error: unknown): boolean {
  return error instanceof Error && 'detail' in error && error.detail === 'account'
}

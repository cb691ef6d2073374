// What the doctor says of one thing it looked at. Its own file because every examination makes findings and none may
// depend on another.

/** One row of the doctor's report. */
export interface Finding {
  /** What was looked at, such as `bubblewrap`. */
  readonly name: string
  /** `missing`: isolation cannot be had, and the worker must not start. `warning`: it can, and something is worse than it could be. */
  readonly level: 'ok' | 'warning' | 'missing'
  /** What was found. */
  readonly detail: string
  /** The exact command or setting that helps; null only when all is well. */
  readonly remedy: string | null
}

/** All is well. */
export function reportOk(name: string, detail: string): Finding {
  return { name, level: 'ok', detail, remedy: null }
}

/** Works, but. */
export function reportWarning(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'warning', detail, remedy }
}

/** The worker must not start. */
export function reportMissing(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'missing', detail, remedy }
}

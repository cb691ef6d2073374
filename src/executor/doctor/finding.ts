// A row of the doctor's report, shared by all examinations.

export interface Finding {
  /** Such as `bubblewrap`. */
  readonly name: string
  /** `missing`: no isolation, the worker must not start. `warning`: isolation, but something could be better. */
  readonly level: 'ok' | 'warning' | 'missing'
  /** What was found. */
  readonly detail: string
  /** The exact command or setting that helps; null when all is well. */
  readonly remedy: string | null
}

export function reportOk(name: string, detail: string): Finding {
  return { name, level: 'ok', detail, remedy: null }
}

/** Works, but could be better. */
export function reportWarning(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'warning', detail, remedy }
}

/** The worker must not start. */
export function reportMissing(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'missing', detail, remedy }
}

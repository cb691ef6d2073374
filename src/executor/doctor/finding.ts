// A row of the doctor's report.

export interface Finding {
  /** For example `kernel`. */
  readonly name: string
  /** `missing`: no isolation, so the worker must not start. `warning`: something could be better. */
  readonly level: 'ok' | 'warning' | 'missing'
  readonly detail: string
  /** The command or setting that helps; null when all is well. */
  readonly remedy: string | null
}

export function reportOk(name: string, detail: string): Finding {
  return { name, level: 'ok', detail, remedy: null }
}

export function reportWarning(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'warning', detail, remedy }
}

export function reportMissing(name: string, detail: string, remedy: string): Finding {
  return { name, level: 'missing', detail, remedy }
}

// The optional variables of languages in a worker's environment, beside those of their limits.
import * as v from 'valibot'

/** The text `on` or `off`, parsed to true for `on`. */
export const toggle = v.pipe(
  v.picklist(['on', 'off'], 'must be on or off'),
  v.transform((text) => text === 'on'),
)

export const settingEntries = {
  /** Whether a worker precompiles standard headers at its start. */
  CPP_PRECOMPILED_HEADERS: v.optional(toggle, 'on'),
  /** Directory of the JDK; by default the newest installed one. */
  JAVA_HOME: v.optional(v.string()),
  /** Whether resident compilers (javac) stay in memory between submissions. */
  JAVA_RESIDENT_COMPILER: v.optional(toggle, 'on'),
  /** Whether each slot starts a JVM before its program comes. */
  JAVA_STARTS_AHEAD: v.optional(toggle, 'on'),
  /** Whether each slot starts a Node before its program comes, also for TypeScript. */
  NODE_STARTS_AHEAD: v.optional(toggle, 'on'),
}

export type LanguageSettings = v.InferOutput<v.ObjectSchema<typeof settingEntries, undefined>>

/** The settings when no variable is set. */
export const defaultSettings: LanguageSettings = v.parse(v.object(settingEntries), {})

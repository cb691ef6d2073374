// A language by any of its names.
import * as v from 'valibot'
import { findNearestLanguage, languagesByName } from '#language'
import type { Language } from '#language'

const names = Object.keys(languagesByName)

/** How the message of a name that no language has begins. */
export const unknownLanguage = 'must be one of the languages that are offered'

function describeUnknown(name: unknown): string {
  const nearest = typeof name === 'string' ? findNearestLanguage(name) : undefined
  return nearest === undefined ? unknownLanguage : `${unknownLanguage}: did you mean ${nearest}?`
}

/** Folds any accepted name to the canonical one. */
export const languageSchema = v.pipe(
  v.picklist(names, ({ input }) => describeUnknown(input)),
  v.transform((name) => languagesByName[name] as Language),
)

// A language by any of its names.
import * as v from 'valibot'
import { languagesByName } from '#language'
import type { Language } from '#language'

const names = Object.keys(languagesByName)

/** Folds any accepted name to the canonical one. */
export const languageSchema = v.pipe(
  v.picklist(names, `must be one of ${names.join(', ')}`),
  v.transform((name) => languagesByName[name] as Language),
)

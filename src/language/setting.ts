// Types of settings of languages.
import * as v from 'valibot'

/** The text `on` or `off`, parsed to true for `on`. */
export const toggle = v.pipe(
  v.picklist(['on', 'off'], 'must be on or off'),
  v.transform((text) => text === 'on'),
)

// Kinds of settings that languages have.
import * as v from 'valibot'

/** `on` or `off`; true for `on`. */
export const toggle = v.pipe(
  v.picklist(['on', 'off'], 'must be on or off'),
  v.transform((text) => text === 'on'),
)

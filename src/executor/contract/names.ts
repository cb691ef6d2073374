// Names in one text, `a b c`, for tables that are read by row.

/** The names in a text. */
export type Names<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Names<Rest>
  : Text

/** In their order. */
export function splitNames<const Text extends string>(text: Text): Names<Text>[] {
  return text.split(' ') as Names<Text>[]
}

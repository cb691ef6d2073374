// Lists of names written as one text, `a b c`, so that tables can be read by row.

export type Names<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Names<Rest>
  : Text

export function splitNames<const Text extends string>(text: Text): Names<Text>[] {
  return text.split(' ') as Names<Text>[]
}

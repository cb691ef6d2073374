// Writes class files that javac would not write, to test code that reads class files.

const utf8 = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([1, bytes.length >> 8, bytes.length & 0xff]), bytes])
}

interface Content {
  /** Whether it has a `main` that can be launched. */
  readonly main?: boolean
  /** Further texts in its constant pool. */
  readonly constants?: readonly string[]
}

/** Writes a class without fields. */
export function writeClass(
  name: string,
  superName: string,
  { main = false, constants = [] }: Content = {},
): Buffer {
  const texts = [name, superName, 'main', '([Ljava/lang/String;)V', ...constants].map(utf8)
  const head = Buffer.from('cafebabe0000003d0000', 'hex')
  head.writeUInt16BE(texts.length + 3, 8)
  // The class entries of the first two texts. After them: no access flags, the class and its super class, no interfaces.
  const classes = Buffer.from('070001070002', 'hex')
  const [self, parent] = [texts.length + 1, texts.length + 2]
  const flags = Buffer.alloc(10)
  flags.writeUInt16BE(self, 2)
  flags.writeUInt16BE(parent, 4)
  // The one method: `public static`, its name and type, no attributes.
  const methods = Buffer.from(main ? '00010009000300040000' : '0000', 'hex')
  return Buffer.concat([head, ...texts, classes, flags, methods, Buffer.alloc(2)])
}

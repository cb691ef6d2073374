// Reads Java classes from one run of bytes. A class file tells its end and its name, so several leave a box without an
// archive. They are untrusted: time is linear in them. Format: Java Virtual Machine Specification, chapter 4.
import { isAscii } from 'node:buffer'

export interface ClassFile {
  /** Binary name with slashes, such as `a/b/Main$1`. */
  readonly name: string
  /** Null for java.lang.Object. */
  readonly superName: string | null
  readonly isPublic: boolean
  /** 61 is Java 17, 69 is Java 25. */
  readonly majorVersion: number
  /** Methods called `main`. */
  readonly mains: readonly MainMethod[]
  readonly bytes: Buffer
}

export interface MainMethod {
  readonly accessFlags: number
  readonly descriptor: string
}

/** What a plain archive has room for. */
const classesMost = 65_535

/** PATH_MAX: javac writes each class into a file of its name. */
const nameBytesMost = 4096

/**
 * An annotation processor, which is the submission's own, may have written them.
 * @throws {RangeError} when the bytes end early; {Error} when they are no class files, too many, two of a name, or one of a
 * name that no file can have: the launcher could not be told of it.
 */
export function readClassFiles(bytes: Buffer): ClassFile[] {
  const classes = new Map<string, ClassFile>()
  for (let offset = 0; offset < bytes.length;) {
    const found = readClassFile(bytes.subarray(offset))
    if (classes.has(found.name)) throw new Error('two class files have one name')
    if (classes.size === classesMost) throw new Error(`more than ${classesMost} class files`)
    classes.set(found.name, found)
    offset += found.bytes.length
  }
  return [...classes.values()]
}

function readClassFile(bytes: Buffer): ClassFile {
  const reader = createReader(bytes)
  const { u2, u4, skip } = reader
  if (u4() !== 0xcafebabe) throw new Error('not a class file')
  skip(2)
  const majorVersion = u2()
  const { textOf, nameOf } = readConstants(reader)
  const accessFlags = u2()
  const name = nameOf(u2())
  const superName = nameOf(u2())
  if (name === null) throw new Error('class file has no name')
  if (name.includes('\0') || Buffer.byteLength(name) > nameBytesMost)
    throw new Error('class file has a name that no file can have')
  skip(2 * u2())
  readMembers(reader)
  const mains = readMembers(reader)
    .filter((method) => textOf(method.name) === 'main')
    .map(({ accessFlags: flags, descriptor }) => ({
      accessFlags: flags,
      descriptor: textOf(descriptor) ?? '',
    }))
  skipAttributes(reader)
  const isPublic = (accessFlags & 0x0001) !== 0
  return { name, superName, isPublic, majorVersion, mains, bytes: reader.passed() }
}

/** Reads numbers in the names of the specification, big-endian. Each throws a {RangeError} past the end. */
interface Reader {
  readonly u1: () => number
  readonly u2: () => number
  readonly u4: () => number
  readonly skip: (length: number) => void
  /** How many bytes have been read or skipped. */
  readonly offset: () => number
  readonly between: (start: number, end: number) => Buffer
  /** All bytes so far. */
  readonly passed: () => Buffer
}

function createReader(bytes: Buffer): Reader {
  let offset = 0
  return {
    u1: () => bytes.readUInt8((offset += 1) - 1),
    u2: () => bytes.readUInt16BE((offset += 2) - 2),
    u4: () => bytes.readUInt32BE((offset += 4) - 4),
    skip(length) {
      offset += length
      if (offset > bytes.length) throw new RangeError('class file ends early')
    },
    offset: () => offset,
    between: (start, end) => bytes.subarray(start, end),
    passed: () => bytes.subarray(0, offset),
  }
}

interface Constants {
  readonly textOf: (index: number) => string | null
  /** The name of a class by its constant. */
  readonly nameOf: (index: number) => string | null
}

/** Nothing is made for a constant but two numbers, as there may be millions and few are asked for. */
function readConstants({ u1, u2, skip, offset, between }: Reader): Constants {
  const count = u2()
  // Of a text its beginning and its end.
  const starts = new Int32Array(count)
  const ends = new Int32Array(count)
  // Of a class its name's constant; 0 is none.
  const classNames = new Uint16Array(count)
  for (let index = 1; index < count; index += 1) {
    const tag = u1()
    if (tag === 1) {
      const length = u2()
      starts[index] = offset()
      skip(length)
      ends[index] = offset()
    } else if (tag === 7) {
      classNames[index] = u2()
    } else if (tag === 5 || tag === 6) {
      skip(8)
      // A long or a double takes two places in the pool.
      index += 1
    } else {
      const length = constantLengths[tag]
      if (length === undefined) throw new Error(`class file constant ${tag} is unknown`)
      skip(length)
    }
  }
  // Few texts are wanted, some of them often.
  const decoded = new Map<number, string>()
  const textOf = (index: number): string | null => {
    const end = ends[index] ?? 0
    if (end === 0) return null
    const text = decoded.get(index) ?? decodeModifiedUtf8(between(starts[index] ?? 0, end))
    decoded.set(index, text)
    return text
  }
  return { textOf, nameOf: (index) => textOf(classNames[index] ?? 0) }
}

/** A field or a method; name and descriptor are constants' indices. */
interface Member {
  readonly accessFlags: number
  readonly name: number
  readonly descriptor: number
}

function readMembers(reader: Reader): Member[] {
  const members: Member[] = []
  for (let count = reader.u2(); count > 0; count -= 1) {
    members.push({ accessFlags: reader.u2(), name: reader.u2(), descriptor: reader.u2() })
    skipAttributes(reader)
  }
  return members
}

function skipAttributes({ u2, u4, skip }: Reader): void {
  for (let count = u2(); count > 0; count -= 1) {
    skip(2)
    skip(u4())
  }
}

/** Bytes after the tag, for constants of fixed length. */
const constantLengths: Readonly<Record<number, number>> = {
  3: 4,
  4: 4,
  8: 2,
  9: 4,
  10: 4,
  11: 4,
  12: 4,
  15: 3,
  16: 2,
  17: 4,
  18: 4,
  19: 2,
  20: 2,
}

/** UTF-16 units of one to three bytes (JVMS 4.4.7); plain UTF-8 decoding would spoil NUL and astral letters. */
function decodeModifiedUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  let text = ''
  for (let index = 0; index < bytes.length; index += 1) {
    const first = bytes[index] ?? 0
    const second = (bytes[index + 1] ?? 0) & 0x3f
    if (first < 0x80) {
      text += String.fromCharCode(first)
    } else if (first < 0xe0) {
      text += String.fromCharCode(((first & 0x1f) << 6) | second)
      index += 1
    } else {
      text += String.fromCharCode(
        ((first & 0x0f) << 12) | (second << 6) | ((bytes[index + 2] ?? 0) & 0x3f),
      )
      index += 2
    }
  }
  return text
}

const accessPrivate = 0x0002
const accessPublicStatic = 0x0009

/**
 * The class to tell the launcher: the public class if it has `main`, else `Main`, else the first in the source that has
 * one; else null. A `main` may be inherited.
 * @param order names of the top-level types in the source's order.
 */
export function findMainClass(
  classes: readonly ClassFile[],
  order: readonly string[],
): string | null {
  const launchable = findLaunchable(classes)
  const names = new Set(classes.map(({ name }) => name))
  // A launcher given the source would not pick nested classes.
  const isNested = ({ name }: ClassFile): boolean =>
    name.includes('$') && names.has(name.slice(0, name.lastIndexOf('$')))
  const simpleName = ({ name }: ClassFile): string => name.slice(name.lastIndexOf('/') + 1)
  const places = new Map(order.map((name, index) => [name, index] as const).toReversed())
  const place = (found: ClassFile): number => places.get(simpleName(found)) ?? order.length
  const candidates = classes
    .filter((found) => launchable.has(found) && !isNested(found))
    .toSorted((left, right) => place(left) - place(right))
  const chosen =
    candidates.find(({ isPublic }) => isPublic) ??
    candidates.find((found) => simpleName(found) === 'Main') ??
    candidates[0]
  return chosen?.name.replaceAll('/', '.') ?? null
}

/** Includes heirs of a `main`. Asks each class once, however long chains are: no two have one name. */
function findLaunchable(classes: readonly ClassFile[]): ReadonlySet<ClassFile> {
  const heirs = Map.groupBy(classes, ({ superName }) => superName)
  const launchable = new Set(
    classes.filter(({ mains, majorVersion }) =>
      mains.some((main) => isLaunchable(main, majorVersion)),
    ),
  )
  // The loop also visits what is added on the way.
  for (const found of launchable) {
    for (const heir of heirs.get(found.name) ?? []) launchable.add(heir)
  }
  return launchable
}

/** Since Java 25 a `main` need be neither static nor public, nor take arguments (JEP 512). */
function isLaunchable({ accessFlags, descriptor }: MainMethod, majorVersion: number): boolean {
  const takesArguments = descriptor === '([Ljava/lang/String;)V'
  if (majorVersion < 69) {
    return takesArguments && (accessFlags & accessPublicStatic) === accessPublicStatic
  }
  return (takesArguments || descriptor === '()V') && (accessFlags & accessPrivate) === 0
}

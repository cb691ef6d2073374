// Java sources for the tests that two ways of compiling agree. Both run the same javac with the same options, so the
// sources cover what a resident javac could get wrong: numbered names, names of files, text and messages, warnings that are
// given once, memory and stack, and each compiler phase that can refuse. Each source is whole; it has a `main` where it
// needs one to run. Which sources compile depends on the JDK's version.

/** Sources by what they show. */
export type Examples = readonly (readonly [name: string, code: Uint8Array])[]

const main = 'public static void main(String[] a) { System.out.print("ok"); }'
const inMain = (body: string, before = ''): string =>
  `import java.util.*; import java.util.function.*; import java.util.stream.*;\n${before}\npublic class Main {\n  public static void main(String[] a) throws Exception {\n${body}\n  }\n}\n`
const times = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join('\n')

const programs: Readonly<Record<string, string>> = {
  hello: `class Main { ${main} }`,
  'public class': `public class Largest { ${main} }`,
  'package statement': `package a.b.c; public class Deep { ${main} }`,
  'several classes': `class A { int x; } class B extends A { ${main} } interface C {} enum D { X }`,
  'nested, local, anonymous classes': inMain(
    'class Local { } Object o = new Object() { public String toString() { return "ok"; } }; System.out.print(o); new Local(); new Inner().x(); } static class Inner { void x() { Runnable r = () -> {}; r.run(); }',
  ),
  'records and sealed types': inMain(
    'Shape s = new Circle(2); if (s instanceof Circle c) System.out.print(c.r());',
    'sealed interface Shape permits Circle, Square {} record Circle(int r) implements Shape {} record Square(int a) implements Shape {}',
  ),
  annotations: `import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) @Repeatable(Notes.class) @interface Note { String value() default "x"; int[] n() default {1}; } @interface Notes { Note[] value(); } @Note @Note("y") class Main { ${main} }`,
  'main without class': 'void main() { System.out.print("ok"); }',
  'module imports': `import module java.base; class Main { ${main} }`,
  empty: '',
  'unicode names': `public class Größe { int π = 3; static void żółć() {} ${main} }`,
  'unicode escapes': `\\u0070ublic class M\\u0061in { ${main} }`,
  'NUL in a string': `class Main { public static void main(String[] a) { System.out.print("a\0b".length()); } }`,
  'a byte order mark': `\uFEFFclass Main { ${main} }`,
  'DOS lines and an error': `class Main {\r\n  int x = "a";\r\n  ${main}\r\n}\r\n`,
  'three hundred classes': `class Main { ${main} } ${times(300, (i) => `class C${i} { }`)}`,
  'deep but possible': `class Main { static int x = ${'('.repeat(300)}1${')'.repeat(300)}; ${main} }`,
}

/** Sources that javac compiles with a warning or a note. */
const doubtful: Readonly<Record<string, string>> = {
  'a note on unchecked': inMain('List l = new ArrayList(); l.add(1); System.out.print(l);'),
  'a note on both': inMain('List l = new ArrayList(); l.add(new Integer(1));'),
  'a note on removal': inMain('Thread.currentThread().stop(); System.runFinalization();'),
}

const mistakes: Readonly<Record<string, string>> = {
  'a missing brace': `class Main { ${main}`,
  'an unknown name': inMain('System.out.print(unknown);'),
  'a module not exported': inMain('jdk.internal.misc.Unsafe u; sun.security.provider.Sun s;'),
  'a wrong file name': `public class Other { } public class Main { ${main} }`,
  'a lost class of this file': `package p; class A { p.Main m; Main n; out.Main o; }`,
  'bad characters': 'class Main { int # = 1; ` @ \\ }',
  'a hundred and fifty errors': `class Main { ${times(150, (i) => `Missing${i} m${i};`)} ${main} }`,
  'one error on a long line': `class Main { String s = "${'y'.repeat(3000)}"; int x = "a"; ${main} }`,
  'an error under a tab and wide letters': `class Main {\n\t\tString ж = "日本語 🎈"; int x = ж;\n ${main} }`,
  'a constant too long in bytes': `class Main { static final String A = "${'ж'.repeat(20_000)}"; static final String B = A + A; ${main} }`,
  'a method too large': `class Main { static int x; static void f() { ${'x++;'.repeat(14_000)} } ${main} }`,
  'too many constants': `class Main { ${times(3300, (i) => `int a${i}=${i + 99_999};`)} ${main} }`,
  'a module declaration': 'module m { requires java.base; exports m; provides Runnable with X; }',
  'a class in java.lang': `package java.lang; public class Object { ${main} }`,
  'an annotation processor': `import javax.annotation.processing.*; import java.util.*; @SupportedAnnotationTypes("*") public class Main extends AbstractProcessor { static { System.err.println("ran"); } public boolean process(Set<? extends javax.lang.model.element.TypeElement> s, RoundEnvironment e) { System.err.println("ran"); return false; } ${main} }`,
  'a snippet of a file': `/** {@snippet file="../../etc/passwd"} {@link Nope} */ class Main { ${main} }`,
  'a class name too long for its file': `public class ${'X'.repeat(251)} { ${main} }`,
  'an inner name too long for its file': `class Main { ${main} class ${'X'.repeat(300)} { } }`,
  'a package too deep for a path': `package ${'abcdefgh.'.repeat(600)}z; class Main { ${main} }`,
  'output of the compiler’s own': `class Main { static { System.out.println("in the compiler?"); } static final int X = Integer.parseInt("1"); ${main} }`,
}

/** Sources whose bytes are not UTF-8. */
const bytes: Examples = [
  ['Latin-1 in a comment', Buffer.from(`// Gr\xf6\xdfe\nclass Main { ${main} }`, 'latin1')],
  ['Latin-1 in a string', Buffer.from(`class Main { String s = "\xe9\xe8";\n ${main} }`, 'latin1')],
  [
    'an overlong sequence',
    Buffer.from(`class Main { String s = "\xc0\x80 \xed\xa0\x80"; ${main} }`, 'latin1'),
  ],
  ['UTF-16', Buffer.from(`class Main { ${main} }`, 'utf16le')],
  [
    'random bytes',
    Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919 + (i >> 3)) % 256)),
  ],
]

const encode = (sources: Readonly<Record<string, string>>): Examples =>
  Object.entries(sources).map(([name, code]) => [name, Buffer.from(code)])

/** Programs, most of which compile. */
export const accepted: Examples = [...encode(programs), ...encode(doubtful)]

/** Sources, most of which javac refuses. */
export const refused: Examples = [...encode(mistakes), ...bytes]

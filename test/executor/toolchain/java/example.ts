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
  'package called out': `package out; public class Main { ${main} }`,
  'package called Main': `package Main; public class Main { ${main} }`,
  'several classes': `class A { int x; } class B extends A { ${main} } interface C {} enum D { X }`,
  'nested, local, anonymous classes': inMain(
    'class Local { } Object o = new Object() { public String toString() { return "ok"; } }; System.out.print(o); new Local(); new Inner().x(); } static class Inner { void x() { Runnable r = () -> {}; r.run(); }',
  ),
  'records and sealed types': inMain(
    'Shape s = new Circle(2); if (s instanceof Circle c) System.out.print(c.r());',
    'sealed interface Shape permits Circle, Square {} record Circle(int r) implements Shape {} record Square(int a) implements Shape {}',
  ),
  'switch on strings and enums': inMain(
    'switch ("x") { case "x": System.out.print(1); break; default: } switch (E.A) { case A: System.out.print(2); case B: }',
    'enum E { A, B }',
  ),
  'patterns in switch': inMain(
    'Object o = 5; System.out.print(switch (o) { case Integer i when i > 3 -> "big"; case String s -> s; default -> "x"; });',
  ),
  lambdas: inMain(
    'Function<Integer, Function<Integer, Integer>> add = x -> y -> x + y; System.out.print(add.apply(1).apply(2)); Supplier<List<String>> s = ArrayList::new; System.out.print(s.get());',
  ),
  'string concatenation': inMain(
    'int i = 1; long l = 2; String s = "a" + i + l + 3.5f + \'c\' + null + true; System.out.print(s);',
  ),
  assertions: inMain('assert a.length < 5 : "many"; System.out.print("ok");'),
  'inner class captures': `class Main { int f = 4; class In { int g() { return f; } class Deep { int h() { return f + g(); } } } public static void main(String[] a) { System.out.print(new Main().new In().new Deep().h()); } }`,
  'enum with bodies': inMain(
    'System.out.print(Op.ADD.apply(1, 2));',
    'enum Op { ADD { int apply(int x, int y) { return x + y; } }; abstract int apply(int x, int y); }',
  ),
  annotations: `import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) @Repeatable(Notes.class) @interface Note { String value() default "x"; int[] n() default {1}; } @interface Notes { Note[] value(); } @Note @Note("y") class Main { ${main} }`,
  'bridge methods': inMain(
    'Comparable<K> k = new K(); System.out.print(k.compareTo(new K()));',
    'class K implements Comparable<K> { public int compareTo(K o) { return 0; } }',
  ),
  'main without class': 'void main() { System.out.print("ok"); }',
  'module imports': `import module java.base; class Main { ${main} }`,
  'a preview feature': inMain('Object o = 5; if (o instanceof int i) System.out.print(i);'),
  empty: '',
  'a package alone': 'package p;',
  'a semicolon alone': ';',
  'unicode names': `public class Größe { int π = 3; static void żółć() {} ${main} }`,
  'letters beyond the first plane': `class Main { static int 𝒳 = 1; public static void main(String[] a) { System.out.print("🎈" + 𝒳); } }`,
  'unicode escapes': `\\u0070ublic class M\\u0061in { ${main} }`,
  'NUL in a string': `class Main { public static void main(String[] a) { System.out.print("a\0b".length()); } }`,
  'a byte order mark': `\uFEFFclass Main { ${main} }`,
  'carriage returns': `class Main {\r  ${main}\r}\r`,
  'DOS lines and an error': `class Main {\r\n  int x = "a";\r\n  ${main}\r\n}\r\n`,
  'three hundred classes': `class Main { ${main} } ${times(300, (i) => `class C${i} { }`)}`,
  'a class without main': 'class Nothing { }',
  'a long string': `class Main { static String s = "${'x'.repeat(60_000)}"; ${main} }`,
  'deep but possible': `class Main { static int x = ${'('.repeat(300)}1${')'.repeat(300)}; ${main} }`,
}

/** Sources that javac compiles with a warning or a note. */
const doubtful: Readonly<Record<string, string>> = {
  'a note on unchecked': inMain('List l = new ArrayList(); l.add(1); System.out.print(l);'),
  'a note on both': inMain('List l = new ArrayList(); l.add(new Integer(1));'),
  'a note on removal': inMain('Thread.currentThread().stop(); System.runFinalization();'),
  'an internal class': inMain('System.out.print(sun.misc.Unsafe.class);'),
  'suppressed warnings': `@SuppressWarnings({"unchecked", "rawtypes", "nonsense"}) class Main { static java.util.List l = new java.util.ArrayList(); static { l.add(1); } ${main} }`,
  'synchronized on a value': inMain('Integer i = 5; synchronized (i) { System.out.print(i); }'),
}

const mistakes: Readonly<Record<string, string>> = {
  'a missing brace': `class Main { ${main}`,
  'not Java at all': '#include <iostream>\nint main() { std::cout << 1; }',
  'an unknown name': inMain('System.out.print(unknown);'),
  'an unknown import': `import a.b.C; import static java.lang.Math.nope; class Main { ${main} }`,
  'wrong types': inMain(
    'int x = "a"; String s = 1; boolean b = 1; char c = 70000; byte d = 200; long l = 1e5; List<int> i;',
  ),
  uninitialized: inMain('int x; if (a.length > 1) x = 1; System.out.print(x);'),
  'duplicate names': `class Main { int x; int x; void f() {} void f() {} ${main} } class Main {}`,
  'a cycle': `class Main extends B { ${main} } class B extends Main {}`,
  'generics that do not fit': inMain(
    'List<Object> l = new ArrayList<String>(); Map<String> m; List<?> w = List.of(1); w.add(2); Collections.max(List.of(new Object()));',
  ),
  'a module not exported': inMain('jdk.internal.misc.Unsafe u; sun.security.provider.Sun s;'),
  'a wrong file name': `public class Other { } public class Main { ${main} }`,
  'its own name elsewhere': `class Helper { } class User { Main m; Missing x; }`,
  'a lost class of this file': `package p; class A { p.Main m; Main n; out.Main o; }`,
  'bad literals': inMain("char c = ''; char d = 'ab'; String s = \"\\q\"; String t = \"open;\n"),
  'an open comment': `class Main { ${main} /* `,
  'bad characters': 'class Main { int # = 1; ` @ \\ }',
  'bad unicode escapes': `class Main { String s = "\\u12"; int \\uD800 = 1; ${main} }`,
  'a hundred and fifty errors': `class Main { ${times(150, (i) => `Missing${i} m${i};`)} ${main} }`,
  'one error on a long line': `class Main { String s = "${'y'.repeat(3000)}"; int x = "a"; ${main} }`,
  'an error under a tab and wide letters': `class Main {\n\t\tString ж = "日本語 🎈"; int x = ж;\n ${main} }`,
  'a constant too long': `class Main { static final String S = "${'z'.repeat(65_000)}"; ${main} }`,
  'a constant too long in bytes': `class Main { static final String A = "${'ж'.repeat(20_000)}"; static final String B = A + A; ${main} }`,
  'a method too large': `class Main { static int x; static void f() { ${'x++;'.repeat(14_000)} } ${main} }`,
  'too many constants': `class Main { ${times(3300, (i) => `int a${i}=${i + 99_999};`)} ${main} }`,
  'too many parameters': `class Main { void f(${times(300, (i) => `int p${i}${i < 299 ? ',' : ''}`)}) {} ${main} }`,
  'too many dimensions': `class Main { int${'[]'.repeat(256)} x; ${main} }`,
  'a module declaration': 'module m { requires java.base; exports m; provides Runnable with X; }',
  'a package annotation': '@Deprecated package p; class Main { }',
  'a class in java.lang': `package java.lang; public class Object { ${main} }`,
  'a class that hides String': `class String { } class Main { public static void main(String[] a) { java.lang.String s = new String(); } }`,
  'a class that hides System': `class System { } class Main { ${main} }`,
  'an annotation processor': `import javax.annotation.processing.*; import java.util.*; @SupportedAnnotationTypes("*") public class Main extends AbstractProcessor { static { System.err.println("ran"); } public boolean process(Set<? extends javax.lang.model.element.TypeElement> s, RoundEnvironment e) { System.err.println("ran"); return false; } ${main} }`,
  'a snippet of a file': `/** {@snippet file="../../etc/passwd"} {@link Nope} */ class Main { ${main} }`,
  'a path as an import': 'import ..etc.passwd; class Main { }',
  'a class name like a path': 'public class ../../x { }',
  'a class name with dollars': `public class A$B$1 { ${main} static class C$ {} }`,
  'a class name too long for its file': `public class ${'X'.repeat(251)} { ${main} }`,
  'an inner name too long for its file': `class Main { ${main} class ${'X'.repeat(300)} { } }`,
  'a package too deep for a path': `package ${'abcdefgh.'.repeat(600)}z; class Main { ${main} }`,
  'types in types': `import java.util.*; class Main { ${'List<'.repeat(200)}String${'>'.repeat(200)} x; ${main} }`,
  'a surrogate alone': `class Main { String s = "\\ud800"; ${main} } // \\ud800`,
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

// Java sources of every kind that javac has something to say about, for the tests that two ways of compiling agree.
// Each is whole; `main` is where the program needs one to run. Which of them compile depends on the JDK's version.

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
  'a generic record': inMain(
    'System.out.print(new Pair<>(1, "x"));',
    'record Pair<A, B>(A a, B b) { Pair { Objects.requireNonNull(a); } }',
  ),
  'switch expressions': inMain(
    'int d = 3; System.out.print(switch (d) { case 1, 7 -> "a"; default -> { yield "b"; } });',
  ),
  'switch on strings and enums': inMain(
    'switch ("x") { case "x": System.out.print(1); break; default: } switch (E.A) { case A: System.out.print(2); case B: }',
    'enum E { A, B }',
  ),
  'patterns in switch': inMain(
    'Object o = 5; System.out.print(switch (o) { case Integer i when i > 3 -> "big"; case String s -> s; default -> "x"; });',
  ),
  'record patterns': inMain(
    'Object o = new P(1, 2); if (o instanceof P(int x, int y)) System.out.print(x + y);',
    'record P(int x, int y) {}',
  ),
  'text block': inMain('System.out.print("""\n    a\n      b\\\n    c\n    """);'),
  streams: inMain(
    'System.out.print(IntStream.range(0, 9).boxed().collect(Collectors.groupingBy(i -> i % 3, TreeMap::new, Collectors.counting())));',
  ),
  lambdas: inMain(
    'Function<Integer, Function<Integer, Integer>> add = x -> y -> x + y; System.out.print(add.apply(1).apply(2)); Supplier<List<String>> s = ArrayList::new; System.out.print(s.get());',
  ),
  'intersection casts': inMain('Runnable r = (Runnable & java.io.Serializable) () -> {}; r.run();'),
  'try with resources': inMain(
    'try (var x = new java.io.StringReader("z"); AutoCloseable y = () -> System.out.print("closed")) { System.out.print((char) x.read()); }',
  ),
  'string concatenation': inMain(
    'int i = 1; long l = 2; String s = "a" + i + l + 3.5f + \'c\' + null + true; System.out.print(s);',
  ),
  'constants folded': inMain(
    'final int a1 = 3; System.out.print(a1 * 7 + (char) (97 + 1) + "x" + (1 << 31 >>> 3) + 0x1p3 + 1e-5);',
  ),
  assertions: inMain('assert a.length < 5 : "many"; System.out.print("ok");'),
  'labelled loops': inMain(
    'outer: for (int i = 0; ; i++) { for (;;) { if (i > 3) break outer; continue outer; } } System.out.print("ok");',
  ),
  'inner class captures': `class Main { int f = 4; class In { int g() { return f; } class Deep { int h() { return f + g(); } } } public static void main(String[] a) { System.out.print(new Main().new In().new Deep().h()); } }`,
  'enum with bodies': inMain(
    'System.out.print(Op.ADD.apply(1, 2));',
    'enum Op { ADD { int apply(int x, int y) { return x + y; } }; abstract int apply(int x, int y); }',
  ),
  'interface with default and private methods': inMain(
    'new I() {}.x();',
    'interface I { default void x() { y(); } private void y() { System.out.print("ok"); } static void z() {} }',
  ),
  annotations: `import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) @Repeatable(Notes.class) @interface Note { String value() default "x"; int[] n() default {1}; } @interface Notes { Note[] value(); } @Note @Note("y") class Main { ${main} }`,
  'bridge methods': inMain(
    'Comparable<K> k = new K(); System.out.print(k.compareTo(new K()));',
    'class K implements Comparable<K> { public int compareTo(K o) { return 0; } }',
  ),
  'covariant returns and generics': inMain(
    'System.out.print(new S().get().length());',
    'abstract class T<X> { abstract X get(); } class S extends T<String> { String get() { return "abc"; } }',
  ),
  'native and strictfp': `class Main { native void n(); strictfp double d() { return 1; } ${main} }`,
  'synchronized and volatile': inMain(
    'synchronized (a) { System.out.print(new Main2().x); }',
    'class Main2 { volatile int x; transient long y; synchronized void z() {} }',
  ),
  'serial version': `class Main implements java.io.Serializable { ${main} }`,
  'main without class': 'void main() { System.out.print("ok"); }',
  'module imports': `import module java.base; class Main { ${main} }`,
  'flexible constructors': `class B { B(int x) {} } class Main extends B { Main(int y) { if (y < 0) throw new IllegalArgumentException(); super(y); } ${main} }`,
  'unnamed variables': inMain(
    'for (var _ : List.of(1)) { try { System.out.print("x"); } catch (Exception _) {} }',
  ),
  'string templates': inMain('int x = 1; System.out.print(STR."a\\{x}");'),
  'a preview feature': inMain('Object o = 5; if (o instanceof int i) System.out.print(i);'),
  empty: '',
  'white space alone': ' \n\t\n',
  'a comment alone': '// nothing',
  'imports alone': 'import java.util.*;',
  'a package alone': 'package p;',
  'a semicolon alone': ';',
  'unicode names': `public class Größe { int π = 3; static void żółć() {} ${main} }`,
  'letters beyond the first plane': `class Main { static int 𝒳 = 1; public static void main(String[] a) { System.out.print("🎈" + 𝒳); } }`,
  'unicode escapes': `\\u0070ublic class M\\u0061in { ${main} }`,
  'NUL in a string': `class Main { public static void main(String[] a) { System.out.print("a\0b".length()); } }`,
  'a byte order mark': `\uFEFFclass Main { ${main} }`,
  'carriage returns': `class Main {\r  ${main}\r}\r`,
  'DOS lines and an error': `class Main {\r\n  int x = "a";\r\n  ${main}\r\n}\r\n`,
  'two hundred methods': `class Main { ${times(200, (i) => `static int m${i}(int x) { return x * ${i} + m${Math.max(0, i - 1)}(${i}); }`)} ${main} }`,
  'three hundred classes': `class Main { ${main} } ${times(300, (i) => `class C${i} { }`)}`,
  'a class without main': 'class Nothing { }',
  'a long string': `class Main { static String s = "${'x'.repeat(60_000)}"; ${main} }`,
  'big arrays': `class Main { static int[] x = { ${times(5000, (i) => `${i},`)} }; ${main} }`,
  'deep but possible': `class Main { static int x = ${'('.repeat(300)}1${')'.repeat(300)}; ${main} }`,
}

/** What javac compiles with a warning or a note. */
const doubtful: Readonly<Record<string, string>> = {
  'a note on unchecked': inMain('List l = new ArrayList(); l.add(1); System.out.print(l);'),
  'a note on deprecation': inMain('System.out.print(new Integer(5)); new Date(1, 2, 3);'),
  'a note on both': inMain('List l = new ArrayList(); l.add(new Integer(1));'),
  'a note on removal': inMain('Thread.currentThread().stop(); System.runFinalization();'),
  'a finalizer': `class Main { protected void finalize() { } ${main} }`,
  'an internal class': inMain('System.out.print(sun.misc.Unsafe.class);'),
  'a security manager': inMain('System.out.print(System.getSecurityManager());'),
  'a varargs warning': inMain('System.out.print(Arrays.asList(null)); String.format("%s", null);'),
  'a this escape': `public class Main { public Main() { go(); } public void go() {} ${main} }`,
  'dangling comments': `class Main { /** x */ /** y */ ${main} }`,
  'an underscore name': inMain('int _ = 3; System.out.print(_);'),
  'a lossy conversion': inMain(
    'int i = 1; i += 2.5; short s = 1; s *= 3; System.out.print(i + s);',
  ),
  'a division by zero': inMain('System.out.print(1 / 0);'),
  'a restricted name': 'class record { } class Main { int yield; void x() { yield = 3; } }',
  'suppressed warnings': `@SuppressWarnings({"unchecked", "rawtypes", "nonsense"}) class Main { static java.util.List l = new java.util.ArrayList(); static { l.add(1); } ${main} }`,
  'synchronized on a value': inMain('Integer i = 5; synchronized (i) { System.out.print(i); }'),
}

const mistakes: Readonly<Record<string, string>> = {
  'a missing semicolon': inMain('int x = 1\nSystem.out.print(x);'),
  'a missing brace': `class Main { ${main}`,
  'a brace too many': `class Main { ${main} } }`,
  'not Java at all': '#include <iostream>\nint main() { std::cout << 1; }',
  'python instead': 'print("hello")\nfor i in range(3):\n    pass\n',
  'an unknown name': inMain('System.out.print(unknown);'),
  'an unknown type': inMain('Foo f = new Foo(); Bar.baz();'),
  'an unknown import': `import a.b.C; import static java.lang.Math.nope; class Main { ${main} }`,
  'an unknown method': inMain('"x".foo(1, "y"); Math.max("a");'),
  'wrong types': inMain(
    'int x = "a"; String s = 1; boolean b = 1; char c = 70000; byte d = 200; long l = 1e5; List<int> i;',
  ),
  'no return': inMain('f(); } static int f() {'),
  unreachable: inMain('return; System.out.print(1);'),
  'an endless loop before': inMain('while (true) {} System.out.print(1);'),
  uninitialized: inMain('int x; if (a.length > 1) x = 1; System.out.print(x);'),
  'a final assigned twice': inMain('final int x = 1; x = 2; for (final int y : new int[1]) y++;'),
  'an effectively final capture': inMain('int x = 1; x++; Runnable r = () -> System.out.print(x);'),
  'an unreported exception': `class Main { static void f() throws java.io.IOException {} public static void main(String[] a) { f(); } }`,
  'an exception never thrown': inMain('try { } catch (java.io.IOException e) { }'),
  'duplicate names': `class Main { int x; int x; void f() {} void f() {} ${main} } class Main {}`,
  'a cycle': `class Main extends B { ${main} } class B extends Main {}`,
  'an abstract instance': inMain('new Abs(); new I();', 'abstract class Abs {} interface I {}'),
  'unimplemented methods': inMain('', 'class R implements Runnable, Comparable<R> {}'),
  'a weaker override': inMain(
    '',
    'class R { String toString() { return ""; } public int hashCode() throws Exception { return 1; } }',
  ),
  'a final class extended': inMain(
    '',
    'class S extends String {} class T extends Enum<T> {} class U extends Record {}',
  ),
  'a sealed class not permitted': inMain(
    '',
    'sealed interface X permits Y {} final class Y implements X {} final class Z implements X {}',
  ),
  'a switch not exhaustive': inMain(
    'System.out.print(switch (E.A) { case A -> 1; });',
    'enum E { A, B }',
  ),
  'duplicate cases': inMain('switch (1) { case 1: case 1: default: default: }'),
  'dominated patterns': inMain(
    'Object o = 1; switch (o) { case Object x -> {} case String s -> {} }',
  ),
  'an ambiguous call': `class Main { static void f(Integer a, Object b) {} static void f(Object a, Integer b) {} public static void main(String[] a) { f(1, 2); } }`,
  'generics that do not fit': inMain(
    'List<Object> l = new ArrayList<String>(); Map<String> m; List<?> w = List.of(1); w.add(2); Collections.max(List.of(new Object()));',
  ),
  'inference that fails': inMain(
    'var x = null; var y = () -> 1; var z = {1}; List<String> s = Stream.of(1).toList();',
  ),
  'static context': `class Main { int x; void f() {} public static void main(String[] a) { x = 1; f(); this.f(); super.toString(); } }`,
  'a private member': inMain(
    'new Other().x = 1;',
    'class Other { private int x; private Other() {} }',
  ),
  'a module not exported': inMain('jdk.internal.misc.Unsafe u; sun.security.provider.Sun s;'),
  'a wrong file name': `public class Other { } public class Main { ${main} }`,
  'its own name elsewhere': `class Helper { } class User { Main m; Missing x; }`,
  'a lost class of this file': `package p; class A { p.Main m; Main n; out.Main o; }`,
  'a number too large': inMain(
    'int x = 99999999999; long l = 99999999999999999999L; int o = 09; int h = 0x; float f = 1e99f; int u = 1__;',
  ),
  'bad literals': inMain("char c = ''; char d = 'ab'; String s = \"\\q\"; String t = \"open;\n"),
  'an open comment': `class Main { ${main} /* `,
  'an open text block': 'class Main { String s = """\n  x ',
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
  'a wrong doc comment': `/** <b> @param x {@code */ class Main { /** @return */ void f() {} ${main} }`,
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

/** Sources whose bytes are no UTF-8. */
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

/** What javac, for the most part, refuses. */
export const refused: Examples = [...encode(mistakes), ...bytes]

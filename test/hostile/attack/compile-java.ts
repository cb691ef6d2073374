// Attacks through javac: annotation processors, inference, constants, names, and the class files that it writes.
import { compile } from '../attack.ts'
import type { Attack, Fate } from '../attack.ts'

const stopped: readonly Fate[] = [
  'cpu_limit',
  'wall_limit',
  'memory_limit',
  'output_limit',
  'crashed',
  'signaled',
]
const either: readonly Fate[] = [...stopped, 'exited']
// The message may quote the whole line and so exceed the limit on messages.
const refused: readonly Fate[] = ['crashed', 'output_limit']
const main = ' public static void main(String[] arguments) { System.out.println("held"); } '
const java = (name: string, fates: readonly Fate[], source: string): Attack =>
  compile(name, fates, { java: source })
const times = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join('\n')

export const javaCompileAttacks: readonly Attack[] = [
  java(
    'an annotation processor in the source does not run',
    ['exited'],
    `import javax.annotation.processing.*; import javax.lang.model.element.*; import java.util.*;
@SupportedAnnotationTypes("*") class Spy extends AbstractProcessor {
  static { System.err.println("ESCAPED"); }
  public boolean process(Set<? extends TypeElement> all, RoundEnvironment round) { System.err.println("ESCAPED"); return false; } }
@Deprecated class Main {${main}}`,
  ),
  java(
    'a compiler plugin in the source does not run',
    ['exited'],
    `class Main implements com.sun.source.util.Plugin { static { if (ProcessHandle.current().info().command().orElse("").contains("javac")) System.err.println("ESCAPED"); }
  public String getName() { return "x"; } public void init(com.sun.source.util.JavacTask task, String... words) { System.err.println("ESCAPED"); }${main}}`,
  ),
  java(
    'static initializers do not run in the compiler',
    ['exited'],
    `class Main { static final int X = touch(); static int touch() { System.err.println("only at run time"); return 1; }${main}}`,
  ),
  java(
    'generic methods that double end',
    stopped,
    `import java.util.function.*; class Main { static <T> T f(T a, T b) { return a; } static Object x = ${'f('.repeat(40)}(Supplier<?>) () -> 1${', () -> 1)'.repeat(40)}; static <A, B extends Comparable<A>> void g(A a, B b) {}${main}}`,
  ),
  java(
    'lambdas in lambdas end',
    either,
    `import java.util.function.*; class Main { static <T> T f(Supplier<T> a) { return a.get(); } static <T> T f(Callable<T> a) { return null; } interface Callable<T> { T call() throws Exception; } static Object x = ${'f(() -> '.repeat(24)}1${')'.repeat(24)};${main}}`,
  ),
  java(
    'types in types 2,000 deep end',
    either,
    `import java.util.*; class Main { ${'List<'.repeat(2000)}String${'>'.repeat(2000)} x;${main}}`,
  ),
  java(
    'a class that bounds itself ends',
    either,
    `class N<Z> {} interface C<X> extends Main2<N<? super C<C<X>>>> {} interface Main2<T> {} class Main { Main2<? super C<Byte>> f(C<Byte> c) { return c; }${main}}`,
  ),
  java(
    'a constant string that doubles ends',
    stopped,
    `class Main { static final String S0 = "xxxxxxxxxxxxxxxx"; ${times(40, (i) => `static final String S${i + 1} = S${i} + S${i};`)}${main}}`,
  ),
  java(
    'a constant pool too large ends',
    either,
    `class Main { static final String[] ALL = { ${times(7000, (i) => `"s${i}",`)} };${main}}`,
  ),
  java(
    'a method too large ends',
    either,
    `class Main { static int x; static void f() { ${'x++;'.repeat(14_000)} }${main}}`,
  ),
  java(
    'an expression 10,000 deep ends',
    either,
    `class Main { static int x = ${'('.repeat(10_000)}1${')'.repeat(10_000)};${main}}`,
  ),
  java(
    'a sum 15,000 long ends',
    either,
    `class Main { static int y; static int x = ${'y+'.repeat(15_000)}1;${main}}`,
  ),
  java(
    'blocks 8,000 deep end',
    either,
    `class Main { static void f() ${'{'.repeat(8000)}${'}'.repeat(8000)}${main}}`,
  ),
  java(
    'classes 300 deep end',
    either,
    `class Main { ${times(300, (i) => `static class C${i} {`)} ${'}'.repeat(300)}${main}}`,
  ),
  java(
    'finally blocks that double end',
    stopped,
    `class Main { static int x; static void f() { ${'try { x++; } finally { '.repeat(26)} x++; ${'}'.repeat(26)} }${main}}`,
  ),
  java(
    'patterns that multiply end',
    either,
    `class Main { sealed interface S permits A, B, C {} record A() implements S {} record B() implements S {} record C() implements S {} record P(S a, S b, S c, S d, S e, S f, S g, S h, S i, S j) {} static int f(P p) { return switch (p) { case P(A a, A b, A c, A d, A e, A f, A g, A h, A i, A j) -> 1; case P(B a, B b, B c, B d, B e, B f, B g, B h, B i, B j) -> 2; }; }${main}}`,
  ),
  java(
    'a flood of errors ends',
    stopped,
    `class Main { ${times(2500, (i) => `Unknown${i} x${i};`)} }`,
  ),
  java(
    'a flood of warnings ends',
    either,
    `class Main { ${times(1500, (i) => `java.util.List f${i}(java.util.List l) { l.add(new Thread().getId()); return l; }`)}${main}}`,
  ),
  java(
    'two thousand classes come out and run',
    ['exited', 'cpu_limit', 'wall_limit'],
    `class Main {${main}} ${times(2000, (i) => `class C${i} {}`)}`,
  ),
  java(
    'a name too long for a file ends',
    either,
    `class Main {${main} class ${'X'.repeat(300)} {} }`,
  ),
  java(
    'a public name too long for a file ends',
    either,
    `public class ${'X'.repeat(250)} {${main}}`,
  ),
  java('a package 400 deep ends', either, `package ${'a.'.repeat(400)}b; class Main {${main}}`),
  java(
    'a public class called like the output directory ends',
    ['exited'],
    `public class out {${main}}`,
  ),
  java('a public class with a foreign name ends', ['exited'], `public class Größe$Ж {${main}}`),
  java(
    'an escape that closes a comment ends',
    either,
    `class Main {${main} /* \\u002a\\u002f */ int x; // \\u000a } class Other {`,
  ),
  java(
    'a class in the place of the platform’s ends',
    refused,
    `package java.lang; public class Object {${main}}`,
  ),
  java(
    'a module that opens everything ends',
    either,
    `open module evil { requires java.base; requires jdk.compiler; requires jdk.attach; }`,
  ),
  java(
    'a cycle of classes ends',
    refused,
    `class Main extends B {${main}} class B extends Main {}`,
  ),
  java(
    'files of the host’s cannot be imported',
    refused,
    `import @DIRECTORY@.secret; class Main {${main}}`,
  ),
  java(
    'a public name one byte too long for a file is refused',
    refused,
    `public class ${'X'.repeat(251)} {${main}}`,
  ),
  java(
    'a search for what 2,000 types have in common ends',
    stopped,
    `import java.util.*; class Main { static Object x = Arrays.asList(${times(2000, (i) => (i % 2 === 1 ? `Map.of(1, "a", ${i}, List.of(${i})),` : `List.of(Set.of(${i}, ${i}L)),`))} 1);${main}}`,
  ),
  java(
    'a class left behind for another source is not found',
    ['exited'],
    `package left; public class Behind { public static int x; ${main}}`,
  ),
  java(
    'nor is the class that another source left behind',
    refused,
    `package left; class Main { int x = Behind.x;${main}}`,
  ),
  java(
    'a snippet of a host’s file is not read',
    ['exited'],
    `/** {@snippet file="@DIRECTORY@/secret"} */ class Main {${main}}`,
  ),
  java(
    'words for the compiler’s own output stay in the source',
    refused,
    `class Main { static { java.lang.System.out.println("\0\0\0\0"); ${'\u0000'.repeat(8)} }${main}}`,
  ),
  java('a source of NUL bytes ends', refused, '\0'.repeat(1000)),
  java('a comment that never ends ends', refused, `class Main {${main}} /* ${'x'.repeat(60_000)}`),
  java(
    'a text block that never ends ends',
    refused,
    `class Main { String s = """\n${'x'.repeat(60_000)}`,
  ),
]

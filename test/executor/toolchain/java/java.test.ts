// Java sources of every shape: whatever a single file looks like, the class that its author means is the class that runs.
import t from 'tap'
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import { findJava } from '../../../../src/executor/toolchain/java/java.ts'
import { execute, layFiles, run } from '../../../helper/executor.ts'
import { startWithResident } from './comparison.ts'

// A resident javac compiles, as in a worker. same.slow.ts tests that a javac for one source answers alike.
const executor = await startWithResident(t)

const main = (text: string): string =>
  `public static void main(String[] a) { System.out.print("${text}"); }`

const heirs = Array.from({ length: 200 }, (_, n) => `class C${n} extends C${n + 1} { }`).join('')

const shapes: readonly (readonly [name: string, code: string, printed: string])[] = [
  ['a public class of any name', `public class Größe { ${main('public')} }`, 'public'],
  ['a package statement', `package a.b.c; public class Deep { ${main('packaged')} }`, 'packaged'],
  ['no public class', `class A { int x; } class B { ${main('B')} } class C { ${main('C')} }`, 'B'],
  ['a later letter first', `class Z { ${main('Z')} } class A { ${main('A')} }`, 'Z'],
  ['a name that begins alike', `class A { } class AB { ${main('AB')} }`, 'AB'],
  ['a name of another', `class Thread extends java.lang.Thread { } class B { ${main('B')} }`, 'B'],
  ['Main beside another main', `class First { ${main('First')} } class Main { ${main('Main')} }`, 'Main'],
  ['the public class beside Main', `class Main { ${main('Main')} } public class Other { ${main('Other')} }`, 'Other'],
  ['a public class without main', `public class Data { } class Runner { ${main('Runner')} }`, 'Runner'],
  ['a main that returns a number', `class A { public static int main(String[] a) { return 1; } } class B { ${main('B')} }`, 'B'],
  ['main in an interface', `interface I { static void main(String[] a) { System.out.print("I"); } }`, 'I'],
  ['main in an enum', `public enum E { A; ${main('enum')} }`, 'enum'],
  ['main in a record', `public record R(int n) { ${main('record')} }`, 'record'],
  ['main with many words', 'class A { public static void main(final String... a) { System.out.print("words"); } }', 'words'],
  ['an inherited main', `class Base { ${main('Base')} } public class Derived extends Base { }`, 'Base'],
  ['a main of a generic class', `package p; class C extends p.B<String> { } class B<T> { ${main('generic')} }`, 'generic'],
  ['a main of the last of many classes', `${heirs} class C200 { ${main('the last')} }`, 'the last'],
  ['a main of none of many classes', `${heirs} class C200 { } class D { ${main('D')} }`, 'D'],
  ['nested classes with mains', `public class Outer { static class Inner { ${main('Inner')} } ${main('Outer')} }`, 'Outer'],
  ['misleading comments', `/* public class No { */ // public class Neither {\npublic /* x */ final class Yes { String s = "public class Nor {"; ${main('Yes')} }`, 'Yes'],
  [
    'anonymous classes and lambdas',
    'public class L { public static void main(String[] a) { Runnable r = () -> System.out.print("lambda"); new Object() { void go() { r.run(); } }.go(); } }',
    'lambda',
  ],
] // prettier-ignore

for (const [name, code, expected] of shapes) {
  t.test(name, async (t) => {
    const outcome = await execute(executor, 'java', code)
    t.equal(outcome.run?.stdout, expected, `${outcome.compile?.stderr}${outcome.run?.stderr}`)
  })
}

const ends = [
  ['without any main the JVM says so itself', 'class Nothing { }', { exitCode: 1, stderr: /main/i }],
  ['a nested class is none to run', `class A { static class B { ${main('B')} } }`, { exitCode: 1, stderr: /Main method not found in class A/ }],
  ['an empty file compiles to nothing and cannot run', '', { exitCode: 1 }],
  [
    "an uncaught exception is the program's own end",
    'class Main { public static void main(String[] a) { throw new RuntimeException("mine"); } }',
    { exitCode: 1, stderr: /RuntimeException: mine/ },
  ],
  [
    'exit status 3 alone is no sign of memory',
    'class Main { public static void main(String[] a) { System.exit(3); } }',
    { exitCode: 3 },
  ],
] as const // prettier-ignore

for (const [name, code, expected] of ends)
  t.test(name, async (t) => {
    t.match(await run(executor, 'java', code), { ending: 'exited', ...expected })
  })

t.test('memory outside the heap counts too', async (t) => {
  const code =
    'import java.nio.ByteBuffer; class Main { public static void main(String[] a) { var kept = new java.util.ArrayList<ByteBuffer>(); while (true) kept.add(ByteBuffer.allocateDirect(1 << 24)); } }'
  t.equal((await run(executor, 'java', code)).ending, 'memory_limit')
})

t.test('threads are limited, and that is no memory limit', async (t) => {
  const code =
    'class Main { public static void main(String[] a) { for (int i = 0; i < 1000; i++) { var t = new Thread(() -> { try { Thread.sleep(60000); } catch (InterruptedException e) { } }); t.setDaemon(true); t.start(); } } }'
  const phase = await run(executor, 'java', code)
  t.equal(phase.ending, 'exited')
  t.not(phase.exitCode, 0)
  t.match(phase.stderr, /unable to create native thread/)
})

t.test('a hundred threads are allowed', async (t) => {
  const code =
    'class Main { public static void main(String[] a) throws Exception { var all = new Thread[100]; for (int i = 0; i < 100; i++) (all[i] = new Thread(() -> { try { Thread.sleep(50); } catch (InterruptedException e) { } })).start(); for (var t : all) t.join(); System.out.print("done"); } }'
  t.match(await run(executor, 'java', code), { exitCode: 0, stdout: 'done' })
})

t.test('an annotation processor does not run', async (t) => {
  const code =
    'import javax.annotation.processing.*; public class Main extends AbstractProcessor { public boolean process(java.util.Set<? extends javax.lang.model.element.TypeElement> s, RoundEnvironment e) { System.err.println("ran"); return false; } public static void main(String[] a) { System.out.print("ok"); } }'
  const outcome = await execute(executor, 'java', code)
  t.match(outcome.run, { stdout: 'ok' })
  t.notMatch(outcome.compile!.stderr, /ran/)
})

t.test('the file is named after the public top-level type', async (t) => {
  const body = '{ public static void main(String[] a) { throw new RuntimeException(); } }'
  const long = 'X'.repeat(249)
  for (const [source, name] of [
    [`@Deprecated public final class A<T> ${body}`, 'A'],
    [`abstract public class A ${body}`, 'A'],
    [`public sealed interface S permits T ${body} final class T implements S { }`, 'S'],
    [`\\u0070ublic class A ${body}`, 'A'],
    [`class B { String s = "}"; char c = '}'; public class Inner { } } class C ${body}`, 'Main'],
    [`class B { String s = """\n } public class X {\n """; } public class Y ${body}`, 'Y'],
    [`public class ${long} ${body}`, long],
  ] as const) {
    const outcome = await execute(executor, 'java', source)
    t.match(outcome.run?.stderr, `(${name}.java:`, outcome.compile?.stderr ?? '')
  }
  for (const name of ['X'.repeat(251), 'Ж'.repeat(126)]) {
    const { compile } = await execute(executor, 'java', `public class ${name} { }`)
    t.match(compile, { exitCode: 1, stderr: /^Main\.java:1: error: class .* is public/ })
  }
})

t.test('a main of another file runs where the first has none', async (t) => {
  const files = layFiles({ 'Other.java': `public class Other { ${main('other')} }` })
  for (const [code, expected] of [
    [`class Main { ${main('Main')} }`, 'Main'],
    ['class Unused { }', 'other'],
    ['class Heir extends Other { }', 'other'],
  ] as const) {
    const outcome = await execute(executor, 'java', code, '', { files })
    t.equal(outcome.run?.stdout, expected, outcome.compile?.stderr ?? '')
  }
  const taken = { files: layFiles({ 'A.java': '' }) }
  const outcome = await execute(executor, 'java', 'public class A { }', '', taken)
  t.match(outcome.compile, { exitCode: 1, stderr: 'A.java: this name is taken\n' })
})

t.test('what names no class that a launcher could be told of is no program', async (t) => {
  const { compiler } = await findJava(ordinaryToolHost, defaultSettings)
  const source = { code: Buffer.alloc(0), files: [], arguments: [] }
  const read = (text: string): unknown => compiler?.readArtefact(Buffer.from(text), source)
  t.match(read('Main\n'), { entry: 'Main', content: Buffer.alloc(0) })
  for (const text of ['', 'A', '\nA', 'A\0B\n', `${'x'.repeat(4096)}\n`]) t.throws(() => read(text))
})

// What a request gives a program besides code and input: files, and arguments of its compiler. Tested in the languages that are compiled and
// run in special ways.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { Language } from '#language'
import { makeDirectory } from '../helper/directory.ts'
import { accelerated, cacheScope, execute, layFiles, startExecutor } from '../helper/executor.ts'
import type { More, TextOutcome } from '../helper/executor.ts'
import { processorWords } from '../helper/java-class.ts'

const executor = await startExecutor(t, {
  slots: 1,
  languages: [...accelerated, 'c', 'typescript'],
})

const run = (language: Language, code: string, more: More): Promise<TextOutcome> =>
  execute(executor, language, code, '', more)

t.test('further words reach the compiler, and decide what is kept', async (t) => {
  const code = '#include <cstdio>\nint main() { printf("%d", N); }'
  const compile = (words: string[]): Promise<TextOutcome> =>
    run('cpp', code, { compileArguments: words })
  const [one, two, again] = [
    await compile(['-DN=1']),
    await compile(['-DN=2']),
    await compile(['-DN=1']),
  ]
  t.same([one, two, again].map((outcome) => outcome.run?.stdout), ['1', '2', '1']) // prettier-ignore
  t.same([one.compileCached, two.compileCached, again.compileCached], [false, false, true])
  t.equal((await compile([])).run, null, 'without them it does not compile')
})

t.test('a file below a name that is a file’s is the program’s mistake', async (t) => {
  const files = layFiles({ 'Start.java/x': '' })
  const { compile } = await run('java', 'public class Start {}', { files })
  t.equal(compile?.stderr, 'Start.java/x: this name is taken\n')
})

t.test(
  'words for the compiler are its own, however they are quoted and however many',
  async (t) => {
    const words = Array.from({ length: 64 }, () => "'".repeat(256))
    const { compile } = await run('c', 'int main(){}', { compileArguments: words })
    t.match(compile, { ending: 'exited', exitCode: 1 })
    const { run: ran } = await run('c', '#include <stdio.h>\nint main(){ puts(S); }', {
      compileArguments: ['-DS="a \'b\' {heap} $HOME"'],
    })
    t.equal(ran?.stdout, "a 'b' {heap} $HOME\n")
  },
)

t.test('what a compiler is made to write is the program’s mistake, and never ours', async (t) => {
  const directory = makeDirectory(t)
  // The submission's own annotation processor writes where the compiled program is expected.
  const processor = `import java.io.*; import java.util.*; import javax.annotation.processing.*; import javax.lang.model.element.*;
@SupportedAnnotationTypes("*") public class P extends AbstractProcessor {
  public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
    try { new FileOutputStream(FileDescriptor.out).write("A\\0B\\n".getBytes()); } catch (IOException e) { throw new UncheckedIOException(e); }
    return false;
  }
}`
  writeFileSync(`${directory}/P.java`, processor)
  execFileSync('/usr/bin/javac', ['-proc:none', '-d', directory, `${directory}/P.java`])
  const outcome = await run('java', 'class Main { public static void main(String[] a) {} }', {
    compileArguments: processorWords,
    files: [{ name: 'P.class', content: readFileSync(`${directory}/P.class`) }],
  })
  t.match(outcome, {
    compile: { ending: 'exited', exitCode: 1, stderr: /not a program/ },
    run: null,
  })
})

t.test('emitted files whose names no box takes are the program’s mistake', async (t) => {
  const module = `a/${'b'.repeat(120)}/${'c'.repeat(127)}`
  const outcome = await run('typescript', `import { x } from './${module}'\nconsole.log(x)`, {
    files: layFiles({ [`${module}.ts`]: 'export const x = 1' }),
    compileArguments: ['--sourceMap', '--declaration'],
  })
  t.match(outcome, { compile: { ending: 'exited', exitCode: 1 }, run: null })
})

t.test('a run may have another program run in the same slot, and its own files', async (t) => {
  const judged: string[] = []
  await run('python', 'print(input())', {
    runs: {
      inputs: [{ stdin: Buffer.from('1') }, { stdin: Buffer.from('2') }],
      async onRun(phase, _, execute) {
        const { run: other } = await execute({
          language: 'python',
          code: Buffer.from('import sys\nprint(open("output").read() * 2, sys.argv)'),
          stdin: new Uint8Array(),
          cacheScope,
          runFiles: [{ name: 'output', content: phase.stdout }],
          arguments: ['output'],
        })
        judged.push(Buffer.from(other?.stdout ?? []).toString())
        return true
      },
    },
  })
  t.strictSame(judged, ["1\n1\n ['main.py', 'output']\n", "2\n2\n ['main.py', 'output']\n"])
})

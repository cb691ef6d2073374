// What a request gives a program besides code and input: files, arguments, limits. Tested in the languages that are
// compiled and run in special ways.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { ExecutionRequest, Outcome } from '#executor'
import { makeDirectory } from '../helper/directory.ts'
import { accelerated, scaleLimits, startExecutor } from '../helper/executor.ts'

const executor = await startExecutor(t, {
  slots: 1,
  languages: [...accelerated, 'c', 'typescript'],
})
const mebibyte = 1024 * 1024

type Given = Partial<ExecutionRequest> & Pick<ExecutionRequest, 'language'>

async function run(code: string, given: Given): Promise<Outcome> {
  return executor.execute({
    code: Buffer.from(code),
    stdin: new Uint8Array(),
    cacheScope: 'program test',
    ...given,
  })
}

const files = (named: Readonly<Record<string, string>>): NonNullable<ExecutionRequest['files']> =>
  Object.entries(named).map(([name, content]) => ({ name, content: Buffer.from(content) }))

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

const printArguments = {
  python: 'import sys\nprint(sys.argv[1:])',
  cpp: '#include <cstdio>\nint main(int n, char **a) { for (int i = 1; i < n; i++) printf("[%s]", a[i]); }',
  java: 'class Main { public static void main(String[] a) { for (String s : a) System.out.print("[" + s + "]"); } }',
} as const

t.test('arguments reach the program as they were given', async (t) => {
  const given = ['', 'two words', '-x', '$HOME', 'ünïcode', '"\'\\']
  for (const language of accelerated) {
    const { run: phase } = await run(printArguments[language], { language, arguments: given })
    const told = text(phase?.stdout)
    const expected =
      language === 'python'
        ? `['', 'two words', '-x', '$HOME', 'ünïcode', '"\\'\\\\']\n`
        : given.map((word) => `[${word}]`).join('')
    t.equal(told, expected, language)
  }
})

t.test('files lie beside the program, when it is compiled and when it runs', async (t) => {
  const python = await run(
    'import pathlib, helper\nfrom deep.er import thing\nprint(helper.x, thing.y, pathlib.Path("data/in.txt").read_text())',
    {
      language: 'python',
      files: files({ 'helper.py': 'x = 1', 'deep/er/thing.py': 'y = 2', 'data/in.txt': 'three' }),
    },
  )
  t.equal(text(python.run?.stdout), '1 2 three\n', text(python.run?.stderr))

  const cpp = await run(
    '#include <fstream>\n#include <iostream>\n#include "inc/f.h"\nint main() { std::ifstream in("in.txt"); std::string s; in >> s; std::cout << f() << s; }',
    {
      language: 'cpp',
      files: files({
        'inc/f.h': 'int f();',
        'f.cpp': '#include "inc/f.h"\nint f() { return 7; }',
        'in.txt': 'seven',
      }),
    },
  )
  t.equal(text(cpp.run?.stdout), '7seven', text(cpp.compile?.stderr))

  const java = await run(
    'public class Start { public static void main(String[] a) { System.out.print(Other.f()); } }',
    {
      language: 'java',
      files: files({ 'Other.java': 'class Other { static int f() { return 8; } }' }),
    },
  )
  t.equal(text(java.run?.stdout), '8', text(java.compile?.stderr))
})

t.test('a file under the main file’s name is the program’s mistake', async (t) => {
  const { compile, run: ran } = await run(
    'public class Start { public static void main(String[] a) {} }',
    { language: 'java', files: files({ 'Start.java': 'class Start {}' }) },
  )
  t.match(compile, { ending: 'exited', exitCode: 1 })
  t.equal(text(compile?.stderr), 'Start.java: this name is taken\n')
  t.equal(ran, null)
})

t.test('further words reach the compiler, and decide what is kept', async (t) => {
  const code = '#include <cstdio>\nint main() { printf("%d", N); }'
  const compile = (words: string[]): Promise<Outcome> =>
    run(code, { language: 'cpp', compileArguments: words })
  const [one, two, again] = [
    await compile(['-DN=1']),
    await compile(['-DN=2']),
    await compile(['-DN=1']),
  ]
  t.same([text(one.run?.stdout), text(two.run?.stdout), text(again.run?.stdout)], ['1', '2', '1'])
  t.same([one.compileCached, two.compileCached, again.compileCached], [false, false, true])
  t.equal((await compile([])).run, null, 'without them it does not compile')
})

t.test('a file below a name that is a file’s is the program’s mistake', async (t) => {
  const { compile } = await run('public class Start {}', {
    language: 'java',
    files: files({ 'Start.java/x': '' }),
  })
  t.equal(text(compile?.stderr), 'Start.java/x: this name is taken\n')
})

t.test(
  'words for the compiler are its own, however they are quoted and however many',
  async (t) => {
    const words = Array.from({ length: 64 }, () => "'".repeat(256))
    const { compile } = await run('int main(){}', { language: 'c', compileArguments: words })
    t.match(compile, { ending: 'exited', exitCode: 1 })
    const { run: ran } = await run('#include <stdio.h>\nint main(){ puts(S); }', {
      language: 'c',
      compileArguments: ['-DS="a \'b\' {heap} $HOME"'],
    })
    t.equal(text(ran?.stdout), "a 'b' {heap} $HOME\n")
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
  const { compile, run: ran } = await run('class Main { public static void main(String[] a) {} }', {
    language: 'java',
    compileArguments: ['-proc:full', '-processor', 'P', '-processorpath', '.'],
    files: [{ name: 'P.class', content: readFileSync(`${directory}/P.class`) }],
  })
  t.match(compile, { ending: 'exited', exitCode: 1 }, text(compile?.stderr))
  t.match(text(compile?.stderr), 'not a program')
  t.equal(ran, null)
})

t.test('emitted files whose names no box takes are the program’s mistake', async (t) => {
  const module = `a/${'b'.repeat(120)}/${'c'.repeat(127)}`
  const name = `${module}.ts`
  const { compile, run: ran } = await run(`import { x } from './${module}'\nconsole.log(x)`, {
    language: 'typescript',
    files: [{ name, content: Buffer.from('export const x = 1') }],
    compileArguments: ['--sourceMap', '--declaration'],
  })
  t.equal(ran, null)
  t.match(compile, { ending: 'exited', exitCode: 1 })
})

t.test('a run may have another program run in the same slot, and its own files', async (t) => {
  const judged: string[] = []
  await run('print(input())', {
    language: 'python',
    runs: {
      inputs: [{ stdin: Buffer.from('1') }, { stdin: Buffer.from('2') }],
      async onRun(phase, _, execute) {
        const { run: other } = await execute({
          language: 'python',
          code: Buffer.from('import sys\nprint(open("output").read() * 2, sys.argv)'),
          stdin: new Uint8Array(),
          cacheScope: 'program test',
          runFiles: [{ name: 'output', content: phase.stdout }],
          arguments: ['output'],
        })
        judged.push(text(other?.stdout))
        return true
      },
    },
  })
  t.strictSame(judged, ["1\n1\n ['main.py', 'output']\n", "2\n2\n ['main.py', 'output']\n"])
})

t.test('limits of a request’s own hold, for the run and for the compiler', async (t) => {
  const usual = scaleLimits()
  const { run: ran } = await run('x = bytearray(100 << 20)', {
    language: 'python',
    limits: { compile: null, run: { ...usual.python.run, memoryBytes: 64 * mebibyte } },
  })
  t.equal(ran?.ending, 'memory_limit')
  const { compile } = await run('#include <bits/stdc++.h>\nint main() {}', {
    language: 'cpp',
    limits: { ...usual.cpp, compile: { ...usual.cpp.compile!, memoryBytes: 32 * mebibyte } },
  })
  t.equal(compile?.ending, 'memory_limit')
})

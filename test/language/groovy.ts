// Groovy's programs.
import type { Programs } from './program.ts'

export const groovy: Programs = {
  sum: 'def input = System.in.newReader()\nint a = input.readLine() as int\nint b = input.readLine() as int\nprintln a + b',
  copy: 'System.in.eachLine { println it }',
  unicode: 'println "Grüße, 世界 🎉"\nprintln System.in.newReader().readLine()',
  exitThree: 'print "out"\nSystem.err.print "err"\nSystem.exit(3)',
  uncaught: {
    code: 'def f(x) {\n  throw new IllegalArgumentException("no such thing")\n}\nf(1)',
    says: /^Caught: java\.lang\.IllegalArgumentException: no such thing\n[^]*\(main\.groovy:2\)/,
  },
  broken: { code: 'def a = 1\ndef b = 2\ndef c = = 3\n', says: /main\.groovy: 3: / },
  busyLoop: 'while (true) {}',
  sleeper: 'sleep 60_000',
  memoryBomb: 'def kept = []\nwhile (true) kept << new long[1 << 17]',
  outputFlood: 'while (true) println "x" * 100',
  scratch: 'def file = new File("/tmp/file")\nfile.text = "kept"\nprintln file.text',
  threads: `import java.util.concurrent.Callable
import java.util.concurrent.Executors

def pool = Executors.newFixedThreadPool(4)
def parts = (0..<4).collect { part -> pool.submit({ (part * 250 + 1..part * 250 + 250).sum() } as Callable) }
println parts*.get().sum()
pool.shutdown()`,
  network: `try {
  new Socket("127.0.0.1", 9)
} catch (IOException e) {
  println "closed"
}`,
  usual: `def rows = System.in.readLines().collect { line ->
  def found = line =~ /(\\w+) (-?\\d+)/
  [name: found[0][1], number: found[0][2].toInteger()]
}
rows.sort { a, b -> a.number <=> b.number ?: a.name <=> b.name }
rows.each { println "\${it.name}: \${it.number}" }
printf "mean: %.2f\\n", rows*.number.sum() / rows.size()`,
  arguments: 'args.each { println it }',
  variable: "println System.getenv('GREETING')",
  secondFile: {
    code: 'println new Answer().get()',
    file: { name: 'Answer.groovy', content: 'class Answer {\n  int get() { 42 }\n}\n' },
  },
}

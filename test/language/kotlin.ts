// Kotlin's programs.
import type { Programs } from './program.ts'

export const kotlin: Programs = {
  sum: `fun main() {
    val a = readLine()!!.toInt()
    val b = readLine()!!.toInt()
    println(a + b)
}`,
  copy: 'fun main() {\n    generateSequence(::readLine).forEach { println(it) }\n}',
  unicode: 'fun main() {\n    println("Grüße, 世界 🎉")\n    println(readLine())\n}',
  exitThree: `import kotlin.system.exitProcess

fun main() {
    print("out")
    System.err.print("err")
    exitProcess(3)
}`,
  uncaught: {
    code: 'fun main() {\n    check(1 == 2) { "no such thing" }\n}',
    says: /^Exception in thread "main" java\.lang\.IllegalStateException: no such thing\n\tat MainKt\.main\(main\.kt:2\)/,
  },
  broken: {
    code: 'fun main() {\n    val a = 1\n    val b: String = a\n}\n',
    says: /main\.kt:3:21: error: type mismatch/,
  },
  busyLoop: 'fun main() {\n    var n = 0L\n    while (true) n++\n}',
  sleeper: 'fun main() {\n    Thread.sleep(60_000)\n}',
  memoryBomb: `fun main() {
    val kept = mutableListOf<LongArray>()
    while (true) kept.add(LongArray(1 shl 17))
}`,
  outputFlood: 'fun main() {\n    while (true) println("x".repeat(100))\n}',
  scratch: `import java.io.File

fun main() {
    val file = File("/tmp/file")
    file.writeText("kept")
    println(file.readText())
}`,
  threads: `import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

fun main() {
    val sum = AtomicInteger()
    val parts = List(4) { part -> thread { sum.addAndGet((part * 250 + 1..part * 250 + 250).sum()) } }
    parts.forEach { it.join() }
    println(sum)
}`,
  network: `import java.io.IOException
import java.net.Socket

fun main() {
    try {
        Socket("127.0.0.1", 9).use { println("open") }
    } catch (e: IOException) {
        println("closed")
    }
}`,
  usual: `data class Row(val name: String, val number: Int)

fun main() {
    val form = Regex("""(\\w+) (-?\\d+)""")
    val rows = generateSequence(::readLine)
        .mapNotNull { form.matchEntire(it)?.destructured }
        .map { (name, number) -> Row(name, number.toInt()) }
        .toList()
    for ((name, number) in rows.sortedWith(compareBy({ it.number }, { it.name })))
        println("$name: $number")
    println("mean: %.2f".format(rows.map { it.number }.average()))
}`,
  arguments: 'fun main(words: Array<String>) {\n    words.forEach { println(it) }\n}',
  variable: `fun main() {
    println(System.getenv("GREETING"))
}`,
  secondFile: {
    code: 'fun main() {\n    println(answer())\n}',
    file: { name: 'Answer.kt', content: 'fun answer() = 42\n' },
  },
  compileArguments: {
    words: ['-Xassertions=always-enable'],
    code: `fun main() {
    try {
        assert(1 == 2)
    } catch (e: AssertionError) {
        println(42)
    }
}`,
  },
}

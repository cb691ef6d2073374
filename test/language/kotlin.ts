// Kotlin's programs.
import type { Programs, Shared } from './program.ts'

/** Most behaviours, because the compiler takes six seconds of CPU time. */
const most: Shared = {
  shared: `import java.io.File
import java.io.IOException
import java.net.Socket
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.system.exitProcess

fun sum() {
    val a = readLine()!!.toInt()
    val b = readLine()!!.toInt()
    println(a + b)
}

fun exitThree() {
    print("out")
    System.err.print("err")
    exitProcess(3)
}

fun busyLoop() {
    var n = 0L
    while (true) n++
}

fun memoryBomb() {
    val kept = mutableListOf<LongArray>()
    while (true) kept.add(LongArray(1 shl 17))
}

fun scratch() {
    val file = File("/tmp/file")
    file.writeText("kept")
    println(file.readText())
}

fun threads() {
    val sum = AtomicInteger()
    val parts = List(4) { part -> thread { sum.addAndGet((part * 250 + 1..part * 250 + 250).sum()) } }
    parts.forEach { it.join() }
    println(sum)
}

fun network() {
    try {
        Socket("127.0.0.1", 9).use { println("open") }
    } catch (e: IOException) {
        println("closed")
    }
}

fun main(words: Array<String>) {
    when (System.getenv("BEHAVIOUR")) {
        "sum" -> sum()
        "copy" -> generateSequence(::readLine).forEach { println(it) }
        "unicode" -> {
            println("Grüße, 世界 🎉")
            println(readLine())
        }
        "exitThree" -> exitThree()
        "busyLoop" -> busyLoop()
        "sleeper" -> Thread.sleep(60_000)
        "memoryBomb" -> memoryBomb()
        "outputFlood" -> while (true) println("x".repeat(100))
        "scratch" -> scratch()
        "threads" -> threads()
        "network" -> network()
        "arguments" -> words.forEach { println(it) }
        "variable" -> println(System.getenv("GREETING"))
    }
}`,
}

export const kotlin: Programs = {
  sum: most,
  copy: most,
  unicode: most,
  exitThree: most,
  uncaught: {
    code: 'fun main() {\n    check(1 == 2) { "no such thing" }\n}',
    says: /^Exception in thread "main" java\.lang\.IllegalStateException: no such thing\n\tat MainKt\.main\(main\.kt:2\)/,
  },
  broken: {
    code: 'fun main() {\n    val a = 1\n    val b: String = a\n}\n',
    says: /main\.kt:3:21: error: type mismatch/,
  },
  busyLoop: most,
  sleeper: most,
  memoryBomb: most,
  outputFlood: most,
  scratch: most,
  threads: most,
  network: most,
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
  arguments: most,
  variable: most,
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

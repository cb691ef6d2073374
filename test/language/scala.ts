// Scala's programs.
import type { Programs, Shared } from './program.ts'

/** An object Main around the body of its `main`. */
const main = (body: string): string => `object Main {
  def main(args: Array[String]): Unit = {
    ${body.replaceAll('\n', '\n    ')}
  }
}`

/** Most behaviours, because the compiler takes six seconds of CPU time. */
const most: Shared = {
  shared: `import java.io.PrintWriter
import java.net.Socket
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.io.Source
import scala.util.{Failure, Success, Try}

object Main {
  def exitThree(): Unit = {
    print("out")
    Console.err.print("err")
    sys.exit(3)
  }

  def memoryBomb(): Unit = {
    var kept = List[Array[Long]]()
    while (true) kept = new Array[Long](1 << 17) :: kept
  }

  def scratch(): Unit = {
    val out = new PrintWriter("/tmp/file")
    out.print("kept")
    out.close()
    println(Source.fromFile("/tmp/file").mkString)
  }

  def threads(): Unit = {
    val parts = (0 until 4).map(part => Future((part * 250 + 1 to part * 250 + 250).sum))
    println(Await.result(Future.sequence(parts), 1.minute).sum)
  }

  def network(): Unit = Try(new Socket("127.0.0.1", 9)) match {
    case Success(_) => println("open")
    case Failure(_) => println("closed")
  }

  def main(words: Array[String]): Unit = sys.env("BEHAVIOUR") match {
    case "copy" => for (line <- Source.stdin.getLines) println(line)
    case "unicode" =>
      println("Grüße, 世界 🎉")
      println(io.StdIn.readLine())
    case "exitThree" => exitThree()
    case "busyLoop" => while (true) {}
    case "sleeper" => Thread.sleep(60000)
    case "memoryBomb" => memoryBomb()
    case "outputFlood" => while (true) println("x" * 100)
    case "scratch" => scratch()
    case "threads" => threads()
    case "network" => network()
    case "arguments" => words.foreach(println)
    case "variable" => println(sys.env("GREETING"))
  }
}`,
}

export const scala: Programs = {
  sum: `import scala.io.StdIn.readInt

object Main extends App {
  val a = readInt()
  val b = readInt()
  println(a + b)
}`,
  copy: most,
  unicode: most,
  exitThree: most,
  uncaught: {
    code: main('throw new NoSuchElementException("no such thing")'),
    says: /^Exception in thread "main" java\.util\.NoSuchElementException: no such thing\n\tat Main\$\.main\(main\.scala:3\)/,
  },
  broken: {
    code: 'object Main {\n  def main(args: Array[String]): Unit = {\n    val b: String = 1\n  }\n}\n',
    says: /main\.scala:3: error: type mismatch/,
  },
  busyLoop: most,
  sleeper: most,
  memoryBomb: most,
  outputFlood: most,
  scratch: most,
  threads: most,
  network: most,
  usual: `import scala.io.Source

case class Row(name: String, number: Int)

${main(`val Form = """(\\w+) (-?\\d+)""".r
val rows = Source.stdin.getLines.collect { case Form(name, number) => Row(name, number.toInt) }.toList
for (Row(name, number) <- rows.sortBy(row => (row.number, row.name))) println(s"$name: $number")
println(f"mean: \${rows.map(_.number).sum.toDouble / rows.size}%.2f")`)}`,
  arguments: most,
  variable: most,
  secondFile: {
    code: 'object Main {\n  def main(words: Array[String]): Unit = println(Answer.get)\n}',
    file: { name: 'Answer.scala', content: 'object Answer {\n  def get = 42\n}\n' },
  },
  compileArguments: {
    words: ['-Xdisable-assertions'],
    code: 'object Main {\n  def main(words: Array[String]): Unit = {\n    assert(1 == 2)\n    println(42)\n  }\n}',
  },
}

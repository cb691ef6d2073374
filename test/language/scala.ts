// Scala's programs.
import type { Programs } from './program.ts'

/** An object Main around the body of its `main`. */
const main = (body: string): string => `object Main {
  def main(args: Array[String]): Unit = {
    ${body.replaceAll('\n', '\n    ')}
  }
}`

export const scala: Programs = {
  sum: `import scala.io.StdIn.readInt

object Main extends App {
  val a = readInt()
  val b = readInt()
  println(a + b)
}`,
  copy: main('for (line <- io.Source.stdin.getLines) println(line)'),
  unicode: main('println("Grüße, 世界 🎉")\nprintln(io.StdIn.readLine())'),
  exitThree: main('print("out")\nConsole.err.print("err")\nsys.exit(3)'),
  uncaught: {
    code: main('throw new NoSuchElementException("no such thing")'),
    says: /^Exception in thread "main" java\.util\.NoSuchElementException: no such thing\n\tat Main\$\.main\(main\.scala:3\)/,
  },
  broken: {
    code: 'object Main {\n  def main(args: Array[String]): Unit = {\n    val b: String = 1\n  }\n}\n',
    says: /main\.scala:3: error: type mismatch/,
  },
  busyLoop: main('while (true) {}'),
  sleeper: main('Thread.sleep(60000)'),
  memoryBomb: main(
    'var kept = List[Array[Long]]()\nwhile (true) kept = new Array[Long](1 << 17) :: kept',
  ),
  outputFlood: main('while (true) println("x" * 100)'),
  scratch: `import java.io.PrintWriter
import scala.io.Source

${main(`val out = new PrintWriter("/tmp/file")
out.print("kept")
out.close()
println(Source.fromFile("/tmp/file").mkString)`)}`,
  threads: `import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

${main(`val parts = (0 until 4).map(part => Future((part * 250 + 1 to part * 250 + 250).sum))
println(Await.result(Future.sequence(parts), 1.minute).sum)`)}`,
  network: `import java.net.Socket
import scala.util.{Failure, Success, Try}

${main(`Try(new Socket("127.0.0.1", 9)) match {
  case Success(_) => println("open")
  case Failure(_) => println("closed")
}`)}`,
  usual: `import scala.io.Source

case class Row(name: String, number: Int)

${main(`val Form = """(\\w+) (-?\\d+)""".r
val rows = Source.stdin.getLines.collect { case Form(name, number) => Row(name, number.toInt) }.toList
for (Row(name, number) <- rows.sortBy(row => (row.number, row.name))) println(s"$name: $number")
println(f"mean: \${rows.map(_.number).sum.toDouble / rows.size}%.2f")`)}`,
  arguments: 'object Main {\n  def main(words: Array[String]): Unit = words.foreach(println)\n}',
  variable: `object Main {
  def main(words: Array[String]): Unit = println(sys.env("GREETING"))
}`,
  secondFile: {
    code: 'object Main {\n  def main(words: Array[String]): Unit = println(Answer.get)\n}',
    file: { name: 'Answer.scala', content: 'object Answer {\n  def get = 42\n}\n' },
  },
  compileArguments: {
    words: ['-Xdisable-assertions'],
    code: 'object Main {\n  def main(words: Array[String]): Unit = {\n    assert(1 == 2)\n    println(42)\n  }\n}',
  },
}

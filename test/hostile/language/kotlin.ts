// Attacks in Kotlin and Scala, and through their compilers. The hostile programs in Java cover the virtual machine itself.
import { aims, attackSources, exhausts, onePath, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'

const raw = String.raw

const kotlinProgram = raw`
import java.io.*
import kotlin.concurrent.thread
val host = listOf(${aims.hostFiles})
val own = listOf(${aims.boxFiles})
fun main() {
  if (File("/etc/debian_version").exists()) { println("ESCAPED there is no box"); Runtime.getRuntime().halt(1) }
  val block = ByteArray(1 shl 20)
  when (readLine()) {
    "files" -> {
      for (path in host) try { FileInputStream(path).use { println("ESCAPED " + path) } } catch (refused: IOException) {}
      for (path in own) try { println(File(path).readText()) } catch (refused: IOException) {}
      println(System.getenv()); println(System.getProperties())
    }
    "calls" -> {
      val unsafe = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe").also { it.isAccessible = true }.get(null)
      println(unsafe)
      try { java.net.Socket("127.0.0.1", @PORT@); println("ESCAPED the network") } catch (refused: IOException) {}
      val said = ProcessBuilder("/bin/sh", "-c", "mount -t tmpfs none /tmp; unshare -r id; chroot / id; kill -0 @WORKER_PID@ && echo ESCAPED; setpriv --reuid 0 id").redirectErrorStream(true).start().inputStream.reader().readText()
      if ("uid=0" in said) println("ESCAPED " + said)
    }
    "daemon" -> { ProcessBuilder("setsid", "/bin/sh", "-c", "sleep 600 & sleep 600").inheritIO().start(); Thread.sleep(50) }
    "disk" -> {
      var written = 0
      try { FileOutputStream("/tmp/fill").use { while (written < 64 shl 20) { it.write(block); written += block.size } } } catch (full: IOException) {}
      if (written > 32 shl 20) println("ESCAPED the disk")
    }
    "output" -> while (true) System.out.write(block, 0, block.size)
    "memory" -> { val held = ArrayList<ByteArray>(); while (true) held.add(ByteArray(1 shl 20)) }
    "processes" -> while (true) try { ProcessBuilder("/bin/sh", "-c", "sleep 60 & sleep 60").start() } catch (full: Throwable) {}
    "threads" -> while (true) try { thread { Thread.sleep(60000) } } catch (full: OutOfMemoryError) {}
    else -> Runtime.getRuntime().halt(9)
  }
  println("held")
}`

const kotlinMain = '\nfun main() { println("held") }'

export const kotlin: HostileLanguage = {
  language: 'kotlin',
  program: kotlinProgram,
  ways: { files: [], calls: [], daemon: [], disk: [], output: [], processes: [] },
  sources: [
    showsNone(
      'annotations for files show none',
      (path) => `@file:Suppress("${path}")\n@file:JvmName("x")\nimport \`${path}\`${kotlinMain}`,
      onePath,
    ),
    exhausts(
      'types that double end',
      `fun <T> p(x: T): Pair<T, T> = Pair(x, x)\nval x = ${Array.from({ length: 24 }, () => 'p(').join('')}1${')'.repeat(24)}${kotlinMain}`,
      ['exited'],
    ),
  ],
}

const scalaMain = '\nobject Main { def main(a: Array[String]): Unit = println("held") }'

export const scala = attackSources(
  'scala',
  [
    showsNone(
      'a macro, which would have to be compiled before, shows no file',
      (path) =>
        `import scala.language.experimental.macros\nimport scala.reflect.macros.blackbox.Context\nobject M { def m: String = macro i; def i(c: Context): c.Tree = { import c.universe._; Literal(Constant(scala.io.Source.fromFile("${path}").mkString)) } }\nobject Main { def main(a: Array[String]): Unit = println(M.m + "held") }`,
      onePath,
    ),
    exhausts(
      'implicits that call for themselves end',
      `trait N; class Z extends N; class S[A <: N] extends N\nobject Main { implicit def f[A <: N](implicit a: S[S[A]], b: S[A]): A = ???; def main(a: Array[String]): Unit = implicitly[Z] }`,
    ),
  ].concat(
    showsNone('an import shows no file', (path) => `import \`${path}\`._${scalaMain}`, onePath),
  ),
)

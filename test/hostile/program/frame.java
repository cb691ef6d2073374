import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.charset.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
class Main {
  interface Attempt { Object run() throws Exception; }
  static int bad = 0;
  static String[] words;
  static void escape(String what) { bad++; System.out.println("ESCAPED " + what); }
  static void refused(String what, Attempt attempt) {
    Object result;
    try { result = attempt.run(); }
    catch (IOException | SecurityException error) { System.out.println("refused " + what + " " + error); return; }
    catch (Exception error) { bad++; System.out.println("UNSURE " + what + " " + error); return; }
    escape(what + ": " + result);
  }
  static Object look(String path, OpenOption... options) throws IOException {
    if (options.length == 0) { try (var in = new FileInputStream(path)) { return "opened"; } }
    try (var channel = FileChannel.open(Path.of(path), options)) { return "opened"; }
  }
  static String text(String path) throws IOException {
    try (var in = new FileInputStream(path)) { return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1); }
  }
  static int start(String... command) throws Exception {
    var builder = new ProcessBuilder(command).inheritIO();
    return builder.redirectInput(new File("/dev/null")).start().waitFor();
  }
  static String output(String... command) throws Exception {
    var process = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(new File("/dev/null")).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
  }
  //DECLARATIONS
  static void attack() throws Throwable {
    //BODY
  }
  public static void main(String[] arguments) throws Throwable {
    if (!new File("").getAbsolutePath().equals("/box") || new File("/etc/debian_version").exists()) { System.out.println("ESCAPED there is no box"); Runtime.getRuntime().halt(1); }
    words = arguments;
    attack();
    if (bad == 0) System.out.println("held");
  }
}

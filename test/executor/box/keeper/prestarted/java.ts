// A Java program that does what the first line of its input says.
export const code = `
import java.io.*;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

public class Main {
  static void show(String path) throws Exception { System.out.print(Files.readString(Path.of(path))); }
  static void list(String path) throws Exception {
    try (Stream<Path> all = Files.list(Path.of(path))) {
      all.sorted().forEach((one) -> {
        String target = "";
        try { target = Files.readSymbolicLink(one).toString().replaceAll("\\\\d+", "N"); } catch (IOException error) {}
        System.out.println(one + " " + target);
      });
    }
  }
  /** From the third field on. */
  static String[] stat() throws Exception {
    String text = Files.readString(Path.of("/proc/self/stat"));
    return text.substring(text.lastIndexOf(')') + 2).split(" ");
  }
  static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    switch (input.readLine()) {
      // Field 22, in ticks of a hundredth since the host began.
      case "age" -> System.out.println(System.nanoTime() / 1_000_000 - 10 * Long.parseLong(stat()[19]));
      case "echo" -> System.out.println(input.lines().collect(Collectors.joining("|")) + arguments.length);
      case "properties" -> new TreeMap<>(System.getProperties()).forEach((name, value) -> System.out.println(name + "=" + value));
      case "variables" -> {
        new TreeMap<>(System.getenv()).forEach((name, value) -> System.out.println(name + "=" + value));
        new ProcessBuilder("/usr/bin/env").redirectOutput(Redirect.INHERIT).start().waitFor();
      }
      case "environ" -> System.out.println(Files.readString(Path.of("/proc/self/environ")).replaceAll("\\0+$", ""));
      case "status" -> {
        show("/proc/self/status");
        show("/proc/1/status");
      }
      case "limits" -> show("/proc/self/limits");
      case "descriptors" -> list("/proc/self/fd");
      case "mounts" -> show("/proc/self/mountinfo");
      case "cgroup" -> show("/proc/self/cgroup");
      case "class" -> {
        System.out.println("policy " + stat()[38] + ", priority " + stat()[15] + ", nice " + stat()[16]);
        show("/proc/self/oom_score_adj");
      }
      case "arguments" -> System.out.println(Files.readString(Path.of("/proc/self/cmdline")).replace('\\0', ' '));
      case "files" -> {
        for (String path : new String[] {"/", "/box", "/tmp", "/dev", "/dev/shm"}) list(path);
        Files.writeString(Path.of("/tmp/left"), "by a program");
        Files.writeString(Path.of("left"), "by a program");
      }
      case "exit" -> System.exit(7);
      case "heap" -> { List<int[]> all = new ArrayList<>(); while (true) all.add(new int[1 << 20]); }
      case "memory" -> {
        Process hog = new ProcessBuilder("/usr/bin/python3", "-c", "print('begun', flush=True); x = bytearray(1 << 30)").inheritIO().start();
        hog.waitFor();
        Thread.sleep(60_000); // until the keeper sees that the kernel killed the child
      }
      case "loop" -> { System.out.println("begun"); System.out.flush(); while (true) {} }
      case "disk" -> {
        try (OutputStream file = new FileOutputStream("large")) { byte[] block = new byte[1 << 20]; while (true) file.write(block); }
        catch (IOException error) { System.out.println(error.getMessage() + " " + Files.size(Path.of("large"))); }
      }
      case "recursion" -> System.out.println(depth(200_000));
      case "children" -> {
        int begun = 0;
        try { for (; begun < 100; begun += 1) new ProcessBuilder("/bin/sleep", "600").start(); }
        catch (IOException error) { System.out.println(begun > 10 ? "refused" : error.getMessage()); }
        System.exit(0);
      }
      case "jar" -> {
        System.out.println(Main.class.getProtectionDomain().getCodeSource().getLocation());
        System.out.println(Main.class.getResource("Main.class"));
      }
      default -> System.out.println("what?");
    }
  }
}
`

export const ownWords = {
  'where its class is from': 'jar',
  'a heap that is full': 'heap',
}

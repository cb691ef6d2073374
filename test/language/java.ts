// Java's programs.
import type { Programs } from './program.ts'

/** A public class Main around the body of its `main`. */
const main = (body: string): string => `import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Main {
  public static void main(String[] args) throws Exception {
    ${body.replaceAll('\n', '\n    ')}
  }
}`

export const java: Programs = {
  sum: main(`Scanner in = new Scanner(System.in);
int a = in.nextInt();
int b = in.nextInt();
System.out.println(a + b);`),
  copy: main(`BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
for (String line = in.readLine(); line != null; line = in.readLine()) System.out.println(line);`),
  unicode: main(`System.out.println("Grüße, 世界 🎉");
System.out.println(new Scanner(System.in).nextLine());`),
  exitThree: main('System.out.print("out");\nSystem.err.print("err");\nSystem.exit(3);'),
  uncaught: {
    code: main('throw new IllegalStateException("no such thing");'),
    says: /^Exception in thread "main" java\.lang\.IllegalStateException: no such thing\n\tat Main\.main\(Main\.java:10\)/,
  },
  broken: {
    code: 'public class Main {\n  public static void main(String[] args) {\n    int b = ;\n  }\n}\n',
    says: /Main\.java:3: error: illegal start of expression/,
  },
  busyLoop: main('for (long n = 0; ; n++);'),
  sleeper: main('Thread.sleep(60_000);'),
  memoryBomb: main(
    'List<long[]> kept = new ArrayList<>();\nwhile (true) kept.add(new long[1 << 17]);',
  ),
  outputFlood: main('while (true) System.out.println("x".repeat(100));'),
  scratch: main(`Path file = Path.of("/tmp/file");
Files.writeString(file, "kept");
System.out.println(Files.readString(file));`),
  threads: main(`ExecutorService pool = Executors.newFixedThreadPool(4);
List<Future<Integer>> parts = new ArrayList<>();
for (int part = 0; part < 4; part++) {
  int first = part * 250 + 1;
  parts.add(pool.submit(() -> IntStream.range(first, first + 250).sum()));
}
int sum = 0;
for (Future<Integer> part : parts) sum += part.get();
pool.shutdown();
System.out.println(sum);`),
  network: main(`try (Socket socket = new Socket("127.0.0.1", 9)) {
  System.out.println("open");
} catch (IOException e) {
  System.out.println("closed");
}`),
  usual: main(`Map<Integer, Set<String>> names = new TreeMap<>();
Scanner in = new Scanner(System.in);
while (in.hasNext()) {
  String name = in.next();
  names.computeIfAbsent(in.nextInt(), key -> new TreeSet<>()).add(name);
}
names.forEach((number, all) -> all.forEach(name -> System.out.println(name + ": " + number)));
double mean = names.entrySet().stream()
    .flatMap(entry -> entry.getValue().stream().map(name -> entry.getKey()))
    .collect(Collectors.averagingInt(number -> number));
System.out.printf("mean: %.2f%n", mean);`),
  arguments: `class Main {
  public static void main(String[] words) {
    for (String word : words) System.out.println(word);
  }
}`,
  variable: `public class Main {
  public static void main(String[] args) {
    System.out.println(System.getenv("GREETING"));
  }
}`,
  secondFile: {
    code: `public class Main {
  public static void main(String[] words) {
    System.out.println(Answer.get());
  }
}`,
    file: {
      name: 'Answer.java',
      content: 'class Answer {\n  static int get() {\n    return 42;\n  }\n}\n',
    },
  },
  compileArguments: {
    words: ['-parameters'],
    code: `class Main {
  static void f(int n) {}

  public static void main(String[] words) throws Exception {
    var parameter = Main.class.getDeclaredMethod("f", int.class).getParameters()[0];
    System.out.println(parameter.getName().equals("n") ? 42 : 0);
  }
}`,
  },
}

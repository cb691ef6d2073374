// The command and the answers of the resident javac, which is Compiler.java.
import type { BoxFile } from '#contract'
import type { ResidentCompiler } from '../definition.ts'
import { startCompiler } from './compiler.ts'
import type { Jvm } from './jvm.ts'

/**
 * Number of practice compilations at the start. After them a compilation takes 12 ms of CPU time; after one it takes 50, after
 * hundreds 10 (measured, JDK 25). Each adds some 60 ms to the start.
 */
const practiceRounds = 20

/** A typical submission, so that the JVM loads and compiles the parts of javac that submissions need. */
const practice = `import java.io.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class Main {
  sealed interface Shape permits Circle, Square {}
  record Circle(double radius) implements Shape {}
  record Square(double side) implements Shape {}
  enum Level { LOW, HIGH; Level next() { return values()[(ordinal() + 1) % values().length]; } }
  static class Box<T extends Comparable<T>> {
    private final List<T> items = new ArrayList<>();
    void add(T item) { items.add(item); }
    T max() { return Collections.max(items); }
  }
  static double area(Object shape) {
    if (shape instanceof Square square) return square.side() * square.side();
    return shape instanceof Circle circle ? Math.PI * circle.radius() * circle.radius() : 0;
  }
  static String name(int day) {
    return switch (day) { case 1, 7 -> "weekend"; default -> { String text = "day" + day; yield text; } };
  }
  public static void main(String[] arguments) throws IOException {
    BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
    String line = reader.readLine();
    Scanner scanner = new Scanner(line == null ? "1 2 3" : line);
    long sum = 0;
    while (scanner.hasNextInt()) sum += scanner.nextInt();
    int[][] table = new int[3][4];
    for (int row = 0; row < table.length; row++) for (int column = 0; column < 4; column++) table[row][column] = row ^ column;
    Map<String, List<Integer>> groups = new TreeMap<>();
    for (int[] row : table) groups.computeIfAbsent(name(row[1]), key -> new ArrayList<>()).add(row[2]);
    PriorityQueue<int[]> queue = new PriorityQueue<>((left, right) -> left[0] - right[0]);
    queue.add(new int[] {1, 2});
    var box = new Box<String>();
    box.add(IntStream.range(0, 3).mapToObj(i -> "s" + i).filter(Predicate.not(String::isEmpty)).collect(Collectors.joining(",")));
    StringBuilder builder = new StringBuilder();
    try { builder.append(box.max()).append(area(new Circle(1.5))); } catch (RuntimeException error) { System.err.println(error.getMessage()); } finally { builder.append(Level.LOW.next()); }
    System.out.printf("%d %s %s%n", sum, groups, builder);
    new Thread(() -> System.out.println("done")).start();
  }
}
`

/**
 * Without this option some versions of javac reuse their table of identifiers in the next compilation. It changes nothing else.
 */
const ownNames = '-XDuseUnsharedTable=true'

/**
 * @param program class file of Compiler.java.
 * @param options of javac.
 */
export function createResidentJavac(
  jvm: Jvm,
  program: BoxFile,
  options: readonly string[],
): ResidentCompiler {
  return {
    command: (memoryBytes) => ({
      argv: [
        ...startCompiler(jvm, memoryBytes),
        '--resident',
        String(practiceRounds),
        practice,
        ...options,
        ownNames,
      ],
      files: [program],
      unlimitedStack: false,
    }),
    readAnswer(answer) {
      const exitCode = answer.readInt32BE(0)
      const programStart = 8 + answer.readUInt32BE(4)
      if (programStart > answer.length) throw new RangeError('the answer ends early')
      // Statuses 2 to 4 are failures of javac itself (command line, memory, crash), which may have damaged it.
      if (exitCode !== 0 && exitCode !== 1) return null
      return {
        exitCode,
        stderr: answer.subarray(8, programStart),
        stdout: answer.subarray(programStart),
      }
    },
  }
}

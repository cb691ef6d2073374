// Small programs that tests share, each with a source in three languages.
import type { Accelerated } from './executor.ts'

type Sources = Readonly<Record<Accelerated, string>>

/** Prints `hello`. */
export const hello: Sources = {
  python: 'print("hello")',
  cpp: '#include <cstdio>\nint main() { std::puts("hello"); }',
  java: 'class Main { public static void main(String[] a) { System.out.println("hello"); } }',
}

/** Copies stdin to stdout byte for byte. */
export const copy: Sources = {
  python: 'import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())',
  cpp: '#include <cstdio>\nint main() { int c; while ((c = getchar()) != EOF) putchar(c); }',
  java: 'class Main { public static void main(String[] a) throws Exception { System.in.transferTo(System.out); System.out.flush(); } }',
}

/** Prints `before`, then never stops computing. */
export const busyLoop: Sources = {
  python: 'print("before", flush=True)\nwhile True: pass',
  cpp: '#include <cstdio>\nint main() { puts("before"); fflush(stdout); volatile unsigned n = 0; for (;;) n = n + 1; }',
  java: 'class Main { public static void main(String[] a) { System.out.println("before"); long n = 0; while (true) n++; } }',
}

/** Prints `before`, then sleeps for a minute. */
export const sleeper: Sources = {
  python: 'import time\nprint("before", flush=True)\ntime.sleep(60)',
  cpp: '#include <cstdio>\n#include <unistd.h>\nint main() { puts("before"); fflush(stdout); sleep(60); }',
  java: 'class Main { public static void main(String[] a) throws Exception { System.out.println("before"); Thread.sleep(60000); } }',
}

/** Takes memory until there is none. */
export const memoryBomb: Sources = {
  python: 'kept = []\nwhile True: kept.append(bytearray(1 << 20))',
  cpp: '#include <cstdlib>\n#include <cstring>\nint main() { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }',
  java: 'class Main { public static void main(String[] a) { var kept = new java.util.ArrayList<byte[]>(); while (true) kept.add(new byte[1 << 20]); } }',
}

/** Writes to stdout without end. */
export const outputFlood: Sources = {
  python: 'import sys\nwhile True: sys.stdout.write("x" * 4096)',
  cpp: '#include <cstdio>\nint main() { for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"); }',
  java: 'class Main { public static void main(String[] a) { String s = "x".repeat(4096); while (true) System.out.print(s); } }',
}

/** Recurses 100,000 deep and prints the depth. */
export const deepRecursion: Sources = {
  python:
    'import sys\nsys.setrecursionlimit(200000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(100000))',
  cpp: '#include <cstdio>\nint f(int n) { volatile char frame[1000]; frame[0] = 1; return n == 0 ? 0 : frame[0] + f(n - 1); }\nint main() { printf("%d\\n", f(100000)); }',
  java: 'class Main { static int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } public static void main(String[] a) { System.out.println(f(100000)); } }',
}

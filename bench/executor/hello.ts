// The programs that benches run, and the commands with which a person would run them.
import type { BareRun } from '../bare.ts'

/** The shortest program of each language that prints hello, and the two headers that C++ programs start with. */
export const hello = {
  stdout: 'hello\n',
  python: 'print("hello")\n',
  iostream: '#include <iostream>\nint main() { std::cout << "hello\\n"; }\n',
  everyHeader: '#include <bits/stdc++.h>\nint main() { std::cout << "hello\\n"; }\n',
  /** The compiler must optimise the templates that this program uses for each program again. */
  everyHeaderUsed: `#include <bits/stdc++.h>
int main() {
  std::vector<std::string> words{"o", "hell"};
  std::sort(words.begin(), words.end());
  for (const auto& word : words) std::cout << word;
  std::cout << "\\n";
}
`,
  java: 'class Main { public static void main(String[] a) { System.out.println("hello"); } }\n',
} as const

/** `python3 hello.py` */
export const pythonCommand: BareRun = {
  commands: [['python3', 'hello.py']],
  files: { 'hello.py': hello.python },
  stdout: hello.stdout,
}

/** `g++ -O2 -std=gnu++20 main.cpp -o main && ./main` */
export function cppCommands(code: string): BareRun {
  return {
    commands: [['g++', '-O2', '-std=gnu++20', 'main.cpp', '-o', 'main'], ['./main']],
    files: { 'main.cpp': code },
    stdout: hello.stdout,
  }
}

/** `javac -d out Main.java && java -cp out Main` */
export function javaCommands(code: string): BareRun {
  return {
    commands: [
      ['javac', '-d', 'out', 'Main.java'],
      ['java', '-cp', 'out', 'Main'],
    ],
    files: { 'Main.java': code },
    stdout: hello.stdout,
  }
}

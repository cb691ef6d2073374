// C++: Clang, with the library of GCC.
import { clang } from './clang.ts'
import type { LanguageDefinition } from './definition.ts'

export const clangpp = {
  title: 'C++ (Clang)',
  aliases: ['clang++', 'cpp-clang'],
  comment: ['//', ''],
  packages: ['clang', 'g++'],
  tools: [{ ...clang.tools[0], program: 'clang++' }],
  example: String.raw`#include <iostream>

int main() {
  std::cout << "Hello, world!\n";
}`,
  trial: String.raw`#include <cstdio>
int main() { long n = 0; while (getchar() != EOF) n++; printf("%ld\n", n); }`,
  recipe: {
    source: 'main.cpp',
    compile: {
      commands: [['clang++', '-O2', '-std=gnu++20', '-o', 'main', 'main.cpp']],
      makes: 'main',
      together: ['.cpp', '.cc', '.cxx'],
    },
    run: ['./main'],
    paths: ['/usr/include'],
  },
} as const satisfies LanguageDefinition

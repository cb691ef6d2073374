// C++: GCC.
import type { LanguageDefinition } from './definition.ts'
import { usualCompile } from './limits.ts'

export const cpp = {
  title: 'C++',
  aliases: ['c++', 'cxx'],
  extensions: ['.cpp', '.cc', '.cxx'],
  comment: ['//', ''],
  packages: ['g++'],
  tools: [
    {
      program: 'g++',
      pattern: /^.*\s(\d+)\.(\d+)\.\d+.*$/mu,
      // -std=gnu++20 needs GCC 10.
      oldest: [10, 0],
    },
  ],
  limits: { compile: usualCompile },
  example: `#include <iostream>
int main() { std::cout << "Hello, world!\\n"; }`,
  trial: `#include <cstdio>
int main() { long n = 0; while (getchar() != EOF) n++; printf("%ld\\n", n); }`,
  ownFiles: ['main.cpp', 'main'],
} as const satisfies LanguageDefinition

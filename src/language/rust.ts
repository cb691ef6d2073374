// Rust: rustc, without packages.
import type { LanguageDefinition } from './definition.ts'

export const rust = {
  title: 'Rust',
  aliases: ['rs'],
  extensions: ['.rs'],
  comment: ['//', ''],
  packages: ['rustc-web'],
  tools: [
    { program: 'rustc', title: 'rustc', pattern: /^rustc (\d+)\.(\d+)\.\d+/mu, oldest: [1, 59] },
  ],
  example: `fn main() {
    println!("Hello, world!");
}`,
  trial: `use std::io::Read;
fn main() {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).unwrap();
    println!("{}", text.len());
}`,
  recipe: {
    source: 'main.rs',
    compile: {
      // Strips the standard library's debug information, most of ten megabytes, because a program of that size is not cached.
      commands: [
        ['rustc', '-O', '-C', 'strip=debuginfo', '--edition', '2021', '-o', 'main', 'main.rs'],
      ],
      makes: 'main',
    },
    run: ['./main'],
  },
} as const satisfies LanguageDefinition

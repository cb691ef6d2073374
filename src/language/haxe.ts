// Haxe: its interpreter.
import type { LanguageDefinition } from './definition.ts'

export const haxe = {
  title: 'Haxe',
  aliases: ['hx'],
  extensions: ['.hx'],
  comment: ['//', ''],
  packages: ['haxe'],
  tools: [{ program: 'haxe', pattern: /^(\d+)\.(\d+)\.\d+/mu, oldest: [4, 0] }],
  least: { memory: 24 * 1024 * 1024 },
  example: `class Main {
  static function main() {
    Sys.println("Hello, world!");
  }
}`,
  trial: 'class Main { static function main() { Sys.println(Sys.stdin().readAll().length); } }',
  recipe: {
    source: 'Main.hx',
    // The default call depth is only a thousand.
    run: ['haxe', '-D', 'eval-call-stack-depth=100000', '--run', 'Main'],
    environment: { HAXE_STD_PATH: '/usr/share/haxe/std' },
    paths: ['/usr/share/haxe'],
  },
} as const satisfies LanguageDefinition

// PHP: its command line.
import type { LanguageDefinition } from './definition.ts'
import { words } from './words.ts'

export const php = {
  title: 'PHP',
  extensions: ['.php'],
  comment: ['//', ''],
  packages: ['php-cli', 'php-mbstring', 'php-bcmath', 'php-gmp'],
  tools: [{ program: 'php', pattern: /^PHP (\d+)\.(\d+)\.\d+/mu, oldest: [7, 4] }],
  example: String.raw`<?php
echo "Hello, world!\n";`,
  trial: String.raw`<?php
echo strlen(stream_get_contents(STDIN)), "\n";`,
  recipe: {
    source: 'main.php',
    run: words('php -d display_errors=stderr -d log_errors=0 -d memory_limit=-1 main.php'),
    // Only the settings of the command line, because those of servers may contain passwords.
    paths: ['/etc/php/*/cli', '/etc/php/*/mods-available', '/usr/share/php'],
  },
} as const satisfies LanguageDefinition

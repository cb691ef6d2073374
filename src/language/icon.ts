// Icon.
import type { LanguageDefinition } from './definition.ts'

export const icon = {
  title: 'Icon',
  aliases: ['icn'],
  extensions: ['.icn'],
  comment: ['#', ''],
  packages: ['icont', 'iconx'],
  tools: [
    { program: 'icont', ask: ['-V'], pattern: /^Icon Version (\d+)\.(\d+)\.\d+/mu, oldest: [9, 4] },
  ],
  example: `procedure main()
  write("Hello, world!")
end`,
  trial: `procedure main()
  n := 0
  while n +:= *reads(&input, 4096)
  write(n)
end`,
  recipe: {
    source: 'main.icn',
    compile: {
      commands: [['icont', '-s', '-o', 'main', 'main.icn']],
      makes: 'main',
      together: ['.icn'],
    },
    run: ['iconx', 'main'],
    // Stack size in words; the default is too small for a thousand calls.
    environment: { MSTKSIZE: '4000000' },
  },
} as const satisfies LanguageDefinition

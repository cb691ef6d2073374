// Haskell: GHC.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile } from './limits.ts'

export const haskell = {
  title: 'Haskell',
  aliases: ['hs', 'ghc'],
  extensions: ['.hs'],
  comment: ['--', ''],
  packages: ['ghc'],
  tools: [{ program: 'ghc', title: 'GHC', pattern: /version (\d+)\.(\d+)\S*/mu, oldest: [8, 8] }],
  limits: { compile: slowCompile },
  example: `main :: IO ()
main = putStrLn "Hello, world!"`,
  trial: `import qualified Data.ByteString as B
main = B.getContents >>= print . B.length`,
  recipe: {
    source: 'main.hs',
    compile: { commands: [['ghc', '-v0', '-O2', '-o', 'main', 'main.hs']], makes: 'main' },
    run: ['./main'],
    paths: ['/var/lib/ghc', '/usr/include'],
  },
} as const satisfies LanguageDefinition

// The console in a real browser over a whole service. CONSOLE (a regular expression for the title) selects. `make test` does
// not run it, because it needs Chromium; `make test-console` does. The facts are in fact/, a file for each concern.
const concerns = [
  'key',
  'playground',
  'keep',
  'history',
  'hostile',
  'stream',
  'submission',
  'left-files',
  'files',
  'look',
] as const

for (const concern of concerns) await import(`./fact/${concern}.ts`)

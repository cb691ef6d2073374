// The console in a real browser over a whole service, as its users have it. CONSOLE (a regular expression for the title)
// selects. Not run by `make test`, as it needs Chromium: `make test-console`. Facts stand in fact/, a file a concern.
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

// The operators' view in a real browser over a whole service. CONSOLE (a regular expression for the title) selects. Run by
// `make test-console`. Facts stand in fact/, a file a concern.
const concerns = ['operator', 'operator-behind', 'operator-trouble', 'operator-look'] as const

for (const concern of concerns) await import(`./fact/${concern}.ts`)

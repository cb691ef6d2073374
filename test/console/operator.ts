// The operators' view in a real browser over a whole service. CONSOLE (a regular expression for the title) selects. `make
// test-console` runs it. The facts are in fact/, a file for each concern.
const concerns = ['operator', 'operator-behind', 'operator-trouble', 'operator-look'] as const

for (const concern of concerns) await import(`./fact/${concern}.ts`)

// The environment of a process that is to see nothing else of the test's own.

/** Where programs are found, and the compiled scripts of this test run, which halve the time in which Node starts. */
export const bareEnvironment: Readonly<Record<'PATH' | 'NODE_COMPILE_CACHE', string>> = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}

// Loaded into a process before its own code: SIGUSR2 blocks its event loop, as an endless computation would. Its sockets
// and its boxes live on, and it says nothing.
const blockedMilliseconds = Number(process.env['STALL_SECONDS']) * 1000

process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMilliseconds)
})

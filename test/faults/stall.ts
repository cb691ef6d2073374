// Loaded into a process before its own code. SIGUSR2 blocks the event loop as an endless computation would. The process's
// sockets and boxes live on, and it sends nothing.
const blockedMilliseconds = Number(process.env['STALL_SECONDS']) * 1000

process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMilliseconds)
})

// A JavaScript program that does what the first line of its input says.
export const code = `
const fs = require('node:fs')
const { execFileSync, spawn } = require('node:child_process')
const show = (path) => process.stdout.write(fs.readFileSync(path, 'utf8'))
const list = (path) => {
  for (const name of fs.readdirSync(path).sort()) {
    let target = ''
    try { target = fs.readlinkSync(path + '/' + name).replace(/\\d+/g, 'N') } catch {}
    console.log(path + '/' + name, target)
  }
}
const text = fs.readFileSync('/proc/self/stat', 'utf8')
/** From the third field on. */
const stat = text.slice(text.lastIndexOf(')') + 2).split(' ')
const [word, ...rest] = fs.readFileSync(0, 'utf8').trim().split('\\n')
const deeds = {
  // Field 22, in ticks of a hundredth since the host began.
  age: () => console.log(Number(process.hrtime.bigint() / 1_000_000n) - 10 * Number(stat[19])),
  echo: () => console.log(rest.join('|'), process.argv.length, process.execArgv),
  properties: () => {
    console.log(process.versions, process.config.variables.napi_build_version, process.cwd(), process.title, process.umask())
    console.log(__filename, require.main === module, module.paths, Object.keys(require.cache), process.getuid())
  },
  variables: () => {
    console.log(process.env)
    process.stdout.write(execFileSync('/usr/bin/env'))
  },
  environ: () => console.log(fs.readFileSync('/proc/self/environ', 'utf8').replace(/\\0+$/, '')),
  status: () => ['/proc/self/status', '/proc/1/status'].forEach(show),
  limits: () => show('/proc/self/limits'),
  descriptors: () => list('/proc/self/fd'),
  mounts: () => show('/proc/self/mountinfo'),
  cgroup: () => show('/proc/self/cgroup'),
  class: () => {
    console.log('policy', stat[38], 'priority', stat[15], 'nice', stat[16])
    show('/proc/self/oom_score_adj')
  },
  arguments: () => console.log(fs.readFileSync('/proc/self/cmdline', 'utf8').replaceAll('\\0', ' ')),
  files: () => {
    for (const path of ['/', '/box', '/tmp', '/dev', '/dev/shm']) list(path)
    for (const path of ['/tmp/left', 'left']) fs.writeFileSync(path, 'by a program')
  },
  exit: () => process.exit(7),
  heap: () => { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)) },
  memory: () => {
    spawn('/usr/bin/python3', ['-c', "print('begun', flush=True); x = bytearray(1 << 30)"], { stdio: 'inherit' })
    setTimeout(() => {}, 60_000) // until the keeper sees that the kernel killed the child
  },
  loop: () => { console.log('begun'); for (;;); },
  disk: () => {
    try { for (;;) fs.appendFileSync('large', Buffer.alloc(1 << 20)) } catch ({ code }) { console.log(code, fs.statSync('large').size) }
  },
  recursion: () => { const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1)); console.log(depth(100_000)) },
  children: () => {
    const refuse = ({ code }) => { console.log(code); process.exit(0) }
    for (let begun = 0; begun < 100; begun += 1) spawn('/bin/sleep', ['600']).on('error', refuse)
  },
  clocks: () => {
    console.log(JSON.stringify({
      age: performance.nodeTiming.duration,
      now: performance.now(),
      uptime: 1000 * process.uptime(),
      origin: performance.timeOrigin + performance.now() - Date.now(),
    }))
  },
  'clocks of a thread': () => {
    const { Worker } = require('node:worker_threads')
    new Worker("console.log(performance.now() >= 0, performance.timeOrigin > performance.now(), process.uptime() > 0)", { eval: true })
  },
  modules: () => {
    fs.writeFileSync('other.js', 'exports.name = __filename')
    console.log(require('./other').name, require('node:zlib').gzipSync('a'.repeat(100)).length)
    import('node:path').then(({ sep }) => console.log(sep))
  },
}
if (word in deeds) deeds[word]()
else console.log('what?')
`

export const ownWords = {
  'the clocks of a thread': 'clocks of a thread',
  'modules that it loads': 'modules',
}

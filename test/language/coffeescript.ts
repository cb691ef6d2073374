// CoffeeScript's programs.
import type { Programs } from './program.ts'

export const coffeescript: Programs = {
  sum: `[a, b] = require('fs').readFileSync(0, 'utf8').split('\\n').map Number
console.log a + b`,
  copy: 'process.stdin.pipe process.stdout',
  unicode: `console.log 'Grüße, 世界 🎉'
require('readline').createInterface(input: process.stdin).on 'line', (line) -> console.log line`,
  exitThree: "process.stdout.write 'out'\nconsole.error 'err'\nprocess.exitCode = 3",
  uncaught: {
    code: 'f = (x) ->\n  throw new RangeError "no such thing: #{x}"\n\nf 1',
    says: /RangeError: no such thing: 1\n\s+at f \(.*main\.coffee:2:9\)/,
  },
  broken: {
    code: 'a = 1\nb = 2\nc = = 3\n',
    says: /main\.coffee:3:5: error: unexpected =/,
  },
  busyLoop: 'loop\n  null',
  sleeper: 'setTimeout (->), 60000',
  memoryBomb: 'kept = []\nkept.push Buffer.alloc 2 ** 20, 1 while true',
  outputFlood: "require('fs').writeSync 1, 'x'.repeat(100) + '\\n' while true",
  scratch: `fs = require 'fs'
fs.writeFileSync '/tmp/file', 'kept'
console.log fs.readFileSync '/tmp/file', 'utf8'`,
  threads: `{Worker} = require 'worker_threads'
work = ->
  {parentPort, workerData} = require 'worker_threads'
  sum = 0
  sum += workerData * 250 + n for n in [1..250]
  parentPort.postMessage sum
start = (part) ->
  new Promise (resolve, reject) ->
    new Worker "(#{work})()", eval: true, workerData: part
      .on 'message', resolve
      .on 'error', reject
sums = await Promise.all (start part for part in [0...4])
console.log sums.reduce (a, b) -> a + b`,
  network: "require('net').connect(9, '127.0.0.1').on 'error', -> console.log 'closed'",
  usual: `lines = require('fs').readFileSync(0, 'utf8').trim().split '\\n'
rows = for line in lines
  [, name, number] = line.match /^(\\w+) (-?\\d+)$/
  {name, number: Number number}
rows.sort (a, b) -> a.number - b.number or a.name.localeCompare b.name
console.log "#{name}: #{number}" for {name, number} in rows
sum = rows.reduce ((total, {number}) -> total + number), 0
console.log "mean: #{(sum / rows.length).toFixed 2}"`,
  arguments: 'console.log word for word in process.argv[2..]',
  variable: 'console.log process.env.GREETING',
  secondFile: {
    code: '{answer} = require "./answer"\nconsole.log answer()',
    file: { name: 'answer.coffee', content: 'exports.answer = -> 42\n' },
  },
}

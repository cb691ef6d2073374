// Ruby's programs.
import type { Programs } from './program.ts'

export const ruby: Programs = {
  sum: 'a = gets.to_i\nb = gets.to_i\nputs a + b',
  copy: 'STDOUT.write(STDIN.read)',
  unicode: 'puts "Grüße, 世界 🎉"\nputs gets',
  exitThree: 'print "out"\nwarn "err"\nexit 3',
  uncaught: {
    code: 'def f(x)\n  raise ArgumentError, "no such thing"\nend\nf(1)',
    says: /no such thing \(ArgumentError\)/,
  },
  broken: { code: 'a = 1\nb = 2\nc = = 3\n', says: /main\.rb:3: syntax error/ },
  busyLoop: 'loop {}',
  sleeper: 'sleep 60',
  memoryBomb: 'kept = []\nloop { kept << "x" * (1 << 20) }',
  outputFlood: 'loop { puts "x" * 100 }',
  scratch: 'File.write("/tmp/file", "kept")\nputs File.read("/tmp/file")',
  threads:
    'puts (0...4).map { |part| Thread.new { (part * 250 + 1..part * 250 + 250).sum } }.sum(&:value)',
  network:
    'require "socket"\nbegin\n  TCPSocket.new("127.0.0.1", 9)\nrescue SystemCallError\n  puts "closed"\nend',
  usual: `rows = STDIN.each_line.map(&:split).map { |name, number| [number.to_i, name] }
rows.sort.each { |number, name| puts "#{name}: #{number}" }
puts format("mean: %.2f", rows.sum(&:first).fdiv(rows.size))`,
  arguments: 'ARGV.each { |word| puts word }',
  variable: 'puts ENV.fetch("GREETING")',
  secondFile: {
    code: "require_relative 'answer'\nputs answer",
    file: { name: 'answer.rb', content: 'def answer = 42\n' },
  },
}

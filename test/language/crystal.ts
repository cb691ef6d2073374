// Crystal's programs.
import type { Programs } from './program.ts'

export const crystal: Programs = {
  sum: 'a = gets.not_nil!.to_i\nb = read_line.to_i\nputs a + b',
  copy: 'IO.copy(STDIN, STDOUT)',
  unicode: 'puts "Grüße, 世界 🎉"\nputs gets',
  exitThree: 'print "out"\nSTDERR.print "err"\nexit 3',
  uncaught: {
    code: 'def f(x)\n  raise ArgumentError.new("no such thing")\nend\n\nf(1)',
    says: /Unhandled exception: no such thing \(ArgumentError\)/,
  },
  broken: { code: 'a = 1\nb = 2\nc = a + "b"\n', says: /main\.cr:3:9/ },
  busyLoop: 'n = 0\nloop { n = (n + 1) % 1000003 }',
  sleeper: 'sleep 60',
  memoryBomb: 'kept = [] of String\nloop { kept << "x" * 1_000_000 }',
  outputFlood: 'loop { puts "x" * 100 }',
  scratch: 'File.write("/tmp/file", "kept")\nputs File.read("/tmp/file")',
  threads: `sums = Channel(Int32).new
4.times do |part|
  spawn { sums.send((part * 250 + 1..part * 250 + 250).sum) }
end
puts 4.times.sum { sums.receive }`,
  network: `require "socket"

begin
  TCPSocket.new("127.0.0.1", 9)
rescue Socket::Error
  puts "closed"
end`,
  usual: `numbers = Hash(String, Int32).new
STDIN.each_line do |line|
  numbers[$1] = $2.to_i if line =~ /^(\\w+)\\s+(-?\\d+)$/
end
numbers.to_a.sort_by { |name, number| {number, name} }.each do |name, number|
  puts "#{name}: #{number}"
end
printf "mean: %.2f\\n", numbers.values.sum / numbers.size`,
  arguments: 'ARGV.each { |word| puts word }',
  variable: 'puts ENV["GREETING"]',
  secondFile: {
    code: 'require "./answer"\n\nputs answer',
    file: { name: 'answer.cr', content: 'def answer\n  42\nend\n' },
  },
  compileArguments: {
    words: ['-Down'],
    code: 'puts({% if flag?(:own) %} 42 {% else %} 0 {% end %})',
  },
}

// Crystal's programs.
import type { Programs, Shared } from './program.ts'

/** Most behaviours, because the compiler takes five seconds of CPU time. */
const most: Shared = {
  shared: `require "socket"

def sum
  a = gets.not_nil!.to_i
  b = read_line.to_i
  puts a + b
end

def exit_three
  print "out"
  STDERR.print "err"
  exit 3
end

def busy_loop
  n = 0
  loop { n = (n + 1) % 1000003 }
end

def memory_bomb
  kept = [] of String
  loop { kept << "x" * 1_000_000 }
end

def scratch
  File.write("/tmp/file", "kept")
  puts File.read("/tmp/file")
end

def threads
  sums = Channel(Int32).new
  4.times do |part|
    spawn { sums.send((part * 250 + 1..part * 250 + 250).sum) }
  end
  puts 4.times.sum { sums.receive }
end

def network
  TCPSocket.new("127.0.0.1", 9)
rescue Socket::Error
  puts "closed"
end

case ENV["BEHAVIOUR"]
when "sum" then sum
when "copy" then IO.copy(STDIN, STDOUT)
when "unicode"
  puts "Grüße, 世界 🎉"
  puts gets
when "exitThree" then exit_three
when "busyLoop" then busy_loop
when "sleeper" then sleep 60
when "memoryBomb" then memory_bomb
when "outputFlood" then loop { puts "x" * 100 }
when "scratch" then scratch
when "threads" then threads
when "network" then network
when "arguments" then ARGV.each { |word| puts word }
when "variable" then puts ENV["GREETING"]
end`,
}

export const crystal: Programs = {
  sum: most,
  copy: most,
  unicode: most,
  exitThree: most,
  uncaught: {
    code: 'def f(x)\n  raise ArgumentError.new("no such thing")\nend\n\nf(1)',
    says: /Unhandled exception: no such thing \(ArgumentError\)/,
  },
  broken: { code: 'a = 1\nb = 2\nc = a + "b"\n', says: /main\.cr:3:9/ },
  busyLoop: most,
  sleeper: most,
  memoryBomb: most,
  outputFlood: most,
  scratch: most,
  threads: most,
  network: most,
  usual: `numbers = Hash(String, Int32).new
STDIN.each_line do |line|
  numbers[$1] = $2.to_i if line =~ /^(\\w+)\\s+(-?\\d+)$/
end
numbers.to_a.sort_by { |name, number| {number, name} }.each do |name, number|
  puts "#{name}: #{number}"
end
printf "mean: %.2f\\n", numbers.values.sum / numbers.size`,
  arguments: most,
  variable: most,
  secondFile: {
    code: 'require "./answer"\n\nputs answer',
    file: { name: 'answer.cr', content: 'def answer\n  42\nend\n' },
  },
  compileArguments: {
    words: ['-Down'],
    code: 'puts({% if flag?(:own) %} 42 {% else %} 0 {% end %})',
  },
}

// AWK's programs.
import type { Programs } from './program.ts'

export const awk: Programs = {
  sum: '{ sum += $1 }\nEND { print sum }',
  copy: '{ print }',
  unicode: 'BEGIN { print "Grüße, 世界 🎉" }\n{ print }',
  exitThree: 'BEGIN {\n  print "out"\n  print "err" > "/dev/stderr"\n  exit 3\n}',
  uncaught: {
    code: 'function half(x) {\n  return 1 / x\n}\nBEGIN { print half(0) }',
    says: /main\.awk:2: (?:\(.*\) )?fatal: division by zero/,
  },
  broken: {
    code: 'BEGIN {\n  a = 1\n  b = = 2\n  print a\n}\n',
    says: /main\.awk:3: [^]*syntax error/,
  },
  busyLoop: 'BEGIN { while (1) n++ }',
  sleeper: 'BEGIN { system("sleep 60") }',
  memoryBomb: 'BEGIN { while (1) kept[n++] = sprintf("%1000d", n) }',
  outputFlood: 'BEGIN { while (1) print "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }',
  scratch: `BEGIN {
  print "kept" > "/tmp/file"
  close("/tmp/file")
  getline line < "/tmp/file"
  print line
}`,
  // AWK has no threads, but commands that run beside it.
  threads: `BEGIN {
  for (part = 0; part < 4; part++) {
    command[part] = sprintf("seq %d %d", part * 250 + 1, part * 250 + 250)
    printf "" |& command[part]
  }
  for (part in command)
    while ((command[part] |& getline number) > 0) sum += number
  print sum
}`,
  network: `BEGIN {
  service = "/inet/tcp/0/127.0.0.1/9"
  if ((service |& getline) < 0) print "closed"
}`,
  usual: `function compare(i, a, j, b) {
  if (a != b) return a - b
  return i < j ? -1 : i > j
}
match($0, /^([a-z]+) (-?[0-9]+)$/, found) {
  numbers[found[1]] = found[2] + 0
  sum += found[2]
}
END {
  PROCINFO["sorted_in"] = "compare"
  for (name in numbers) print name ": " numbers[name]
  printf "mean: %.2f\\n", sum / length(numbers)
}`,
  arguments: 'BEGIN {\n  for (n = 1; n < ARGC; n++) print ARGV[n]\n}',
  variable: 'BEGIN { print ENVIRON["GREETING"] }',
  secondFile: {
    code: '@include "answer.awk"\nBEGIN { print answer() }',
    file: { name: 'answer.awk', content: 'function answer() { return 42 }\n' },
  },
}

// Zsh's programs.
import type { Programs } from './program.ts'

export const zsh: Programs = {
  sum: 'read -r a\nread -r b\nprint $((a + b))',
  copy: `while IFS= read -r line; do
  print -r -- "$line"
done`,
  unicode: 'print "Grüße, 世界 🎉"\nread -r line\nprint -r -- $line',
  exitThree: 'print -n out\nprint -nu2 err\nexit 3',
  uncaught: {
    code: 'setopt err_exit no_unset\nprint ${missing}\nprint done',
    says: /^main\.zsh:2: missing: parameter not set\n/,
  },
  broken: {
    code: 'a=1\nb=2\nif [[ $a == $b ]]; do print same; fi\nprint $a\n',
    says: /main\.zsh:3: parse error near `do'/,
  },
  busyLoop: 'while :; do :; done',
  sleeper: 'zmodload zsh/zselect\nzselect -t 6000',
  memoryBomb: 'kept=x\nwhile :; do\n  kept+=$kept\ndone',
  outputFlood: 'while :; do\n  print xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ndone',
  scratch: 'print kept > /tmp/file\nprint -r -- "$(</tmp/file)"',
  threads: `for part in {0..3}; do
  (
    integer sum=0
    for n in {$((part * 250 + 1))..$((part * 250 + 250))}; do (( sum += n )); done
    print $sum > /tmp/part.$part
  ) &
done
wait
integer total=0
for file in /tmp/part.*(.); do (( total += $(<$file) )); done
print $total`,
  network: `zmodload zsh/net/tcp
ztcp 127.0.0.1 9 2> /dev/null || print closed`,
  usual: `zmodload zsh/mathfunc
autoload -Uz zmathfunc
typeset -A numbers
float sum=0
while read -r line; do
  [[ $line =~ '^([a-z]+) (-?[0-9]+)$' ]] || exit 1
  numbers[$match[1]]=$match[2]
  (( sum += match[2] ))
done
rows=()
for name number in \${(kv)numbers}; do
  rows+=("$(printf '%05d' $(( number + 1000 ))) $name")
done
for row in \${(o)rows}; do
  name=\${row#* }
  print -r -- "$name: $numbers[$name]"
done
printf 'mean: %.2f\\n' $(( sum / floor($#numbers) ))`,
  arguments: `for word in "$@"; do\n  print -r -- "$word"\ndone`,
  variable: 'print -r -- "$GREETING"',
  secondFile: {
    code: 'source ./answer.zsh\nanswer',
    file: { name: 'answer.zsh', content: 'answer() { echo 42; }\n' },
  },
}

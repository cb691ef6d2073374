// Bash's programs.
import type { Programs } from './program.ts'

export const bash: Programs = {
  sum: 'read -r a\nread -r b\necho $((a + b))',
  copy: `while IFS= read -r line; do
  printf '%s\\n' "$line"
done`,
  unicode: 'echo "Grüße, 世界 🎉"\nread -r line\necho "$line"',
  exitThree: 'echo out\necho err >&2\nexit 3',
  uncaught: {
    code: '#!/bin/bash\nset -euo pipefail\ncat /no/such/file\necho done',
    says: /^cat: \/no\/such\/file: No such file or directory\n/,
  },
  broken: {
    code: 'a=1\nb=2\nif [ "$a" = "$b" ]; then; echo same; fi\necho "$a"\n',
    says: /main\.sh: line 3: syntax error near unexpected token `;'/,
  },
  busyLoop: 'while :; do :; done',
  sleeper: 'sleep 60',
  memoryBomb: 'kept=x\nwhile true; do\n  kept+=$kept\ndone',
  outputFlood: 'while true; do\n  echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ndone',
  scratch: 'echo kept > /tmp/file\ncat /tmp/file',
  threads: `for part in 0 1 2 3; do
  (
    sum=0
    for ((n = part * 250 + 1; n <= part * 250 + 250; n++)); do ((sum += n)); done
    echo "$sum" > "/tmp/part.$part"
  ) &
done
wait
echo $(($(cat /tmp/part.* | paste -sd+)))`,
  network: 'if ! (exec 3<> /dev/tcp/127.0.0.1/9) 2> /dev/null; then\n  echo closed\nfi',
  usual: `declare -A numbers
sum=0
while read -r line; do
  [[ $line =~ ^([a-z]+)\\ (-?[0-9]+)$ ]] || exit 1
  numbers[\${BASH_REMATCH[1]}]=\${BASH_REMATCH[2]}
  ((sum += BASH_REMATCH[2]))
done
for name in "\${!numbers[@]}"; do
  echo "$name: \${numbers[$name]}"
done | sort -t: -k2,2n -k1,1
awk -v sum="$sum" -v count="\${#numbers[@]}" 'BEGIN { printf "mean: %.2f\\n", sum / count }'`,
  arguments: `for word in "$@"; do\n  printf '%s\\n' "$word"\ndone`,
  variable: 'echo "$GREETING"',
  secondFile: {
    code: 'source answer.sh\nanswer',
    file: { name: 'answer.sh', content: 'answer() { echo 42; }\n' },
  },
}

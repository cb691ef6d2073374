// PHP's programs.
import type { Programs } from './program.ts'

export const php: Programs = {
  sum: '<?php\nfscanf(STDIN, "%d", $a);\nfscanf(STDIN, "%d", $b);\necho $a + $b, PHP_EOL;',
  copy: '<?php\nwhile (($line = fgets(STDIN)) !== false) {\n    echo $line;\n}',
  unicode: '<?php\necho "Grüße, 世界 🎉\\n";\necho trim(fgets(STDIN)) . "\\n";',
  exitThree: '<?php\necho "out";\nfwrite(STDERR, "err");\nexit(3);',
  uncaught: {
    code: '<?php\nfunction f($x) {\n    throw new InvalidArgumentException("no such thing");\n}\nf(1);',
    says: /Uncaught InvalidArgumentException: no such thing in \/box\/main\.php:3/,
  },
  broken: {
    code: '<?php\n$a = 1;\n$b = = 2;\necho $a;\n',
    says: /syntax error, unexpected [^]* in \/?(?:box\/)?main\.php on line 3/,
  },
  busyLoop: '<?php\nwhile (true);',
  sleeper: '<?php\nsleep(60);',
  memoryBomb: '<?php\n$kept = [];\nwhile (true) {\n    $kept[] = str_repeat("x", 1 << 20);\n}',
  outputFlood: '<?php\nwhile (true) {\n    echo str_repeat("x", 100), "\\n";\n}',
  scratch:
    '<?php\nfile_put_contents("/tmp/file", "kept");\necho file_get_contents("/tmp/file"), "\\n";',
  // PHP's usual builds have processes, but no threads.
  threads: `<?php
$pipes = [];
for ($part = 0; $part < 4; $part++) {
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);
    if (pcntl_fork() === 0) {
        fwrite($theirs, array_sum(range($part * 250 + 1, $part * 250 + 250)) . "\\n");
        exit;
    }
    $pipes[] = $ours;
}
echo array_sum(array_map(fn($pipe) => (int) fgets($pipe), $pipes)), "\\n";
while (pcntl_wait($status) > 0);`,
  network: `<?php
$socket = @fsockopen("127.0.0.1", 9, $code, $message, 5);
if (!$socket) {
    echo "closed\\n";
}`,
  usual: `<?php
declare(strict_types=1);

$rows = [];
while ($line = fgets(STDIN)) {
    if (preg_match('/^(\\w+) (-?\\d+)$/', $line, $found)) {
        $rows[] = ['name' => $found[1], 'number' => (int) $found[2]];
    }
}
usort($rows, fn($a, $b) => [$a['number'], $a['name']] <=> [$b['number'], $b['name']]);
foreach ($rows as ['name' => $name, 'number' => $number]) {
    echo "$name: $number\\n";
}
printf("mean: %.2f\\n", array_sum(array_column($rows, 'number')) / count($rows));`,
  arguments: '<?php\nforeach (array_slice($argv, 1) as $word) echo $word, "\\n";',
  variable: `<?php
echo getenv("GREETING"), "\\n";`,
  secondFile: {
    code: '<?php\nrequire "answer.php";\necho answer(), "\\n";',
    file: { name: 'answer.php', content: '<?php\nfunction answer() { return 42; }\n' },
  },
}

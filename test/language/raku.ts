// Raku's programs.
import type { Programs } from './program.ts'

export const raku: Programs = {
  sum: 'my ($a, $b) = lines.map: *.Int;\nsay $a + $b;',
  copy: '.say for lines;',
  unicode: 'say "Grüße, 世界 🎉";\nsay get;',
  exitThree: 'print "out";\nnote "err";\nexit 3;',
  uncaught: {
    code: 'sub f($x) {\n    die "no such thing: $x";\n}\nf 1;',
    says: /^no such thing: 1\n\s+in sub f at main\.raku line 2/,
  },
  broken: {
    code: 'my $a = 1;\nmy $b = 2;\nsay $a + $c;\n',
    says: /Variable '\$c' is not declared[^]*at .*main\.raku:3/,
  },
  busyLoop: 'loop { }',
  sleeper: 'sleep 60;',
  memoryBomb: 'my @kept;\nloop { @kept.push: buf8.allocate(2 ** 20, 1) }',
  outputFlood: 'loop { say "x" x 100 }',
  scratch: 'spurt "/tmp/file", "kept";\nsay slurp "/tmp/file";',
  threads: `my @parts = (0..3).map: -> $part { start { [+] $part * 250 + 1 .. $part * 250 + 250 } };
say [+] await @parts;`,
  network: `try {
    IO::Socket::INET.new(:host<127.0.0.1>, :port(9));
    CATCH { default { say "closed" } }
}`,
  usual: `my %numbers = lines.map: { m/^ (\\w+) \\s+ ('-'? \\d+) $/; ~$0 => +$1 };
for %numbers.sort({ .value, .key }) -> (:$key, :$value) {
    say "$key: $value";
}
printf "mean: %.2f\\n", %numbers.values.sum / %numbers;`,
  arguments: '.say for @*ARGS;',
  variable: 'say %*ENV<GREETING>;',
  secondFile: {
    code: "use lib '.';\nuse Answer;\nsay answer;",
    file: { name: 'Answer.rakumod', content: 'unit module Answer;\nsub answer is export { 42 }\n' },
  },
}

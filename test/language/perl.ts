// Perl's programs.
import type { Programs } from './program.ts'

export const perl: Programs = {
  sum: 'use strict;\nuse warnings;\n\nmy $first = <STDIN>;\nmy $second = <STDIN>;\nprint $first + $second, "\\n";',
  copy: 'while (my $line = <>) {\n    print $line;\n}',
  unicode: 'print "Grüße, 世界 🎉\\n";\nmy $line = <STDIN>;\nchomp $line;\nprint "$line\\n";',
  exitThree: 'print "out";\nprint STDERR "err";\nexit 3;',
  uncaught: {
    code: 'sub f {\n    die "no such thing";\n}\nf(1);',
    says: /^no such thing at main\.pl line 2\.\n/,
  },
  broken: {
    code: 'my $a = 1;\nmy $b = 2;\nmy $c = = 3;\n',
    says: /syntax error at main\.pl line 3/,
  },
  busyLoop: '1 while 1;',
  sleeper: 'sleep 60;',
  memoryBomb: 'my @kept;\nwhile (1) {\n    push @kept, "x" x (1 << 20);\n}',
  outputFlood: 'while (1) {\n    print "x" x 100, "\\n";\n}',
  scratch: `use strict;
use warnings;

open(my $out, '>', '/tmp/file') or die "$!";
print $out "kept\\n";
close $out;
open(my $in, '<', '/tmp/file') or die "$!";
print <$in>;`,
  threads: `use strict;
use warnings;
use threads;
use List::Util qw(sum);

my @parts = map { my $first = $_ * 250 + 1; threads->create(sub { sum($first .. $first + 249) }) } 0 .. 3;
print sum(map { $_->join } @parts), "\\n";`,
  network: `use IO::Socket::INET;
my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => 9, Proto => 'tcp');
print "closed\\n" unless $socket;`,
  usual: `#!/usr/bin/perl
use strict;
use warnings;
use feature 'say';
use List::Util qw(sum);

my %numbers;
while (<STDIN>) {
    $numbers{$1} = $2 if /^(\\w+) (-?\\d+)$/;
}
for my $name (sort { $numbers{$a} <=> $numbers{$b} || $a cmp $b } keys %numbers) {
    say "$name: $numbers{$name}";
}
printf "mean: %.2f\\n", sum(values %numbers) / keys %numbers;`,
  arguments: 'print "$_\\n" for @ARGV;',
  variable: 'print "$ENV{GREETING}\\n";',
  secondFile: {
    code: 'use strict;\nuse warnings;\nuse lib ".";\nuse Answer;\nprint Answer::get(), "\\n";',
    file: { name: 'Answer.pm', content: 'package Answer;\nsub get { 42 }\n1;\n' },
  },
}

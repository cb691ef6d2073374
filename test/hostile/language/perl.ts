// Attacks in Perl.
import { aims, boxPaths, hostPaths, quote, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWayWithoutThreads } from './ways.ts'

const raw = String.raw

const program = raw`
use strict; use warnings; use POSIX ();
$| = 1;
if (-e '/etc/debian_version') { print "ESCAPED there is no box\n"; exit 1 }
my $way = <STDIN>; chomp $way;
my $block = 'x' x (1 << 20);
if ($way eq 'files') {
  for my $path (map { s/\0//gr } ${quoteSingle(hostPaths)}) {
    print "ESCAPED $path\n" if open my $file, '<', $path;
    print "ESCAPED do $path\n" if defined do $path;
  }
  for my $path (${quoteSingle(boxPaths)}) { open my $file, '<', $path or next; print <$file>, "\n" }
  print map({ "$_=$ENV{$_}\n" } keys %ENV), qx(env; cat /proc/1/environ 2>&1);
} elsif ($way eq 'calls') {
  my @rows = (${aims.calls});
  while (my @row = splice @rows, 0, 7) {
    $! = 0;
    my $result = syscall($row[0], @row[1 .. 6]);
    my $code = $! + 0;
    if ($result != -1) { print "ESCAPED call @row: $result\n" }
    elsif (!grep { $_ == $code } ${aims.errors}) { print "UNSURE call @row: $!\n" }
  }
  $> = 0; print "ESCAPED root\n" if $> == 0;
  print "ESCAPED kill\n" if kill 0, @WORKER_PID@;
  print "ESCAPED socket\n" if socket my $socket, 2, 1, 0;
} elsif ($way eq 'daemon') {
  if (fork == 0) { POSIX::setsid(); exit if fork; sleep 600 while 1 }
  select undef, undef, undef, 0.05;
} elsif ($way eq 'disk') {
  my $written = 0;
  open my $file, '>', '/tmp/fill';
  while ($written < 64 << 20) { my $n = syswrite $file, $block; last unless $n; $written += $n }
  print "ESCAPED the disk\n" if $written > 32 << 20;
} elsif ($way eq 'output') { print $block while 1 }
elsif ($way eq 'memory') { my @held; push @held, 'x' x (1 << 20) . @held while 1 }
elsif ($way eq 'processes') { fork while 1 }
else { exit 9 }
print "held\n";`

function quoteSingle(words: readonly string[]): string {
  return `(${quote(words).replaceAll('"', "'")})`
}

export const perl: HostileLanguage = {
  language: 'perl',
  program,
  ways: everyWayWithoutThreads,
  sources: [
    shows(
      'what runs as it loads shows no file',
      (path) => `BEGIN { if (open my $f, '<', '${path}') { print <$f> } }\nprint "\\nheld\\n";`,
    ),
    showsNone(
      'a require shows no file',
      (path) => `BEGIN { eval { require '${path}' }; print $@ }\nprint "\\nheld\\n";`,
    ),
    shows(
      'a filter of sources shows no file',
      (path) =>
        `use lib '${path}'; BEGIN { @ARGV = ('${path}'); while (<>) { print } }\nprint "\\nheld\\n";`,
    ),
  ],
}

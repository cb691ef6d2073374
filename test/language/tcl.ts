// Tcl's programs.
import type { Programs } from './program.ts'

export const tcl: Programs = {
  sum: 'gets stdin a\ngets stdin b\nputs [expr {$a + $b}]',
  copy: 'while {[gets stdin line] >= 0} {\n  puts $line\n}',
  unicode: 'puts "Grüße, 世界 🎉"\nputs [gets stdin]',
  exitThree: 'puts -nonewline "out"\nputs stderr "err"\nexit 3',
  uncaught: {
    code: 'proc f {x} {\n  error "no such thing"\n}\nf 1',
    says: /no such thing[^]*\(procedure "f" line 2\)[^]*\(file "main\.tcl" line 4\)/,
  },
  broken: {
    code: 'set a 1\nset b 2\nset c [expr {$a +}]\nputs $c\n',
    says: /missing operand[^]*\(file "main\.tcl" line 3\)/,
  },
  busyLoop: 'while 1 {}',
  sleeper: 'after 60000',
  memoryBomb: 'set kept {}\nwhile 1 {\n  lappend kept [string repeat x 1000000]\n}',
  outputFlood: 'while 1 {\n  puts [string repeat x 100]\n}',
  scratch: `set file [open /tmp/file w]
puts $file "kept"
close $file
set file [open /tmp/file]
puts -nonewline [read $file]
close $file`,
  threads: `# Coroutines: an interpreter has one thread unless it loads more.
proc part {n} {
  yield
  set sum 0
  for {set i [expr {$n * 250 + 1}]} {$i <= $n * 250 + 250} {incr i} {
    incr sum $i
    if {$i % 50 == 0} yield
  }
  lappend ::sums $sum
  set ::left [expr {$::left - 1}]
}
proc drive {name} {
  $name
  if {[info commands $name] ne ""} {after 0 [list drive $name]}
}
set left 4
for {set n 0} {$n < 4} {incr n} {
  coroutine task$n part $n
  after 0 [list drive task$n]
}
while {$left > 0} {vwait left}
puts [tcl::mathop::+ {*}$sums]`,
  network: `if {[catch {socket 127.0.0.1 9}]} {
  puts "closed"
}`,
  usual: `proc compare {a b} {
  lassign $a name1 number1
  lassign $b name2 number2
  if {$number1 != $number2} {return [expr {$number1 - $number2}]}
  string compare $name1 $name2
}
set rows {}
set sum 0.0
while {[gets stdin line] >= 0} {
  if {![regexp {^(\\w+)\\s+(-?\\d+)$} $line -> name number]} continue
  lappend rows [list $name $number]
  dict incr count $name
  set sum [expr {$sum + $number}]
}
foreach row [lsort -command compare $rows] {
  lassign $row name number
  puts "$name: $number"
}
puts [format "mean: %.2f" [expr {$sum / [llength $rows]}]]`,
  arguments: 'foreach word $argv { puts $word }',
  variable: 'puts $env(GREETING)',
  secondFile: {
    code: 'source answer.tcl\nputs [answer]',
    file: { name: 'answer.tcl', content: 'proc answer {} { return 42 }\n' },
  },
}

// Gforth's programs.
import type { Programs } from './program.ts'

export const forth: Programs = {
  sum: ': read-number ( -- n ) pad 80 stdin read-line throw drop pad swap evaluate ;\nread-number read-number + .',
  copy: `create line-buffer 4096 allot
: copy ( -- )
  begin line-buffer 4096 stdin read-line throw while
    line-buffer swap type cr
  repeat drop ;
copy`,
  unicode: `: line ( -- addr u ) pad 80 stdin read-line throw drop pad swap ;
." Grüße, 世界 🎉" cr
line type cr`,
  exitThree: '." out"\ns" err" stderr write-file throw\n3 (bye)',
  uncaught: {
    code: ': f ( n -- )\n  2 < abort" no such thing" ;\n1 f',
    says: /main\.fs:3: no such thing/,
  },
  broken: {
    code: ': a 1 ;\n: b 2 ;\n: c a undefined-word ;\n',
    says: /main\.fs:3: Undefined word/,
  },
  busyLoop: ': forever begin again ;\nforever',
  sleeper: '60000 ms',
  memoryBomb: ': eat begin 1048576 dup allocate throw swap 1 fill again ;\neat',
  outputFlood: ': flood begin 100 0 do [char] x emit loop cr again ;\nflood',
  scratch: `variable file
s" /tmp/file" w/o create-file throw file !
s" kept" file @ write-line throw
file @ close-file throw
s" /tmp/file" slurp-file type`,
  // Gforth's tasks take turns.
  threads: `require tasker.fs
variable total
variable left  4 left !
: add-up ( part -- )
  250 * 251 1 do dup i + total +! pause loop drop  -1 left +! ;
: start ( part -- ) 2000 cells NewTask 1 swap pass add-up stop ;
: main ( -- ) 4 0 do i start loop  begin left @ while pause repeat  total @ . ;
main`,
  network: { cannot: 'its sockets want libtool and a C compiler when the program runs' },
  usual: `100 constant most
create names most 32 * allot
create numbers most cells allot
create places most cells allot
variable row#  0 row# !
variable sum  0 sum !
: row-name ( i -- addr u ) 32 * names + count ;
: row-number ( i -- n ) cells numbers + @ ;
: parse-row ( addr u -- )
  2dup s"  " search 0= abort" no number" ( addr u at rest )
  2dup 1 /string evaluate dup sum +! row# @ cells numbers + !
  nip - row# @ 32 * names + place
  row# @ dup cells places + !
  1 row# +! ;
: read-rows ( -- )
  begin pad 80 stdin read-line throw while
    pad swap parse-row
  repeat drop ;
: before? ( i j -- flag )
  2dup row-number swap row-number 2dup = if
    2drop row-name rot row-name 2swap compare 0<
  else > nip nip then ;
: sort-rows ( -- )
  row# @ 1 ?do
    i begin dup 0> while
      dup cells places + dup @ over 1 cells - @ ( i at a b )
      2dup before? if 2 pick ! over 1 cells - ! drop else 2drop drop drop 0 then
      1-
    repeat drop
  loop ;
: show ( i -- ) dup row-name type ." : " row-number 0 .r cr ;
: main ( -- )
  read-rows sort-rows
  row# @ 0 ?do i cells places + @ show loop
  ." mean: " sum @ s>f row# @ s>f f/ 5 2 2 f.rdp cr ;
main`,
  arguments:
    ': words-given ( -- )\n  begin next-arg 2dup 0 0 d<> while type cr repeat 2drop ;\nwords-given',
  variable: 's" GREETING" getenv type cr',
  secondFile: {
    code: 'require answer.fs\nanswer 0 .r cr',
    file: { name: 'answer.fs', content: '42 constant answer\n' },
  },
}

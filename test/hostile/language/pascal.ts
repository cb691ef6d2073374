// Attacks in Pascal, and through Free Pascal.
import { aims, boxPaths, callRows, exhausts, hostPaths, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw
const quote = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ')

const program = raw`
program attack;
{$mode objfpc}
uses cthreads, BaseUnix, Unix, SysCall, SysUtils, Classes;
const
  host: array[1..${String(hostPaths.length)}] of string = (${quote(hostPaths)});
  own: array[1..${String(boxPaths.length)}] of string = (${quote(boxPaths)});
  rows: array[0..${String(callRows.length * 7 - 1)}] of Int64 = (${callRows.flat().join(', ')});
var
  way: string; i, n: Int64; file_: cint; written: Int64; result_: Int64;
  block: array[0..1048575] of byte; held: pointer;
function rest(none: pointer): ptrint; begin while true do FpPause; end;
begin
  if FileExists('/etc/debian_version') then begin WriteLn('ESCAPED there is no box'); Halt(1); end;
  ReadLn(way);
  case way of
    'files': begin
      for i := low(host) to high(host) do if FpOpen(host[i], O_RDONLY) >= 0 then WriteLn('ESCAPED ', host[i]);
      for i := low(own) to high(own) do begin
        file_ := FpOpen(own[i], O_RDONLY);
        if file_ < 0 then continue;
        repeat n := FpRead(file_, block, sizeof(block)); if n > 0 then begin Flush(Output); FpWrite(1, block, n); end until n <= 0;
        WriteLn;
      end;
    end;
    'calls': begin
      i := 0;
      while i <= high(rows) do begin
        result_ := Do_SysCall(rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5], rows[i + 6]);
        if result_ >= 0 then WriteLn('ESCAPED call ', rows[i], ': ', result_)
        else if not (FpGetErrno in [${aims.errors}]) then WriteLn('UNSURE call ', rows[i], ': ', FpGetErrno);
        i := i + 7;
      end;
    end;
    'daemon': begin
      if FpFork = 0 then begin FpSetsid; if FpFork > 0 then FpExit(0); while true do FpPause; end;
      Sleep(50);
    end;
    'disk': begin
      file_ := FpOpen('/tmp/fill', O_WRONLY or O_CREAT, &600); written := 0;
      repeat n := FpWrite(file_, block, sizeof(block)); if n > 0 then written := written + n; until (n <= 0) or (written >= 67108864);
      if written > 33554432 then WriteLn('ESCAPED the disk');
    end;
    'output': while true do FpWrite(1, block, sizeof(block));
    'memory': while true do begin held := GetMem(1048576); FillByte(held^, 1048576, 1); end;
    'processes': while true do FpFork;
    'threads': while true do BeginThread(@rest);
    else Halt(9);
  end;
  WriteLn('held');
end.`

const main = "\nbegin WriteLn('held'); end."

export const pascal: HostileLanguage = {
  language: 'pascal',
  program,
  ways: { ...everyWay, memory: ['crashed'] },
  sources: [
    showsNone('an include shows no file', (path) => `{$I ${path}}${main}`),
    showsNone('a resource shows no file', (path) => `{$R ${path}}${main}`),
    showsNone('an object to be linked shows no file', (path) => `{$L ${path}}${main}`),
    showsNone(
      'an include of a variable shows none',
      () =>
        `const x = {$I %RUNLEDGER_CANARY%}; y = {$I %PATH%};\nbegin WriteLn(x, y); WriteLn('held'); end.`,
      ['RUNLEDGER_CANARY'],
    ),
    showsNone(
      'a unit of a path shows no file',
      (path) => `{$UNITPATH ${path}}\n{$INCLUDEPATH ${path}}\nuses secret;${main}`,
    ),
    exhausts('an include of itself ends', `{$I main.pas}${main}`),
    exhausts('an include of an endless file ends', `{$I /dev/zero}${main}`, ['exited']),
    exhausts(
      'an array of gigabytes ends',
      `const x: array[0..500000000] of Int64 = (${'1,'.repeat(10_000)}1);${main}`,
    ),
    exhausts(
      'a macro that calls itself ends',
      `{$macro on}{$define a := b b}{$define b := a a}\nvar x: a;${main}`,
    ),
  ],
}

// Pascal's programs.
import type { Programs } from './program.ts'

export const pascal: Programs = {
  sum: `program Sum;
var
  a, b: Integer;
begin
  ReadLn(a);
  ReadLn(b);
  WriteLn(a + b);
end.`,
  copy: `program Copy;
var
  line: AnsiString;
begin
  while not EOF do
  begin
    ReadLn(line);
    WriteLn(line);
  end;
end.`,
  unicode: `program Unicode;
var
  line: String;
begin
  WriteLn('Grüße, 世界 🎉');
  ReadLn(line);
  WriteLn(line);
end.`,
  exitThree: `program ExitThree;
begin
  Write('out');
  Write(StdErr, 'err');
  Halt(3);
end.`,
  uncaught: {
    code: `program Uncaught;
{$mode objfpc}
uses SysUtils;
begin
  raise Exception.Create('no such thing');
end.`,
    says: /An unhandled exception occurred[^]*Exception: no such thing/,
  },
  broken: {
    code: 'program Broken;\nbegin\n  WriteLn(1 + );\nend.\n',
    says: /main\.pas\(3,15\) (Error|Fatal)/,
  },
  busyLoop: 'program BusyLoop;\nbegin\n  while True do;\nend.',
  sleeper: 'program Sleeper;\nuses SysUtils;\nbegin\n  Sleep(60000);\nend.',
  memoryBomb: `program MemoryBomb;
var
  p: Pointer;
begin
  while True do
  begin
    GetMem(p, 1000000);
    FillChar(p^, 1000000, 1);
  end;
end.`,
  outputFlood: `program OutputFlood;
begin
  while True do
    WriteLn('for ever and ever and ever');
end.`,
  scratch: `program Scratch;
var
  f: Text;
  line: String;
begin
  Assign(f, '/tmp/file');
  Rewrite(f);
  WriteLn(f, 'kept');
  Close(f);
  Reset(f);
  ReadLn(f, line);
  Close(f);
  WriteLn(line);
end.`,
  threads: `program Threads;
uses
  cthreads;
var
  Parts: array[0..3] of LongInt;
  Started: array[0..3] of TThreadID;
  Part: PtrInt;

function Add(Which: Pointer): PtrInt;
var
  Number: LongInt;
begin
  for Number := PtrInt(Which) * 250 + 1 to PtrInt(Which) * 250 + 250 do
    Inc(Parts[PtrInt(Which)], Number);
  Add := 0;
end;

begin
  for Part := 0 to 3 do
    Started[Part] := BeginThread(@Add, Pointer(Part));
  for Part := 0 to 3 do
    WaitForThreadTerminate(Started[Part], 0);
  WriteLn(Parts[0] + Parts[1] + Parts[2] + Parts[3]);
end.`,
  network: `program Network;
uses
  Sockets;
var
  s: LongInt;
  target: TInetSockAddr;
begin
  s := fpSocket(AF_INET, SOCK_STREAM, 0);
  target.sin_family := AF_INET;
  target.sin_port := htons(9);
  target.sin_addr := StrToNetAddr('127.0.0.1');
  if (s < 0) or (fpConnect(s, @target, SizeOf(target)) <> 0) then
    WriteLn('closed');
end.`,
  usual: `program Usual;
{$mode objfpc}{$H+}{$modeswitch advancedrecords}
uses
  SysUtils, Classes, Math, fgl;
type
  TRow = record
    Name: String;
    Number: Integer;
    class operator = (const a, b: TRow): Boolean;
  end;
  TRows = specialize TFPGList<TRow>;

class operator TRow.= (const a, b: TRow): Boolean;
begin
  Result := (a.Name = b.Name) and (a.Number = b.Number);
end;

function Compare(const a, b: TRow): Integer;
begin
  Result := CompareValue(a.Number, b.Number);
  if Result = 0 then
    Result := CompareStr(a.Name, b.Name);
end;

var
  Rows: TRows;
  Row: TRow;
  Line: String;
  Words: TStringArray;
  Sum: Double = 0;
begin
  Rows := TRows.Create;
  while not EOF do
  begin
    ReadLn(Line);
    Words := Line.Split([' ']);
    Row.Name := Words[0];
    Row.Number := StrToInt(Words[1]);
    Rows.Add(Row);
    Sum := Sum + Row.Number;
  end;
  Rows.Sort(@Compare);
  for Row in Rows do
    WriteLn(Format('%s: %d', [Row.Name, Row.Number]));
  WriteLn('mean: ', Sum / Rows.Count:0:2);
  Rows.Free;
end.`,
  arguments: `program Arguments;
var
  n: Integer;
begin
  for n := 1 to ParamCount do
    WriteLn(ParamStr(n));
end.`,
  variable: `program Variable;
uses
  SysUtils;
begin
  WriteLn(GetEnvironmentVariable('GREETING'));
end.`,
  secondFile: {
    code: 'program Main;\nuses Answers;\nbegin\n  WriteLn(Answer);\nend.',
    file: {
      name: 'answers.pas',
      content: `unit Answers;
interface
function Answer: Integer;
implementation
function Answer: Integer;
begin
  Answer := 42;
end;
end.
`,
    },
  },
  compileArguments: {
    words: ['-dOWN'],
    code: 'program Main;\nbegin\n  {$ifdef OWN}WriteLn(42);{$endif}\nend.',
  },
}

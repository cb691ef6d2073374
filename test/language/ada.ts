// Ada's programs.
import type { Programs } from './program.ts'

export const ada: Programs = {
  sum: `with Ada.Integer_Text_IO; use Ada.Integer_Text_IO;

procedure Main is
   A, B : Integer;
begin
   Get (A);
   Get (B);
   Put (A + B, Width => 0);
end Main;
`,
  copy: `with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
begin
   while not End_Of_File loop
      Put_Line (Get_Line);
   end loop;
end Main;
`,
  unicode: `with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
begin
   Put_Line ("Grüße, 世界 🎉");
   Put_Line (Get_Line);
end Main;
`,
  exitThree: `with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;

procedure Main is
begin
   Put ("out");
   Put (Standard_Error, "err");
   Set_Exit_Status (3);
end Main;
`,
  uncaught: {
    code: `procedure Main is
   No_Such_Thing : exception;
begin
   raise No_Such_Thing with "key";
end Main;
`,
    says: /raised MAIN\.NO_SUCH_THING : key/,
  },
  broken: {
    code: 'procedure Main is\n   A : Integer := 1;\n   B : Integer := "b";\nbegin\n   null;\nend Main;\n',
    says: /main\.adb:3:19: error/,
  },
  busyLoop: `procedure Main is
begin
   loop
      null;
   end loop;
end Main;
`,
  sleeper: `procedure Main is
begin
   delay 60.0;
end Main;
`,
  memoryBomb: `with Ada.Containers.Indefinite_Vectors;

procedure Main is
   package Strings is new Ada.Containers.Indefinite_Vectors (Positive, String);
   Kept : Strings.Vector;
begin
   loop
      Kept.Append (String'(1 .. 1_000_000 => 'x'));
   end loop;
end Main;
`,
  outputFlood: `with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
begin
   loop
      Put_Line ("for ever and ever and ever");
   end loop;
end Main;
`,
  scratch: `with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
   File : File_Type;
begin
   Create (File, Out_File, "/tmp/file");
   Put_Line (File, "kept");
   Close (File);
   Open (File, In_File, "/tmp/file");
   Put_Line (Get_Line (File));
   Close (File);
end Main;
`,
  threads: `with Ada.Integer_Text_IO; use Ada.Integer_Text_IO;

procedure Main is
   protected Total is
      procedure Add (N : Integer);
      function Value return Integer;
   private
      Sum : Integer := 0;
   end Total;

   protected body Total is
      procedure Add (N : Integer) is
      begin
         Sum := Sum + N;
      end Add;

      function Value return Integer is (Sum);
   end Total;

   task type Adder (Part : Integer);

   task body Adder is
   begin
      for N in Part * 250 + 1 .. Part * 250 + 250 loop
         Total.Add (N);
      end loop;
   end Adder;
begin
   declare
      First  : Adder (0);
      Second : Adder (1);
      Third  : Adder (2);
      Fourth : Adder (3);
   begin
      null;
   end;
   Put (Total.Value, Width => 0);
end Main;
`,
  network: `with Ada.Text_IO;  use Ada.Text_IO;
with GNAT.Sockets; use GNAT.Sockets;

procedure Main is
   Client : Socket_Type;
begin
   Create_Socket (Client);
   Connect_Socket (Client, (Family_Inet, Inet_Addr ("127.0.0.1"), 9));
exception
   when Socket_Error =>
      Put_Line ("closed");
end Main;
`,
  usual: `with Ada.Containers.Generic_Array_Sort;
with Ada.Containers.Indefinite_Ordered_Maps;
with Ada.Float_Text_IO;     use Ada.Float_Text_IO;
with Ada.Integer_Text_IO;   use Ada.Integer_Text_IO;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Text_IO;           use Ada.Text_IO;
with GNAT.Regpat;           use GNAT.Regpat;

procedure Main is
   type Row is record
      Name   : Unbounded_String;
      Number : Integer;
   end record;

   function "<" (A, B : Row) return Boolean is
     (A.Number < B.Number or else (A.Number = B.Number and then A.Name < B.Name));

   type Row_Array is array (Positive range <>) of Row;
   procedure Sort is new Ada.Containers.Generic_Array_Sort (Positive, Row, Row_Array);

   package Maps is new Ada.Containers.Indefinite_Ordered_Maps (String, Integer);
   Numbers : Maps.Map;
   Pattern : constant Pattern_Matcher := Compile ("^([a-z]+) (-?[0-9]+)$");
begin
   while not End_Of_File loop
      declare
         Line  : constant String := Get_Line;
         Found : Match_Array (0 .. 2);
      begin
         Match (Pattern, Line, Found);
         Numbers.Insert
           (Line (Found (1).First .. Found (1).Last),
            Integer'Value (Line (Found (2).First .. Found (2).Last)));
      end;
   end loop;

   declare
      Rows : Row_Array (1 .. Natural (Numbers.Length));
      Last : Natural := 0;
      Sum  : Float := 0.0;
   begin
      for Position in Numbers.Iterate loop
         Last := Last + 1;
         Rows (Last) := (To_Unbounded_String (Maps.Key (Position)), Maps.Element (Position));
         Sum := Sum + Float (Rows (Last).Number);
      end loop;
      Sort (Rows);
      for One of Rows loop
         Put (To_String (One.Name) & ": ");
         Put (One.Number, Width => 0);
         New_Line;
      end loop;
      Put ("mean: ");
      Put (Sum / Float (Last), Fore => 0, Aft => 2, Exp => 0);
      New_Line;
   end;
end Main;
`,
  arguments: `with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
begin
   for N in 1 .. Argument_Count loop
      Put_Line (Argument (N));
   end loop;
end Main;
`,
  variable: `with Ada.Environment_Variables, Ada.Text_IO;

procedure Main is
begin
   Ada.Text_IO.Put_Line (Ada.Environment_Variables.Value ("GREETING"));
end Main;`,
  secondFile: {
    code: `with Ada.Text_IO; use Ada.Text_IO;
with Answer;

procedure Main is
begin
   Put_Line (Answer);
end Main;
`,
    file: {
      name: 'answer.adb',
      content: 'function Answer return String is\nbegin\n   return "42";\nend Answer;\n',
    },
  },
}

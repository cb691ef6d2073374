// Ada: GNAT.
import type { LanguageDefinition } from './definition.ts'

export const ada = {
  title: 'Ada',
  aliases: ['adb'],
  extensions: ['.adb'],
  comment: ['--', ''],
  packages: ['gnat'],
  tools: [
    {
      program: 'gnatmake',
      title: 'GNAT',
      pattern: /^GNATMAKE (\d+)\.(\d+)\.\d+/mu,
      oldest: [10, 0],
    },
  ],
  example: `with Ada.Text_IO;

procedure Main is
begin
   Ada.Text_IO.Put_Line ("Hello, world!");
end Main;`,
  trial: `with Ada.Text_IO; use Ada.Text_IO;
with Ada.Text_IO.Text_Streams; use Ada.Text_IO.Text_Streams;
with Ada.Streams; use Ada.Streams;
procedure Main is
   B : Stream_Element_Array (1 .. 4096); L : Stream_Element_Offset; N : Natural := 0;
begin
   loop
      Read (Stream (Standard_Input).all, B, L); N := N + Natural (L); exit when L = 0;
   end loop;
   Put_Line (N'Image (2 .. N'Image'Last));
end Main;`,
  recipe: {
    source: 'main.adb',
    compile: { commands: [['gnatmake', '-q', '-O2', '-o', 'main', 'main.adb']], makes: 'main' },
    run: ['./main'],
    paths: ['/usr/share/ada'],
  },
} as const satisfies LanguageDefinition

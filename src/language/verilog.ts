// Verilog: Icarus Verilog, simulated.
import type { LanguageDefinition } from './definition.ts'

export const verilog = {
  title: 'Verilog',
  aliases: ['v'],
  extensions: ['.v', '.sv'],
  comment: ['//', ''],
  packages: ['iverilog'],
  tools: [
    {
      program: 'iverilog',
      title: 'Icarus Verilog',
      ask: ['-V'],
      pattern: /^Icarus Verilog version (\d+)\.(\d+)/mu,
      oldest: [10, 0],
    },
  ],
  example: `module main;
  initial $display("Hello, world!");
endmodule`,
  trial: `module main; integer c, n; initial begin n = 0; c = $fgetc(32'h8000_0000); while (c != -1) begin n = n + 1; c = $fgetc(32'h8000_0000); end $display("%0d", n); end endmodule`,
  recipe: {
    source: 'main.v',
    compile: {
      commands: [['iverilog', '-g2012', '-o', 'main.vvp', 'main.v']],
      makes: 'main.vvp',
      together: ['.v', '.sv'],
    },
    run: ['vvp', '-n', 'main.vvp'],
  },
} as const satisfies LanguageDefinition

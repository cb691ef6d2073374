// Verilog's programs.
import type { Programs } from './program.ts'

/** A module that runs this body once. */
function module(body: string, declarations = ''): string {
  return `module main;\n${declarations}  initial begin\n${body}\n  end\nendmodule\n`
}

export const verilog: Programs = {
  sum: module(
    `    count = $fscanf('h8000_0000, "%d", a);
    count = $fscanf('h8000_0000, "%d", b);
    $display("%0d", a + b);`,
    '  integer a, b, count;\n',
  ),
  copy: module(
    `    c = $fgetc('h8000_0000);
    while (c != -1) begin
      $write("%c", c);
      c = $fgetc('h8000_0000);
    end`,
    '  integer c;\n',
  ),
  unicode: module(
    `    $display("Grüße, 世界 🎉");
    count = $fgets(line, 'h8000_0000);
    $write("%0s", line);`,
    '  reg [8*80:1] line;\n  integer count;\n',
  ),
  exitThree: module(
    '    $write("out");\n    $fwrite(\'h8000_0002, "err");\n    $finish_and_return(3);',
  ),
  uncaught: {
    code: { cannot: 'what $fatal says it says on stdout' },
    says: /./,
  },
  broken: {
    code: 'module main;\n  initial begin\n    $display("a" "b");\n  end\nendmodule\n',
    says: /main\.v:3: (?:syntax )?error/,
  },
  busyLoop: module('    forever n = n + 1;', '  reg [31:0] n = 0;\n'),
  sleeper: { cannot: 'it has no time but that which is simulated' },
  memoryBomb: module('    forever text = {text, text};', '  string text = "x";\n'),
  outputFlood: module('    forever $display("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
  scratch: module(
    `    file = $fopen("/tmp/file", "w");
    $fdisplay(file, "kept");
    $fclose(file);
    file = $fopen("/tmp/file", "r");
    count = $fscanf(file, "%s", word);
    $display("%0s", word);`,
    '  integer file, count;\n  reg [8*16:1] word;\n',
  ),
  threads: `module adder #(parameter PART = 0) (input start, output reg done, output integer sum);
  integer n;
  initial done = 0;
  always @(posedge start) begin
    sum = 0;
    for (n = 1; n <= 250; n = n + 1) sum = sum + PART * 250 + n;
    done = 1;
  end
endmodule

module main;
  reg start = 0;
  wire [3:0] done;
  wire [31:0] sum [0:3];
  genvar part;
  generate
    for (part = 0; part < 4; part = part + 1) begin : parts
      adder #(.PART(part)) one (.start(start), .done(done[part]), .sum(sum[part]));
    end
  endgenerate
  initial begin
    #1 start = 1;
    wait (&done);
    #1 $display("%0d", sum[0] + sum[1] + sum[2] + sum[3]);
    $finish(0);
  end
endmodule
`,
  network: { cannot: 'it knows files only' },
  usual: module(
    `    n = 0;
    sum = 0;
    count = $fscanf('h8000_0000, "%s %d", names[0], numbers[0]);
    while (count == 2) begin
      sum = sum + numbers[n];
      n = n + 1;
      count = $fscanf('h8000_0000, "%s %d", names[n], numbers[n]);
    end
    for (i = 0; i < n; i = i + 1)
      for (j = 0; j < n - 1 - i; j = j + 1)
        if (numbers[j] > numbers[j + 1] || (numbers[j] == numbers[j + 1] && names[j] > names[j + 1])) begin
          name = names[j]; names[j] = names[j + 1]; names[j + 1] = name;
          number = numbers[j]; numbers[j] = numbers[j + 1]; numbers[j + 1] = number;
        end
    for (i = 0; i < n; i = i + 1) $display("%0s: %0d", names[i], numbers[i]);
    $display("mean: %.2f", $itor(sum) / n);`,
    `  reg [8*16:1] names [0:99], name;
  integer numbers [0:99];
  integer n, sum, count, i, j, number;
`,
  ),
  arguments: { cannot: 'a design sees those alone that begin with a plus, by $value$plusargs' },
  variable: { cannot: 'a design sees no variables' },
  secondFile: {
    code: 'module main;\n  wire [7:0] n;\n  answer answer_1 (n);\n  initial #1 $display("%0d", n);\nendmodule\n',
    file: {
      name: 'answer.v',
      content: 'module answer (output [7:0] n);\n  assign n = 42;\nendmodule\n',
    },
  },
  compileArguments: {
    words: ['-DN=42'],
    code: 'module main;\n  initial $display("%0d", `N);\nendmodule\n',
  },
}

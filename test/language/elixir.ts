// Elixir's programs.
import type { Programs } from './program.ts'

export const elixir: Programs = {
  sum: `a = IO.gets("") |> String.trim() |> String.to_integer()
b = IO.gets("") |> String.trim() |> String.to_integer()
IO.puts(a + b)`,
  copy: 'IO.stream(:stdio, :line) |> Enum.each(&IO.write/1)',
  unicode: 'IO.puts("Grüße, 世界 🎉")\nIO.write(IO.gets(""))',
  exitThree: 'IO.write("out")\nIO.write(:stderr, "err")\nSystem.halt(3)',
  uncaught: {
    code: 'defmodule A do\n  def f(_), do: raise(ArgumentError, "no such thing")\nend\n\nA.f(1)',
    says: /\*\* \(ArgumentError\) no such thing\n\s+main\.exs:2: A\.f\/1/,
  },
  broken: { code: 'a = 1\nb = 2\nc = = 3\n', says: /SyntaxError\) main\.exs:3:5/ },
  busyLoop: 'Stream.cycle([1]) |> Stream.run()',
  sleeper: 'Process.sleep(60_000)',
  memoryBomb:
    'Enum.reduce(Stream.iterate(0, &(&1 + 1)), [], fn _, kept -> [String.duplicate("x", 1_000_000) | kept] end)',
  outputFlood: 'Stream.repeatedly(fn -> IO.puts("for ever and ever and ever") end) |> Stream.run()',
  scratch: 'File.write!("/tmp/file", "kept")\nIO.puts(File.read!("/tmp/file"))',
  threads: `0..3
|> Task.async_stream(fn part -> Enum.sum((part * 250 + 1)..(part * 250 + 250)) end)
|> Enum.map(fn {:ok, sum} -> sum end)
|> Enum.sum()
|> IO.puts()`,
  network: `case :gen_tcp.connect({127, 0, 0, 1}, 9, [], 5000) do
  {:ok, _} -> IO.puts("open")
  {:error, _} -> IO.puts("closed")
end`,
  usual: `rows =
  for line <- IO.stream(:stdio, :line) do
    [_, name, number] = Regex.run(~r/^(\\w+)\\s+(-?\\d+)$/, String.trim(line))
    {String.to_integer(number), name}
  end

for {number, name} <- Enum.sort(rows), do: IO.puts("#{name}: #{number}")
mean = Enum.sum(Enum.map(rows, &elem(&1, 0))) / length(rows)
IO.puts("mean: #{:erlang.float_to_binary(mean, decimals: 2)}")`,
  arguments: 'Enum.each(System.argv(), &IO.puts/1)',
  variable: 'IO.puts(System.fetch_env!("GREETING"))',
  secondFile: {
    code: 'Code.require_file("answer.ex", __DIR__)\nIO.puts(Answer.get())',
    file: { name: 'answer.ex', content: 'defmodule Answer do\n  def get, do: 42\nend\n' },
  },
}

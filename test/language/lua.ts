// Lua's programs.
import type { Programs } from './program.ts'

export const lua: Programs = {
  sum: 'local a = io.read("n")\nlocal b = io.read("n")\nprint(a + b)',
  copy: 'for line in io.lines() do\n  print(line)\nend',
  unicode: 'print("Grüße, 世界 🎉")\nprint(io.read())',
  exitThree: 'io.write("out")\nio.stderr:write("err")\nos.exit(3)',
  uncaught: {
    code: 'local function f(x)\n  error("no such thing")\nend\nf(1)',
    says: /^\S*lua5\.4: main\.lua:2: no such thing\nstack traceback:/,
  },
  broken: {
    code: 'local a = 1\nlocal b = 2\nlocal c = = 3\n',
    says: /main\.lua:3: unexpected symbol/,
  },
  busyLoop: 'while true do end',
  // Lua's library has no function that waits.
  sleeper: 'os.execute("sleep 60")',
  memoryBomb: 'local kept = {}\nwhile true do\n  kept[#kept + 1] = ("x"):rep(2 ^ 20) .. #kept\nend',
  outputFlood: 'while true do\n  print(("x"):rep(100))\nend',
  scratch: `local file = assert(io.open("/tmp/file", "w"))
file:write("kept\\n")
file:close()
for line in io.lines("/tmp/file") do
  print(line)
end`,
  threads: `local sum = 0
local parts = {}
for part = 0, 3 do
  parts[#parts + 1] = coroutine.create(function()
    for n = part * 250 + 1, part * 250 + 250 do
      sum = sum + n
      coroutine.yield()
    end
  end)
end
while #parts > 0 do
  for i = #parts, 1, -1 do
    assert(coroutine.resume(parts[i]))
    if coroutine.status(parts[i]) == "dead" then
      table.remove(parts, i)
    end
  end
end
print(sum)`,
  network: { cannot: 'has no sockets' },
  usual: `local rows, sum = {}, 0
for line in io.lines() do
  local name, number = line:match("^(%w+) (-?%d+)$")
  rows[#rows + 1] = { name = name, number = math.tointeger(number) }
  sum = sum + number
end
table.sort(rows, function(a, b)
  if a.number ~= b.number then
    return a.number < b.number
  end
  return a.name < b.name
end)
for _, row in ipairs(rows) do
  print(("%s: %d"):format(row.name, row.number))
end
print(("mean: %.2f"):format(sum / #rows))`,
  arguments: 'for _, word in ipairs(arg) do\n  print(word)\nend',
  variable: 'print(os.getenv("GREETING"))',
  secondFile: {
    code: 'local answer = require("answer")\nprint(answer.get())',
    file: { name: 'answer.lua', content: 'return { get = function() return 42 end }\n' },
  },
}

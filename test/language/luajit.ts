// LuaJIT's programs: Lua 5.1, and C functions through its FFI.
import { lua } from './lua.ts'
import type { Programs } from './program.ts'

export const luajit: Programs = {
  ...lua,
  sum: 'local a, b = io.read("*n", "*n")\nprint(a + b)',
  uncaught: {
    code: 'local function f(x)\n  error("no such thing")\nend\nf(1)',
    says: /^\S*luajit: main\.lua:2: no such thing\nstack traceback:/,
  },
  sleeper: `local ffi = require("ffi")
ffi.cdef("int poll(struct pollfd *fds, unsigned long nfds, int timeout);")
ffi.C.poll(nil, 0, 60000)`,
  memoryBomb: `local ffi = require("ffi")
local kept = {}
while true do
  local block = ffi.new("char[?]", 2 ^ 20)
  ffi.fill(block, 2 ^ 20, 1)
  kept[#kept + 1] = block
end`,
  network: `local ffi = require("ffi")
local bit = require("bit")
ffi.cdef([[
  struct address { uint16_t family, port; uint32_t host; char rest[8]; };
  int socket(int domain, int type, int protocol);
  int connect(int socket, const struct address *to, unsigned length);
]])
local to = ffi.new("struct address", { 2, bit.lshift(9, 8), 0x0100007f })
local socket = ffi.C.socket(2, 1, 0)
if socket < 0 or ffi.C.connect(socket, to, ffi.sizeof(to)) ~= 0 then
  print("closed")
end`,
  usual: `local rows, sum = {}, 0
for line in io.lines() do
  local name, number = line:match("^(%w+) (-?%d+)$")
  rows[#rows + 1] = { name = name, number = tonumber(number) }
  sum = sum + tonumber(number)
end
table.sort(rows, function(a, b)
  return a.number < b.number or a.number == b.number and a.name < b.name
end)
for _, row in ipairs(rows) do
  print(row.name .. ": " .. row.number)
end
print(string.format("mean: %.2f", sum / #rows))`,
  arguments: 'for _, word in ipairs(arg) do\n  print(word)\nend',
  variable: 'print(os.getenv("GREETING"))',
  secondFile: {
    code: 'local answer = require("answer")\nprint(answer.get())',
    file: { name: 'answer.lua', content: 'return { get = function() return 42 end }\n' },
  },
}

// Attacks in Lua with LuaJIT's foreign function interface.
import { aims, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
local ffi = require 'ffi'
ffi.cdef [[ long syscall(long, ...); int fork(void); int setsid(void); int usleep(unsigned); int pause(void); void _exit(int);
  int pthread_create(unsigned long *, void *, void *(*)(void *), void *); void *malloc(size_t); void *memset(void *, int, size_t); ]]
local C = ffi.C
io.stdout:setvbuf('line')
local function exists(path) local file = io.open(path) if file then file:close() return true end end
if exists('/etc/debian_version') then print('ESCAPED there is no box') os.exit(1) end
local way = io.read()
local block = ('x'):rep(2 ^ 20)
local ways = {}
function ways.files()
  for _, path in ipairs { ${aims.hostFiles} } do
    if exists(path) then print('ESCAPED ' .. path) end
    if loadfile(path) then print('ESCAPED load of ' .. path) end
  end
  for _, path in ipairs { ${aims.boxFiles} } do local file = io.open(path) if file then print(file:read('*a')) end end
  print(io.popen('env; cat /proc/1/environ 2>&1'):read('*a'))
end
function ways.calls()
  local rows, policy = { ${aims.calls} }, {}
  for _, code in ipairs { ${aims.errors} } do policy[code] = true end
  for i = 1, #rows, 7 do
    local a = {}
    for k = 0, 6 do a[k] = ffi.new('long', rows[i + k]) end
    ffi.errno(0)
    local result = C.syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6])
    if result ~= -1 then print('ESCAPED call ' .. rows[i])
    elseif not policy[ffi.errno()] then print('UNSURE call ' .. rows[i] .. ': ' .. ffi.errno()) end
  end
end
function ways.daemon()
  if C.fork() == 0 then C.setsid() if C.fork() > 0 then C._exit(0) end while true do C.pause() end end
  C.usleep(50000)
end
function ways.disk()
  local file, written = io.open('/tmp/fill', 'w'), 0
  file:setvbuf('no')
  while written < 2 ^ 26 and file:write(block) do written = written + #block end
  if written > 2 ^ 25 then print('ESCAPED the disk') end
end
function ways.output() while true do io.write(block) end end
function ways.memory() while true do C.memset(C.malloc(2 ^ 20), 1, 2 ^ 20) end end
function ways.processes() while true do C.fork() end end
function ways.threads()
  local rest, one = ffi.cast('void *(*)(void *)', C.pause), ffi.new('unsigned long[1]')
  while true do C.pthread_create(one, nil, rest, nil) end
end
ways[way]()
print('held')`

export const luajit: HostileLanguage = {
  language: 'luajit',
  program,
  ways: { ...everyWay, memory: ['signaled'] },
  sources: [
    showsNone(
      'a file to be loaded is not shown',
      (path) => `print(loadfile("${path}"))\nprint(pcall(dofile, "${path}"))\nprint("held")`,
    ),
  ],
}

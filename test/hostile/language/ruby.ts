// Attacks in Ruby.
import { aims, shows } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
require 'fiddle'
$stdout.sync = true
if File.exist?('/etc/debian_version') then puts 'ESCAPED there is no box'; exit 1 end
way = STDIN.gets.strip
block = 'x' * (1 << 20)
case way
when 'files'
  [${aims.hostFiles}].each { |path| begin; File.open(path) { puts "ESCAPED #{path}" }; rescue SystemCallError, IOError; end }
  [${aims.boxFiles}].each { |path| begin; puts File.binread(path); rescue SystemCallError; end }
  puts ENV.to_h, %x(env; cat /proc/1/environ 2>&1)
when 'calls'
  $VERBOSE = nil
  [${aims.calls}].each_slice(7) do |row|
    begin
      puts "ESCAPED call #{row}: #{syscall(*row)}"
    rescue SystemCallError => error
      puts "UNSURE call #{row}: #{error}" unless [${aims.errors}].include?(error.errno)
    end
  end
  mount = Fiddle::Function.new(Fiddle.dlopen(nil)['mount'], [Fiddle::TYPE_VOIDP] * 3 + [Fiddle::TYPE_LONG, Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)
  puts 'ESCAPED mount' if mount.call('none', '/tmp', 'tmpfs', 0, nil) == 0
  begin; Process::Sys.setuid(0); puts 'ESCAPED setuid'; rescue SystemCallError; end
  begin; Process.kill(0, @WORKER_PID@); puts 'ESCAPED kill'; rescue SystemCallError; end
when 'daemon'
  if fork.nil?
    Process.setsid
    exit! if fork
    sleep
  end
  sleep 0.05
when 'disk'
  written = 0
  begin
    File.open('/tmp/fill', 'wb') { |file| file.sync = true; written += file.write(block) while written < 64 << 20 }
  rescue SystemCallError
  end
  puts 'ESCAPED the disk' if written > 32 << 20
when 'output' then loop { $stdout.write(block) }
when 'memory' then held = []; loop { held << 'x' * (1 << 20) }
when 'processes' then loop { begin; fork; rescue SystemCallError; end }
when 'threads' then loop { begin; Thread.new { sleep }; rescue ThreadError; end }
else exit 9
end
puts 'held'`

export const ruby: HostileLanguage = {
  language: 'ruby',
  program,
  ways: everyWay,
  sources: [
    shows(
      'what runs as it loads shows no file',
      (path) =>
        `BEGIN { begin; puts File.read("${path}"); rescue SystemCallError; end }\nputs "held"`,
    ),
    shows(
      'a load shows no file',
      (path) =>
        `begin; load "${path}"; rescue Exception => e; puts e.full_message; end\nputs "held"`,
    ),
  ],
}

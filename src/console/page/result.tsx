// The result of a submission: its verdict and the reason, its use of each limit, its tests and outputs.
import type { Result } from '#client'
import type { JSX } from 'preact'
import { wantedInput } from './asked.ts'
import type { Asked } from './asked.ts'
import { explain, formatBytes, formatSeconds, share } from './format.ts'
import { LeftFiles, Output } from './output.tsx'
import { Badge, Fact } from './part.tsx'
import { isFinal } from './service.ts'
import { DifferenceView, Tests } from './tests.tsx'

function Meter({
  label,
  used,
  most,
  format,
}: {
  readonly label: string
  readonly used: number
  readonly most: number | null
  format(figure: number): string
}): JSX.Element {
  const part = most === null ? 0 : share(used, most)
  const level = part >= 0.95 ? 'full' : part >= 0.75 ? 'high' : 'low'
  return (
    <Fact name={label}>
      <strong>{format(used)}</strong>
      {most !== null && <span> of {format(most)}</span>}
      <span class={`bar ${level}`} aria-hidden="true">
        <span style={{ inlineSize: `${Math.max(part * 100, 0.5)}%` }} />
      </span>
    </Fact>
  )
}

function Meters({ result }: { readonly result: Result }): JSX.Element | null {
  const { cpu_time: cpu, wall_time: wall, memory_peak: memory, verdict } = result
  const limits = result.limits?.run
  if (cpu === null || wall === null || memory === null) return null
  // The program never ran.
  if (verdict === 'CE' || (verdict === 'IE' && wall === 0)) return null
  return (
    <dl class="meters">
      <Meter label="CPU time" used={cpu} most={limits?.cpu_time ?? null} format={formatSeconds} />
      <Meter label="Time" used={wall} most={limits?.wall_time ?? null} format={formatSeconds} />
      <Meter label="Memory" used={memory} most={limits?.memory ?? null} format={formatBytes} />
    </dl>
  )
}

export function ResultView({
  result,
  asked,
}: {
  readonly result: Result
  readonly asked: Asked
}): JSX.Element {
  const { stdout, stderr, tests, files, difference, compile_output: compiled } = result
  const isOver = isFinal(result)
  return (
    <div class="result">
      <p class="verdict">
        <Badge of={result} isJudged={asked.isJudged} /> <span>{explain(result)}</span>
      </p>
      {result.verdict === 'RE' && wantedInput(stderr, asked) && (
        <p class="hint">
          It read more input than it was given, which was none: Input stands below the code.
        </p>
      )}
      <Meters result={result} />
      {result.purged_at !== null && (
        <p class="hint">Its outputs were removed after the retention period.</p>
      )}
      {tests === null && difference !== null && <DifferenceView of={difference} />}
      {tests !== null && <Tests tests={tests} limits={result.limits?.run ?? null} />}
      {compiled !== null && compiled !== '' && (
        <Output title="Compiler" text={compiled} name="compiler.txt" />
      )}
      {isOver && stdout !== null && tests === null && result.verdict !== 'CE' && (
        <Output
          title="stdout"
          text={stdout}
          isTruncated={result.stdout_truncated}
          name="stdout.txt"
        />
      )}
      {isOver && stderr !== null && stderr !== '' && tests === null && (
        <Output
          title="stderr"
          text={stderr}
          isTruncated={result.stderr_truncated}
          name="stderr.txt"
        />
      )}
      {files !== null && <LeftFiles files={files} />}
    </div>
  )
}

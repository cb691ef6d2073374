// Constructors for the metrics of a registry, which add `runledger_` and the unit to the names.
import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

type MakeFigure<Figure> = (name: string, help: string, labelNames?: readonly string[]) => Figure

export function createFigures(registry: Registry): {
  readonly counter: MakeFigure<Counter>
  readonly gauge: MakeFigure<Gauge>
  readonly histogram: MakeFigure<Histogram>
} {
  const registers = [registry]
  const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  return {
    counter: (name, help, labelNames = []) =>
      new Counter({ name: `runledger_${name}_total`, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) =>
      new Gauge({ name: `runledger_${name}`, help, labelNames, registers }),
    histogram: (name, help, labelNames = []) =>
      new Histogram({ name: `runledger_${name}_seconds`, help, labelNames, buckets, registers }),
  }
}

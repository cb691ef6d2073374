// What schemas of requests and answers are made of.
import * as v from 'valibot'

export const uuid = v.pipe(v.string(), v.metadata({ format: 'uuid' }))
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The same with a sentence for whoever reads the OpenAPI document. */
export function described<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description<v.InferOutput<Schema>, string>(text))
}

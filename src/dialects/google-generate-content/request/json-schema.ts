import { mapSchemas } from '../../../base/json-schema.ts';
import type { Loose } from '../../../base/values.ts';

/**
 * Returns a schema in the keywords that Google knows. Google ignores the others, so a `const`, by which variants are
 * told apart, becomes an `enum` of one value.
 * @see https://ai.google.dev/gemini-api/docs/structured-output "JSON Schema support"
 */
export function googleSchema(schema: unknown): unknown {
  return mapSchemas(schema, withoutConst);
}

function withoutConst(schema: Loose): Loose {
  if (!('const' in schema)) return schema;
  const { const: value, ...others } = schema;
  return 'enum' in schema ? others : { ...others, enum: [value] };
}

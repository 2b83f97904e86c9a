import type { ResponseFormat } from '../../schema/chat/chat.ts';

/** The tool by which structured output is asked for where the provider has no word for it. */
export const outputToolName = 'structured_output';

/** Makes an instruction in the prompt, for providers that take neither a schema nor a forced tool. */
export function outputInstruction(format: ResponseFormat): string | null {
  if (format.type === 'json_object') return 'Respond with one JSON object and nothing else: no prose, no code fence.';
  if (format.type !== 'json_schema') return null;
  const { schema, description } = format.json_schema;
  const purpose = description ? ` It is: ${description}` : '';
  const follows = schema === undefined ? '' : ` It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  return `Respond with one JSON value and nothing else: no prose, no code fence.${purpose}${follows}`;
}

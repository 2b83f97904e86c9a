import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ResponseFormat } from '../../schema/chat.ts';
import { unsupported } from '../shared/unsupported.ts';
import type { Dropped } from './dropped.ts';

/** The form and the length of the text; null: the caller does not say. */
export function encodeText(request: ChatRequest, dropped: Dropped): Loose | null {
  const text: Loose = {};
  if (request.response_format !== undefined) text.format = encodeFormat(request.response_format, dropped);
  const verbosity = request.verbosity ?? null;
  if (verbosity !== null) text.verbosity = verbosity;
  return Object.keys(text).length === 0 ? null : text;
}

/** The schema and its name stand one level higher than in a chat request. */
function encodeFormat(format: ResponseFormat, dropped: Dropped): Loose {
  if (format.type === 'text' || format.type === 'json_object') return { type: format.type };
  if (format.type !== 'json_schema')
    throw unsupported('response_format.type', '"text", "json_object" or "json_schema" for this provider');
  const { name, description, schema, strict } = format.json_schema;
  dropped.noteOthers('response_format.json_schema.', format.json_schema, ['name', 'description', 'schema', 'strict']);
  return {
    type: 'json_schema',
    name,
    ...(description === undefined || description === null ? {} : { description }),
    // The provider insists on a schema; this one allows anything.
    schema: schema ?? {},
    strict: strict ?? false,
  };
}

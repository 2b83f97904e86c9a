import type { Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { SchemaEffort } from './json-schema.ts';
import type { ModelTraits } from './models.ts';
import type { MessagesQuirks } from './quirks.ts';

/** The results of encoding one request, besides its body. */
export interface Encoding {
  quirks: MessagesQuirks;
  /** The provider's own name for the model. */
  upstreamModel: string;
  /** true: thoughts go back. */
  hasThoughts: boolean;
  /** The features that the model takes. */
  traits: ModelTraits;
  /** Request fields that are left out. */
  dropped: Set<string>;
  /** Values of the header `anthropic-beta`. */
  betas: Set<string>;
  /** The blocks that carry a mark of parts to cache, in the order of the prompt. */
  marked: Loose[];
  /** The work that may still be done for schemas. */
  schemas: SchemaEffort;
}

/** @see https://platform.claude.com/docs/en/api/versioning */
export const version = '2023-06-01';
/** @see https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
export const vertexVersion = 'vertex-2023-10-16';

/** Returns the path of a request at the host that serves the model. */
export function pathOf(
  upstreamModel: string,
  { stream }: Pick<ChatRequest, 'stream'>,
  { host }: MessagesQuirks,
): string {
  if (host !== 'vertex') return '/messages';
  // The version of a model stands behind an `@`.
  const model = encodeURIComponent(upstreamModel).replaceAll('%40', '@');
  return `/${model}:${stream === true ? 'streamRawPredict' : 'rawPredict'}`;
}

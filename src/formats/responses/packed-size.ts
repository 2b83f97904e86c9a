import type { Issue } from '../../base/refusal.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { isPacked } from './packed.ts';

/**
 * Characters of packed content in one request. What is packed is in no count of the values of a body, and is read at
 * once, while nobody else is served. Of thoughts, they are some 700,000 tokens.
 */
const mostChars = 4 * 1024 * 1024;

/** Finds more packed content than a conversation has: the caller gets status 400. */
export function packedIssues({ input }: Pick<ResponsesRequest, 'input'>): readonly Issue[] {
  if (typeof input === 'string') return [];
  let chars = 0;
  for (const [at, { encrypted_content: content }] of input.entries()) {
    if (typeof content !== 'string' || !isPacked(content)) continue;
    chars += content.length;
    if (chars > mostChars)
      return [
        { path: `input[${at}].encrypted_content`, message: `expected at most ${mostChars} characters of all items` },
      ];
  }
  return [];
}

import type { Issue } from '../../base/refusal.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { isPacked } from './packed.ts';

/**
 * The most characters of packed content in one request. The count of the values of a body does not include packed
 * content, and it is read at once, while nobody else is served. As thoughts, they are some 700,000 tokens.
 */
const mostChars = 4 * 1024 * 1024;

/** Finds packed content that is longer than that of any conversation: the caller gets status 400. */
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

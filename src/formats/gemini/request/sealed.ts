import type { Loose } from '../../../base/values.ts';
import type { GeminiContent, GeminiRequest } from '../../../schema/gemini/request.ts';
import { isSealed } from '../thoughts.ts';

/** The two spellings of the member of a part that holds a signature. */
const members = ['thoughtSignature', 'thought_signature'] as const;

/**
 * Returns the request without the thoughts that the gateway has packed of another provider: they mean nothing to Google,
 * which would refuse them. A request without any is the very same.
 */
export function withoutSealed(request: GeminiRequest): GeminiRequest {
  const contents = request.contents.map(contentWithoutSealed);
  return contents.every((one, at) => one === request.contents[at]) ? request : { ...request, contents };
}

function contentWithoutSealed(content: GeminiContent): GeminiContent {
  const { parts } = content;
  if (!parts?.some((part) => sealedMembers(part).length > 0)) return content;
  const own = parts.map((part) => {
    const sealed = sealedMembers(part);
    return Object.fromEntries(Object.entries(part).filter(([name]) => !sealed.includes(name)));
  });
  // The thoughts of such a turn are those of the other provider, and a part without a text was made for the signature alone.
  const left = own.filter((part) => part.thought !== true && !(part.text === '' && Object.keys(part).length === 1));
  // A turn has a part.
  return { ...content, parts: left.length > 0 ? left : own };
}

function sealedMembers(part: Loose): string[] {
  return members.filter((name) => {
    const signature = part[name];
    return typeof signature === 'string' && isSealed(signature);
  });
}

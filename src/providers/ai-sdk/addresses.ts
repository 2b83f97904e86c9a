import { isObject, type Loose } from '../../base/values.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';

/** Which addresses a model takes, by media type. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/**
 * The prompt with its addresses as URLs. The gateway fetches no file for a caller, so an address that the model does
 * not take itself is refused.
 * @throws UpstreamError 400
 */
export function withAddresses(prompt: unknown, supported: SupportedUrls): unknown {
  if (!Array.isArray(prompt)) return prompt;
  return prompt.map((message) =>
    isObject(message) && Array.isArray(message.content)
      ? { ...message, content: message.content.map((part) => withAddress(part, supported)) }
      : message,
  );
}

function withAddress(part: unknown, supported: SupportedUrls): unknown {
  if (!isObject(part)) return part;
  const { data, output } = part;
  if (part.type === 'file' && isObject(data) && data.type === 'url' && typeof data.url === 'string')
    return { ...part, data: { ...data, url: accepted(data.url, String(part.mediaType), supported) } };
  if (part.type === 'tool-result' && isObject(output) && Array.isArray(output.value))
    return { ...part, output: { ...output, value: output.value.map((one) => withAddress(one, supported)) } as Loose };
  return part;
}

function accepted(address: string, mediaType: string, supported: SupportedUrls): URL {
  const [kind = ''] = mediaType.split('/');
  const patterns = [mediaType, `${kind}/*`, kind, '*/*', '*'].flatMap((key) =>
    Object.hasOwn(supported, key) ? (supported[key] ?? []) : [],
  );
  const lower = address.toLowerCase();
  if (!patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(lower)))
    throw unsupported(`messages: ${address.slice(0, 200)}`, 'a data URL: the model does not take this address itself');
  return new URL(address);
}

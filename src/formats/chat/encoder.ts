import { doneFrame, encodeEvent } from '../../base/http/sse.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../call/response-encoder.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';

/**
 * The chat completion wire: results and chunks as they are. Keeps no state: one encoder serves all calls.
 * @param brand  names the metadata field and the keep-alive comment
 */
export function chatEncoder(brand: string): ResponseEncoder {
  const metadataField = `${brand}_metadata`;
  const shownMetadata = ({ metadata }: Partial<ReportedEnd>) => (metadata ? { [metadataField]: metadata } : {});
  /**
   * Returns a copy of the result with our fields. A provider's field with one of our names is overwritten or left out.
   */
  const resultOf = (head: ResponseHead, result: ChatResult, { usage, metadata }: ReportedEnd) => {
    const { id, created, model, provider } = head;
    const body: Record<string, unknown> = { ...result, id, created, model, provider, usage };
    if (metadata !== undefined || metadataField in result) body[metadataField] = metadata;
    return body;
  };
  const chunkOf = ({ id, created, model, provider }: ResponseHead) => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    provider,
  });
  /** Leaves out the metadata field: a provider must not speak in the gateway's name. */
  const withoutMetadata = <T extends Record<string, unknown>>(said: T): T =>
    metadataField in said ? { ...said, [metadataField]: undefined } : said;
  return {
    format: 'chat',
    keepAlive: `: ${brand.toUpperCase()} PROCESSING\n\n`,
    result: resultOf,
    chunk: (chunk) => encodeEvent(JSON.stringify(withoutMetadata(chunk))),
    debug: (head, upstreamBody) =>
      encodeEvent(JSON.stringify({ ...chunkOf(head), choices: [], debug: { echo_upstream_body: upstreamBody } })),
    finish: (head, end) =>
      encodeEvent(JSON.stringify({ ...chunkOf(head), choices: [], usage: end.usage, ...shownMetadata(end) })) +
      doneFrame,
    fail(head, error, end) {
      const choice = { index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: null };
      const usage = end.usage ? { usage: end.usage } : {};
      return (
        encodeEvent(JSON.stringify({ ...chunkOf(head), error, choices: [choice], ...usage, ...shownMetadata(end) })) +
        doneFrame
      );
    },
  };
}

import { stringifyExact } from '../../base/exact-json.ts';
import { generationId } from '../../base/ids.ts';
import type { OperationReply } from '../../call/reply.ts';
import { oneLine } from '../../formats/gemini/one-line.ts';
import { serve } from '../../pipeline/serve.ts';
import { list } from '../../schema/bounded.ts';
import type { GeminiRequest } from '../../schema/gemini/request.ts';
import { geminiResultSchema } from '../../schema/gemini/result.ts';
import type { Operation } from '../operation.ts';
import { type GeminiDeps, geminiCalls } from './call-of.ts';
import { geminiChecks } from './check.ts';
import { type GeminiQuery, geminiQuery, wantsEvents } from './query.ts';

/**
 * Makes content.
 * @see https://ai.google.dev/api/generate-content#method:-models.generatecontent
 */
export function generateContent(deps: GeminiDeps): Operation<GeminiRequest, GeminiQuery> {
  const callOf = geminiCalls(deps, 'generateContent', false);
  return {
    name: 'generateContent',
    method: 'POST',
    path: '/models/:model+[:]generateContent',
    permissions: ['inference'],
    wire: 'gemini',
    ...geminiChecks(deps),
    query: geminiQuery,
    result: geminiResultSchema,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    async run(input) {
      const reply = await serve(deps.pipeline, callOf(input));
      return wantsEvents(input.query) ? asEvent(reply) : reply;
    },
  };
}

/** Returns a JSON reply as the only event of a stream, as Google sends it to who asks for events. */
export function asEvent(reply: OperationReply): OperationReply {
  if (reply.kind !== 'json') return reply;
  const { status, headers = {}, body } = reply;
  return {
    kind: 'file',
    status,
    headers,
    body: `data: ${oneLine(stringifyExact(body as object))}\r\n\r\n`,
    contentType: 'text/event-stream',
  };
}

/**
 * Makes content, as a stream.
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function streamGenerateContent(deps: GeminiDeps): Operation<GeminiRequest, GeminiQuery> {
  const callOf = geminiCalls(deps, 'streamGenerateContent', true);
  return {
    ...generateContent(deps),
    name: 'streamGenerateContent',
    path: '/models/:model+[:]streamGenerateContent',
    result: () => list(geminiResultSchema()),
    async run(input) {
      const reply = await serve(deps.pipeline, callOf(input));
      if (reply.kind !== 'stream' || wantsEvents(input.query)) return reply;
      return { ...reply, headers: { ...reply.headers, 'content-type': 'application/json' } };
    },
  };
}

import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { count, text } from '../scalars.ts';
import { outputItemSchema, responsesAnnotationSchema, responsesResultSchema } from './result.ts';

const part = lazily(() => z.looseObject({ type: text() }));
const logprobs = lazily(() => list(z.looseObject({ token: text() })));

/** One event of a streamed response. Events of items that pass as the provider made them have other types. */
export const responsesEventSchema = lazily(() => {
  const event = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, fields: Shape) =>
    z.looseObject({
      /** The kind of the event. */
      type: z.literal(type),
      /** Rises by one with each event, from 0. */
      sequence_number: count(),
      ...fields,
    });
  const ofResponse = { response: responsesResultSchema() };
  const ofItem = { output_index: count(), item: outputItemSchema() };
  const inItem = { item_id: text(), output_index: count() };
  const inContent = { ...inItem, content_index: count() };
  const inSummary = { ...inItem, summary_index: count() };
  return z.discriminatedUnion('type', [
    event('response.created', ofResponse),
    event('response.in_progress', ofResponse),
    event('response.completed', ofResponse),
    event('response.incomplete', ofResponse),
    event('response.failed', ofResponse),
    event('response.output_item.added', ofItem),
    event('response.output_item.done', ofItem),
    event('response.content_part.added', { ...inContent, part: part() }),
    event('response.content_part.done', { ...inContent, part: part() }),
    event('response.output_text.delta', { ...inContent, delta: text(), logprobs: logprobs() }),
    event('response.output_text.done', { ...inContent, text: text(), logprobs: logprobs() }),
    event('response.output_text.annotation.added', {
      ...inContent,
      /** Place among the annotations of the part. */
      annotation_index: count(),
      /** The annotation. */
      annotation: responsesAnnotationSchema(),
    }),
    event('response.refusal.delta', { ...inContent, delta: text() }),
    event('response.refusal.done', { ...inContent, refusal: text() }),
    event('response.function_call_arguments.delta', { ...inItem, delta: text() }),
    event('response.function_call_arguments.done', { ...inItem, name: text(), arguments: text() }),
    event('response.custom_tool_call_input.delta', { ...inItem, delta: text() }),
    event('response.custom_tool_call_input.done', { ...inItem, input: text() }),
    event('response.reasoning_text.delta', { ...inContent, delta: text() }),
    event('response.reasoning_text.done', { ...inContent, text: text() }),
    event('response.reasoning_summary_part.added', { ...inSummary, part: part() }),
    event('response.reasoning_summary_part.done', { ...inSummary, part: part() }),
    event('response.reasoning_summary_text.delta', { ...inSummary, delta: text() }),
    event('response.reasoning_summary_text.done', { ...inSummary, text: text() }),
    event('response.image_generation_call.in_progress', inItem),
    event('response.image_generation_call.generating', inItem),
    event('response.image_generation_call.completed', inItem),
    event('response.debug', { debug: z.looseObject({ echo_upstream_body: jsonObject().optional() }) }),
  ]);
});
/** One event of a streamed response of the Responses operation. */
export type ResponsesEvent = z.infer<ReturnType<typeof responsesEventSchema>>;

import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { serviceMetadataSchema } from '../chat/envelope.ts';
import { countOrNull, text, textOrNull } from '../scalars.ts';
import { messagesBlockSchema } from './request.ts';

const usageOfMessage = lazily(() =>
  z.looseObject({
    /** Tokens of the prompt, without those of the cache. */
    input_tokens: countOrNull(),
    /** Tokens written to a prompt cache. */
    cache_creation_input_tokens: countOrNull(),
    /** Tokens read from a prompt cache. */
    cache_read_input_tokens: countOrNull(),
    /** Tokens of the response, thoughts included. */
    output_tokens: countOrNull(),
  }),
);

/** A message, as the Messages wire has it. */
export const messagesResultSchema = lazily(() =>
  z.looseObject({
    /** Id of the message. */
    id: text(),
    /** Always `message`. */
    type: z.literal('message'),
    /** Always `assistant`. */
    role: z.literal('assistant'),
    /** Slug of the model that served. */
    model: text(),
    /** The blocks: texts, thoughts and calls. */
    content: list(messagesBlockSchema()),
    /** The reason why it ended, such as `end_turn` or `tool_use`. */
    stop_reason: textOrNull(),
    /** The text at which it stopped, where one did. */
    stop_sequence: textOrNull(),
    /** Tokens. */
    usage: usageOfMessage(),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);

/** An event of a stream of the Messages wire, by its `type`. */
export const messagesEventSchema = lazily(() =>
  z.looseObject({
    /** The kind of the event, such as `content_block_delta`. */
    type: text(),
  }),
);

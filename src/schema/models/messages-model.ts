import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { text, textOrNull } from '../scalars.ts';

const tokens = lazily(() => z.number().nullable());

/** A model, as clients of the Messages wire expect it. */
export const messagesModelSchema = lazily(() =>
  z.looseObject({
    /** Always `model`. */
    type: z.literal('model'),
    /** The name that a request takes: a slug, or an alias. */
    id: text(),
    /** Name for people. */
    display_name: text(),
    /** RFC 3339. */
    created_at: text(),
    /** The context, in tokens; null: not known. */
    max_input_tokens: tokens(),
    /** The largest output, in tokens; null: not known. */
    max_tokens: tokens(),
  }),
);
export interface MessagesModel extends z.infer<ReturnType<typeof messagesModelSchema>> {}

/** A page of models. `after_id` with `last_id` asks for the next one. */
export const messagesModelListSchema = lazily(() =>
  z.object({
    /** The models. */
    data: list(messagesModelSchema()),
    /** true: there are more. */
    has_more: z.boolean(),
    /** The first id of the page; null: it is empty. */
    first_id: textOrNull(),
    /** The last id of the page. */
    last_id: textOrNull(),
  }),
);
export interface MessagesModelList extends z.infer<ReturnType<typeof messagesModelListSchema>> {}

import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { text } from '../scalars.ts';

/** Everything that was kept is shown, so `include` adds nothing. */
export const include = lazily(() => ({
  /** Parts that are to be shown. Everything that was kept is shown without it. */
  include: z.string().optional(),
  /** The same, as client libraries write lists. */
  'include[]': z.string().optional(),
}));

/** Query of `GET /responses/{id}`. */
export const responseQuery = lazily(() =>
  z.strictObject({
    ...include(),
    /** Only `false`: a kept response is shown at once. */
    stream: z.literal('false', expectation('expected false: a kept response is not streamed again')).optional(),
  }),
);
export interface ResponseQuery extends z.infer<ReturnType<typeof responseQuery>> {}
/** The argument of the function that shows a kept response. */
export interface ResponseFields {
  /** Id of the response, `gen-…`. */
  id: string;
}

/** Query of `GET /responses/{id}/input_items`. */
export const inputItemsQuery = lazily(() =>
  z.strictObject({
    ...include(),
    /** The most items of a page, 1 to 100. Default 20. */
    limit: z
      .string()
      .regex(/^(?:[1-9]\d?|100)$/, expectation('expected an integer from 1 to 100'))
      .default('20')
      .transform(Number),
    /** `desc`: the newest item first. Default `desc`. */
    order: z.enum(['asc', 'desc']).default('desc'),
    /** Id of the item after which the page begins. */
    after: z.string().optional(),
  }),
);
export interface InputItemsQuery extends z.infer<ReturnType<typeof inputItemsQuery>> {}
/** The argument of the function that lists the input of a kept response. */
export interface InputItemsFields extends ResponseFields {
  /** The most items of a page, 1 to 100. Default 20. */
  limit?: number | undefined;
  /** `desc`: the newest item first. Default `desc`. */
  order?: 'asc' | 'desc' | undefined;
  /** Id of the item after which the page begins. */
  after?: string | undefined;
}

/** A page of the input items of a response. */
export const inputItemListSchema = lazily(() =>
  z.object({
    /** Always `list`. */
    object: z.literal('list'),
    /** The items, each with an id. */
    data: list(jsonObject()),
    /** Id of the first item of the page; null: the page is empty. */
    first_id: text().nullable(),
    /** Id of the last item of the page; null: the page is empty. */
    last_id: text().nullable(),
    /** true: more items follow. */
    has_more: z.boolean(),
  }),
);
export interface InputItemList extends z.infer<ReturnType<typeof inputItemListSchema>> {}

/** The end of a kept response. */
export const deletedResponseSchema = lazily(() =>
  z.object({
    /** Id of the response. */
    id: text(),
    /** Always `response`. */
    object: z.literal('response'),
    /** Always true: the response and its input are gone. */
    deleted: z.literal(true),
  }),
);
export interface DeletedResponse extends z.infer<ReturnType<typeof deletedResponseSchema>> {}

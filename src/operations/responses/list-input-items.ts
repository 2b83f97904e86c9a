import { itemIds } from '../../formats/responses/encoder/ids.ts';
import {
  type InputItemList,
  type InputItemsFields,
  type InputItemsQuery,
  inputItemListSchema,
  inputItemsQuery,
} from '../../schema/responses/stored.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { keptResponses, reachResponse, type StoredResponseDeps } from './reach.ts';
import { pageOfItems, prefixOf, shownItem } from './shown-items.ts';

/**
 * Lists the items that a kept response was made of: its own input, and behind it, in the usual order, the conversation
 * that it went on from.
 * @see https://platform.openai.com/docs/api-reference/responses/input-items
 */
export function listInputItems({
  responses,
}: StoredResponseDeps): ApiOperation<
  'responses.inputItems.list',
  InputItemsFields,
  InputItemList,
  unknown,
  InputItemsQuery
> {
  return {
    name: 'listInputItems',
    wire: 'responses',
    api: 'responses.inputItems.list',
    method: 'GET',
    path: '/responses/:id/input_items',
    permissions: ['inference', 'management'],
    body: null,
    query: inputItemsQuery,
    result: inputItemListSchema,
    async run({ params, query, caller }) {
      const id = params.id as string;
      const found = await reachResponse(keptResponses(responses), caller, id);
      const { input } = await found.open();
      const ids = itemIds(id);
      const items = input.map((item, at) => shownItem(item, ids.item(prefixOf(item), at, item.id)));
      return jsonReply(pageOfItems(items, query, 'this response'));
    },
  };
}

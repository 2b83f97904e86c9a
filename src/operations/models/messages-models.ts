import { GatewayError } from '../../base/errors.ts';
import type { MessagesModel, MessagesModelList } from '../../schema/models/messages-model.ts';
import type { ModelsQuery, ShownModel } from '../../schema/models/model.ts';
import { withAliases } from './model-response.ts';
import type { ReachedModel } from './reach.ts';

/** The page that a client of the Messages wire gets where it names no limit. */
const usualLimit = 20;

/**
 * Shows a model as clients of the Messages wire expect it.
 * @param id  the name by which it was asked for
 */
export function showMessagesModel(model: ShownModel, id: string = model.id): MessagesModel {
  const { top_provider: top, context_length: context } = model;
  return {
    type: 'model',
    id,
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString().replace('.000', ''),
    max_input_tokens: context ?? top.context_length,
    max_tokens: top.max_completion_tokens,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

/**
 * Lists models with their aliases: clients of this wire may show only names that begin like those of its maker, which an
 * alias gives to any model.
 * @throws GatewayError invalid_request (400) for an `after_id` or `before_id` that the list does not have
 */
export function listMessagesModels(
  reached: readonly ReachedModel[],
  { limit = usualLimit, after_id: after, before_id: before }: ModelsQuery,
  basePath: string,
): MessagesModelList {
  const all = withAliases(reached, basePath, showMessagesModel);
  const start = after === undefined ? 0 : placeOf(all, 'after_id', after) + 1;
  const end = before === undefined ? all.length : placeOf(all, 'before_id', before);
  const isBackward = before !== undefined && after === undefined;
  const data = isBackward
    ? all.slice(Math.max(start, end - limit), end)
    : all.slice(start, Math.min(end, start + limit));
  return {
    data,
    has_more: isBackward ? end - data.length > start : start + data.length < end,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function placeOf(all: readonly MessagesModel[], name: string, wanted: string): number {
  const at = all.findIndex(({ id }) => id === wanted);
  if (at >= 0) return at;
  throw new GatewayError('invalid_request', `${name}: there is no such model in the list`);
}

import type { Endpoint } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import { isSet, sameMeaning } from '../schema/models/model-defaults.ts';

/**
 * Returns the request with the defaults of the endpoint's model, for the fields that the request does not set.
 * @returns the request itself where nothing is added
 */
export function withDefaults(request: ChatRequest, endpoint: Pick<Endpoint, 'defaults'>): ChatRequest {
  if (endpoint.defaults === undefined) return request;
  const names = defaultedFields(request, endpoint);
  if (names.length === 0) return request;
  const added: Record<string, unknown> = {};
  for (const name of names) added[name] = endpoint.defaults[name];
  return { ...request, ...added };
}

/** Returns the fields that a request gets from the defaults of the endpoint's model. */
export function defaultedFields(request: ChatRequest, { defaults }: Pick<Endpoint, 'defaults'>): readonly string[] {
  if (defaults === undefined) return none;
  const fields = request as Readonly<Record<string, unknown>>;
  return Object.keys(defaults).filter((name) => {
    if (!isSet(defaults[name])) return false;
    const same = sameMeaning.find((names) => names.includes(name));
    return same === undefined ? !isSet(fields[name]) : !same.some((one) => isSet(fields[one]));
  });
}

const none: readonly string[] = [];

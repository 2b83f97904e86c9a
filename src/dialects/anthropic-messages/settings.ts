import type { Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { gatewayFields } from '../shared/gateway-fields.ts';
import { refusedFields } from '../shared/sampling/rules.ts';
import type { Encoding } from './encoding.ts';

/** Returns the request without the fields that the provider refuses by its quirks. */
export function withoutParams(request: ChatRequest, { quirks, dropped }: Encoding): ChatRequest {
  const given = quirks.dropParams?.filter((name) => name !== 'messages' && isSet((request as Loose)[name])) ?? [];
  if (given.length === 0) return request;
  const rest: Loose = { ...request };
  for (const name of given) {
    delete rest[name];
    dropped.add(name);
  }
  return rest as unknown as ChatRequest;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Encodes sampling, stop sequences, the user, and the tier. */
export function encodeSettings(request: ChatRequest, payload: Loose, thinking: Loose | undefined, encoding: Encoding) {
  encodeSampling(request, payload, thinking !== undefined && thinking.type !== 'disabled', encoding);
  encodeStop(request, payload);
  encodeUser(request, payload, encoding);
  encodeTier(request, payload, encoding);
}

const sampling = ['temperature', 'top_p', 'top_k'] as const;

function encodeSampling(request: ChatRequest, payload: Loose, thinks: boolean, { traits, dropped }: Encoding): void {
  const { temperature, top_p, top_k } = request;
  // Anthropic's scale ends at 1, that of chat completions at 2.
  const asked = { temperature: isSet(temperature) ? Math.min(temperature as number, 1) : temperature, top_p, top_k };
  const refused = refusedFields(asked as Partial<ChatRequest>, traits.sampling, thinks);
  for (const name of sampling) {
    if (!isSet(asked[name])) continue;
    if (refused.includes(name)) dropped.add(name);
    else payload[name] = asked[name];
  }
}

function encodeStop({ stop }: ChatRequest, payload: Loose): void {
  if (isSet(stop)) payload.stop_sequences = typeof stop === 'string' ? [stop] : stop;
}

/** The most characters of a user's id; a longer one is refused. */
const maxUserId = 256;

/** Encodes the user's id. The newer name wins where a caller sends both. */
function encodeUser(request: ChatRequest, payload: Loose, { dropped }: Encoding): void {
  const { user, safety_identifier: safety } = request;
  const isUsable = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= maxUserId;
  const id = [safety, user].find(isUsable);
  if (id !== undefined) payload.metadata = { user_id: id };
  if (isSet(safety) && safety !== id) dropped.add('safety_identifier');
  if (isSet(user) && user !== id) dropped.add('user');
}

/**
 * Anthropic's tiers: the standard one, and one for those who committed to an amount, which is used where there is room.
 * @see https://platform.claude.com/docs/en/api/service-tiers
 */
const tiers: Readonly<Record<string, string>> = { auto: 'auto', priority: 'auto', default: 'standard_only' };

function encodeTier({ service_tier: tier }: ChatRequest, payload: Loose, { quirks, dropped }: Encoding): void {
  if (!tier) return;
  const ours = quirks.host === 'vertex' ? undefined : tiers[tier];
  if (ours) payload.service_tier = ours;
  else dropped.add('service_tier');
}

/** Fields that reach the provider, or whose code lists the parts that were left out. */
const handled: ReadonlySet<string> = new Set([
  ...gatewayFields,
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'verbosity',
  'service_tier',
  'user',
  'safety_identifier',
  'cache_control',
  'web_search_options',
]);

/** By field: tells whether a value asks only for the usual behaviour. */
const idle = new Map<string, (value: unknown) => boolean>([
  ['n', (value) => value === 1],
  ['logprobs', (value) => value === false],
  ['top_logprobs', (value) => value === 0],
  ['frequency_penalty', (value) => value === 0],
  ['presence_penalty', (value) => value === 0],
  ['repetition_penalty', (value) => value === 1],
  ['modalities', (value) => Array.isArray(value) && value.every((one) => one === 'text')],
]);

/** Lists the fields that are left out because Anthropic has no word for them. */
export function noteUnknown(request: ChatRequest, { dropped }: Encoding): void {
  for (const key in request) {
    const value = (request as Loose)[key];
    if (isSet(value) && !handled.has(key) && !idle.get(key)?.(value)) dropped.add(key);
  }
}

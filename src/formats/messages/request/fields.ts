import { sha256Hex } from '../../../base/secrets.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { ReasoningEffort } from '../../../schema/chat/chat.ts';
import { gatewayFieldNames } from '../../../schema/gateway-shape.ts';
import type { MessagesRequest } from '../../../schema/messages/request.ts';
import type { Leftover } from '../../leftover.ts';

/** Fields that have the same name and meaning in a chat request; those of the gateway among them. */
const same = [
  ...gatewayFieldNames.filter((name) => name !== 'user'),
  'model',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'cache_control',
] as const;

/** Fields whose whole content is in the chat request, or beside it in its messages and tools. */
const converted: ReadonlySet<string> = new Set([
  ...same,
  'messages',
  'system',
  'tools',
  'max_tokens',
  'stop_sequences',
  'user',
]);
/** Fields of which a chat request has what it knows. */
const partly: ReadonlySet<string> = new Set([
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
  'thread',
]);

/** The most texts that end a response, on the chat wire. */
const mostStops = 4;

/** Converts all fields but the conversation and the tools. Null means that a field is not set. */
export function convertFields(request: MessagesRequest, leftover: Leftover): { chat: Loose; own: Loose } {
  const chat: Loose = {};
  const own: Loose = {};
  for (const name of same) if (isSet(request[name])) chat[name] = request[name];
  for (const key in request) {
    if (converted.has(key) || !isSet(request[key])) continue;
    own[key] = request[key];
    if (!partly.has(key)) leftover.note(key);
  }
  if (isSet(request.thread)) leftover.need('thread', 'the complete conversation: this provider keeps no threads');
  if (isSet(request.max_tokens)) chat.max_completion_tokens = request.max_tokens;
  const stops = request.stop_sequences ?? [];
  if (stops.length > 0) chat.stop = stops.slice(0, mostStops);
  if (stops.length > mostStops) {
    // An upstream of this wire gets all of them, and so guardrails must see them.
    own.stop_sequences = stops;
    leftover.note('stop_sequences');
  }
  if (request.service_tier === 'standard_only') chat.service_tier = 'default';
  else if (isSet(request.service_tier)) chat.service_tier = 'auto';
  const user = request.user ?? request.metadata?.user_id;
  if (typeof user === 'string' && user !== '') chat.user = shortened(user);
  const reasoning = reasoningOf(request, leftover);
  if (reasoning !== null) chat.reasoning = reasoning;
  const format = request.output_config?.format ?? request.output_format;
  if (isObject(format)) convertFormat(format, chat, leftover);
  for (const key in request.output_config)
    if (key !== 'effort' && key !== 'format' && isSet(request.output_config[key])) leftover.note('output_config.', key);
  return { chat, own };
}

/** Ids that other upstreams take. A longer one is hashed: cut, it might be that of another user. */
const mostChars = 64;

function shortened(user: string): string {
  return user.length <= mostChars ? user : sha256Hex(user);
}

const efforts: ReadonlySet<string> = new Set(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none']);

function reasoningOf({ thinking, output_config: config }: MessagesRequest, leftover: Leftover): Loose | null {
  const given = config?.effort;
  const effort = typeof given === 'string' && efforts.has(given) ? (given as ReasoningEffort) : null;
  if (typeof given === 'string' && effort === null) leftover.note('output_config.effort');
  if (thinking?.type === 'disabled') return { effort: 'none' };
  if (thinking?.type === 'enabled' && typeof thinking.budget_tokens === 'number')
    return { max_tokens: thinking.budget_tokens };
  if (effort !== null) return { effort };
  return thinking?.type === 'adaptive' || thinking?.type === 'enabled' ? { enabled: true } : null;
}

function convertFormat(format: Loose, chat: Loose, leftover: Leftover): void {
  if (format.type !== 'json_schema' || !isObject(format.schema)) {
    leftover.note('output_config.format');
    return;
  }
  chat.response_format = {
    type: 'json_schema',
    json_schema: { name: 'output', schema: format.schema, strict: true },
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

import type { Loose } from '../../base/values.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../dialect.ts';
import { Dropped, leftOut } from '../shared/left-out.ts';
import { asBudget, reasoningAmount } from '../shared/reasoning-request.ts';
import { outputToolName } from '../shared/structured-output.ts';
import { encodeMessages } from './messages.ts';
import type { CohereQuirks } from './quirks.ts';
import { encodeTools } from './tools.ts';

/** Cohere's own fields, which a caller may send as they are. Cohere's other fields are made of ours. */
const ownFields = ['documents', 'citation_options', 'safety_mode', 'strict_tools', 'priority'] as const;

/** Fields with another name there. */
const renamed = { top_p: 'p', top_k: 'k', stop: 'stop_sequences' } as const;

const sameFields = ['temperature', 'seed', 'frequency_penalty', 'presence_penalty'] as const;

const carried: ReadonlySet<string> = new Set([
  ...ownFields,
  ...sameFields,
  ...Object.keys(renamed),
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'tools',
  'tool_choice',
  // These fields are carried as far as possible; see `encodeRequest`.
  'logprobs',
  'n',
  'parallel_tool_calls',
  'modalities',
]);

/** The largest output of Cohere's reasoning models. An effort is a share of it where the caller sets no limit. */
const usualMaxOutput = 32_000;

/**
 * Builds the body of Cohere's chat. It takes no fields that it does not know, so all others are left out.
 * @see https://docs.cohere.com/reference/chat
 */
export function encodeRequest({ request, upstreamModel, quirks }: DialectRequest<CohereQuirks>): EncodedRequest {
  const dropped = new Dropped();
  for (const name of leftOut(request, carried)) dropped.add(name);
  const { fields, structuredOutput, instruction } = encodeTools(request, dropped);
  const messages = encodeMessages(request.messages, dropped);
  if (instruction !== null) messages.unshift({ role: 'system', content: instruction });
  const isStream = request.stream === true;
  const all: Loose = {
    ...ownFieldsOf(request),
    ...samplingOf(request),
    ...limitsOf(request),
    ...fields,
  };
  const payload: Loose = { model: upstreamModel, stream: isStream, messages, ...withoutRefused(all, quirks, dropped) };
  addPartlyCarried(request, dropped);
  return {
    path: '/chat',
    headers: { 'content-type': 'application/json', accept: isStream ? 'text/event-stream' : 'application/json' },
    payload,
    body: JSON.stringify(payload),
    choices: 1,
    dropped: dropped.list(),
    ...(structuredOutput === 'tool' ? { reading: { outputTool: outputToolName } } : {}),
    ...(structuredOutput === null ? {} : { structuredOutput }),
  };
}

/** Lists fields whose usual value Cohere keeps without being told. */
function addPartlyCarried(request: ChatRequest, dropped: Dropped): void {
  if (typeof request.n === 'number' && request.n !== 1) dropped.add('n');
  if (request.parallel_tool_calls === false) dropped.add('parallel_tool_calls');
  if (request.modalities?.some((one) => one !== 'text')) dropped.add('modalities');
  if (request.reasoning) dropped.addSet('reasoning', request.reasoning, ['summary']);
}

function ownFieldsOf(request: ChatRequest): Loose {
  const fields: Loose = {};
  for (const name of ownFields) if (request[name] !== undefined && request[name] !== null) fields[name] = request[name];
  return fields;
}

/**
 * Encodes sampling, within the bounds of `p` and `k`, outside of which Cohere refuses the request; 1 and -1 are
 * customary for "all tokens".
 */
function samplingOf(request: ChatRequest): Loose {
  const { top_p: share, top_k: count, stop, logprobs } = request;
  const fields: Loose = {};
  for (const name of sameFields) if (typeof request[name] === 'number') fields[name] = request[name];
  if (typeof share === 'number') fields.p = Math.min(Math.max(share, 0.01), 0.99);
  if (typeof count === 'number') fields.k = Math.min(Math.max(count, 0), 500);
  if (stop !== undefined && stop !== null) fields.stop_sequences = typeof stop === 'string' ? [stop] : stop;
  if (logprobs === true) fields.logprobs = true;
  return fields;
}

/** @see https://docs.cohere.com/docs/reasoning */
function limitsOf(request: ChatRequest): Loose {
  const largest = request.max_completion_tokens ?? request.max_tokens ?? null;
  const amount = reasoningAmount(request);
  const fields: Loose = {};
  if (largest !== null) fields.max_tokens = largest;
  if (amount === null) return fields;
  const isOff = 'effort' in amount ? amount.effort === 'none' : amount.maxTokens === 0;
  if (isOff) return { ...fields, thinking: { type: 'disabled' } };
  const most = largest ?? usualMaxOutput;
  // A part of the output must be left for the response.
  const budget = asBudget(amount, most, { least: 1, most: Math.max(most - 1, 1) });
  return { ...fields, thinking: { type: 'enabled', token_budget: budget } };
}

/** By field of the body: the name that the caller used for it. */
const callersNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(renamed).map(([ours, theirs]) => [theirs, ours])),
  thinking: 'reasoning',
};

function withoutRefused(fields: Loose, { dropParams }: CohereQuirks, dropped: Dropped): Loose {
  if (dropParams === undefined) return fields;
  const kept: Loose = {};
  for (const name in fields) {
    const callers = callersNames[name] ?? name;
    if (dropParams.includes(callers)) dropped.add(callers);
    else kept[name] = fields[name];
  }
  return kept;
}

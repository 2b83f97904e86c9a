import { stringifyExact } from '../../base/exact-json.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { wholeOf } from '../../call/native.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest, Reading } from '../dialect.ts';
import { gatewayFields } from '../shared/gateway-fields.ts';
import { isThought } from '../shared/interleave.ts';
import { type BoundThoughts, bindingBeta, boundThoughts, dropsMismatches } from '../shared/thought-bindings.ts';
import { type Conversation, encodeMessages, markEnd } from './messages.ts';
import { type ModelTraits, traitsOf } from './model.ts';
import { encodeInvoke } from './native/invoke.ts';
import { fitNeighbours } from './neighbours.ts';
import { type OutputPlan, planOutput } from './output.ts';
import type { ConverseQuirks } from './quirks.ts';
import { planReasoning, type ReasoningPlan } from './reasoning.ts';
import { encodeSampling } from './sampling.ts';
import { forcesTool, planTools, type ToolPlan } from './tools.ts';

/** Fields that are read here or that speak to the gateway. Each of the others is left out and listed. */
const readFields = new Set([
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
  'cache_control',
  'service_tier',
  'metadata',
  'modalities',
  'n',
  'additionalModelRequestFields',
]);

/** Converse's own fields, which callers may set by their names there. */
const nativeFields = [
  'guardrailConfig',
  'performanceConfig',
  'requestMetadata',
  'additionalModelResponseFieldPaths',
] as const;

/**
 * Makes the request for `Converse` or `ConverseStream`, where the client has not sent the model's own wire. The id of the
 * model decides about features that models of one author take and others do not.
 */
export function encodeRequest(input: DialectRequest<ConverseQuirks>): EncodedRequest {
  const whole = wholeOf(input.native, input.request);
  return whole === null ? encodeConverse(input) : encodeInvoke(input, whole);
}

function encodeConverse({
  request,
  upstreamModel,
  quirks,
  whyDropThoughts,
}: DialectRequest<ConverseQuirks>): EncodedRequest {
  const traits = traitsOf(upstreamModel, quirks.family);
  const dropped = new Set<string>();
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? null;
  const mayThink =
    !(forcesTool(request) && traits.forcedTools !== false) &&
    !(traits.reasoning === 'budget' && actedUnthinking(request));
  const reasoning = planReasoning(request, traits, maxTokens, mayThink);
  if (reasoning.isDropped) dropped.add(reasoningField(request));
  const output = planOutput(request, traits, reasoning.thinks, dropped);
  const tools = planTools(request, traits, output, dropped);
  const conversation = encodeMessages(
    request.messages,
    traits,
    upstreamModel,
    tools.toolConfig !== null,
    quirks.s3 === true,
    dropped,
  );
  if (output.instruction !== null) conversation.system.push({ text: output.instruction });
  if (request.cache_control) markEnd(conversation, request.cache_control, traits, dropped);
  fitNeighbours(conversation, dropped);
  const payload = payloadOf(request, traits, maxTokens, { conversation, reasoning, output, tools }, dropped);
  const hasThoughts = traits.bindsThoughts && conversation.messages.some(({ content }) => content.some(isThought));
  const thoughts = hasThoughts ? boundThoughts(whyDropThoughts?.() ?? null) : null;
  if (thoughts !== null) controlBindings(payload, thoughts);
  noteUnread(request, dropped);
  const isStream = request.stream === true;
  return {
    path: `/model/${encodeURIComponent(upstreamModel)}/${isStream ? 'converse-stream' : 'converse'}`,
    headers: {
      'content-type': 'application/json',
      accept: isStream ? 'application/vnd.amazon.eventstream' : 'application/json',
    },
    payload,
    body: stringifyExact(payload),
    choices: 1,
    dropped: [...dropped],
    reading: readingOf(traits, output, upstreamModel, thoughts),
    ...(thoughts === null ? {} : { thoughts }),
    ...(output.way === null ? {} : { structuredOutput: output.way }),
  };
}

interface Plans {
  conversation: Conversation;
  reasoning: ReasoningPlan;
  output: OutputPlan;
  tools: ToolPlan;
}

function payloadOf(
  request: ChatRequest,
  traits: ModelTraits,
  maxTokens: number | null,
  { conversation, reasoning, output, tools }: Plans,
  dropped: Set<string>,
): Loose {
  const payload: Loose = { messages: conversation.messages };
  if (conversation.system.length > 0) payload.system = conversation.system;
  const { inferenceConfig, fields } = encodeSampling(
    request,
    traits,
    maxTokens ?? reasoning.maxTokens,
    reasoning,
    dropped,
  );
  if (Object.keys(inferenceConfig).length > 0) payload.inferenceConfig = inferenceConfig;
  if (tools.toolConfig !== null) payload.toolConfig = tools.toolConfig;
  if (output.outputConfig !== null) payload.outputConfig = output.outputConfig;
  const additional = {
    ...ownFields(request.additionalModelRequestFields, dropped),
    ...fields,
    ...tools.fields,
    ...reasoning.fields,
  };
  if (Object.keys(additional).length > 0) payload.additionalModelRequestFields = additional;
  if (request.metadata) encodeMetadata(request.metadata, payload, dropped);
  for (const name of nativeFields) if (isSet(request[name])) payload[name] = request[name];
  encodeTier(request, payload, dropped);
  return payload;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readingOf(
  { reasoningFormat, bindsThoughts }: ModelTraits,
  { toolName }: OutputPlan,
  upstreamModel: string,
  thoughts: BoundThoughts | null,
): Reading {
  return {
    reasoningFormat,
    ...(toolName === null ? {} : { outputTool: toolName }),
    ...(bindsThoughts ? { signer: upstreamModel } : {}),
    ...(thoughts === null ? {} : { transformations: thoughts.reported }),
  };
}

/** The path of the provider's report of parts that it left out of the conversation. */
const reportPath = '/input_transformations';
/** The most paths; more are refused. */
const mostPaths = 10;

/** Adds the fields of Claude, with the beta that allows them, beside Converse's own fields. */
function controlBindings(payload: Loose, { dropReason }: BoundThoughts): void {
  const { additionalModelResponseFieldPaths: asked } = payload;
  const paths = Array.isArray(asked) ? asked : [];
  if (!paths.includes(reportPath) && paths.length < mostPaths)
    payload.additionalModelResponseFieldPaths = [...paths, reportPath];
  if (dropReason === null) return;
  const { anthropic_beta: betas, thinking, ...fields } = (payload.additionalModelRequestFields ?? {}) as Loose;
  payload.additionalModelRequestFields = {
    ...fields,
    thinking: { ...(isObject(thinking) ? thinking : { type: 'adaptive' }), block_binding: dropsMismatches },
    anthropic_beta: [...new Set([...(Array.isArray(betas) ? betas : []), bindingBeta])],
  };
}

function reasoningField({ reasoning_effort: effort }: ChatRequest): string {
  return isSet(effort) ? 'reasoning_effort' : 'reasoning';
}

/**
 * true: the latest call of a tool comes without the thought behind it, as after another model. Claude then cannot think
 * about its result.
 */
function actedUnthinking({ messages }: ChatRequest): boolean {
  const last = messages.findLast(({ role }) => role !== 'tool');
  if (messages.at(-1)?.role !== 'tool' || last?.role !== 'assistant') return false;
  const details = Array.isArray(last.reasoning_details) ? last.reasoning_details : [];
  return !details.some(
    (detail) => detail.type === 'reasoning.encrypted' || (detail.type === 'reasoning.text' && detail.signature),
  );
}

/** The fields by which a model could be asked for more than the largest output, for every author. */
const largestOutputs = new Set([
  'max_tokens',
  'max_tokens_to_sample',
  'max_completion_tokens',
  'max_gen_len',
  'max_new_tokens',
  'maxTokens',
  'maxTokenCount',
]);

/** Returns the caller's fields for a model, without those that the request has its own for. */
function ownFields(given: unknown, dropped: Set<string>): Loose {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) {
    dropped.add('additionalModelRequestFields');
    return {};
  }
  const fields: Loose = {};
  for (const [name, value] of Object.entries(given)) {
    if (largestOutputs.has(name)) dropped.add(`additionalModelRequestFields.${name}`);
    else if (isObject(value) && Object.keys(value).some((key) => largestOutputs.has(key))) {
      const kept = Object.entries(value).filter(([key]) => !largestOutputs.has(key));
      dropped.add(`additionalModelRequestFields.${name}`);
      fields[name] = Object.fromEntries(kept);
    } else fields[name] = value;
  }
  return fields;
}

/** The characters that a name and a value for the provider's logs may have. */
const loggable = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/;

function encodeMetadata(metadata: Readonly<Record<string, string>>, payload: Loose, dropped: Set<string>): void {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return;
  if (entries.every(([name, value]) => name !== '' && loggable.test(name) && loggable.test(value)))
    payload.requestMetadata = metadata;
  else dropped.add('metadata');
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/service-tiers-inference.html */
function encodeTier({ service_tier: tier }: ChatRequest, payload: Loose, dropped: Set<string>): void {
  if (tier === 'default' || tier === 'priority' || tier === 'flex') payload.serviceTier = { type: tier };
  // `auto` lets the provider decide.
  else if (isSet(tier) && tier !== 'auto') dropped.add('service_tier');
}

function noteUnread(request: ChatRequest, dropped: Set<string>): void {
  for (const name of Object.keys(request)) {
    if (readFields.has(name) || (nativeFields as readonly string[]).includes(name)) continue;
    if (isSet(request[name])) dropped.add(name);
  }
  if (isSet(request.reasoning?.summary)) dropped.add('reasoning.summary');
  if (typeof request.n === 'number' && request.n > 1) dropped.add('n');
  if (request.modalities?.some((modality) => modality !== 'text')) dropped.add('modalities');
}

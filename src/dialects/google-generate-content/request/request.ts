import { stringifyExact } from '../../../base/exact-json.ts';
import type { Loose } from '../../../base/values.ts';
import { wholeOf } from '../../../call/native.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../../dialect.ts';
import { gatewayFields } from '../../shared/gateway-fields.ts';
import { headersOf, pathOf, tierHeaders } from '../host.ts';
import { familyOf } from '../model-family.ts';
import { encodeWhole } from '../native/whole.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { choicesOf, type Drop, generationConfig } from './generation-config.ts';
import { encodeMessages } from './messages.ts';
import { encodeFormat } from './structured-output.ts';
import { encodeTools } from './tools.ts';

/** Fields that this dialect reads. Its code lists a field of them that it leaves out. */
const readFields = [
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'n',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'modalities',
  'audio',
  'image_config',
  'reasoning',
  'reasoning_effort',
  'service_tier',
  'safetySettings',
  'safety_settings',
  'web_search_options',
];
const known: ReadonlySet<string> = new Set([...gatewayFields, ...readFields]);

/**
 * Builds the upstream body. Google refuses a body with a field that it does not know, so of the caller's unknown fields
 * only `safetySettings` passes, where the client speaks another wire. A prompt cache of Google's own (`cachedContent`) does
 * not: it belongs to the credential and not to the caller, and nobody has counted its tokens.
 * @see https://ai.google.dev/api/generate-content
 */
export function encodeRequest(input: DialectRequest<GoogleQuirks>): EncodedRequest {
  const whole = wholeOf(input.native, input.request);
  return whole === null ? encodeChat(input) : encodeWhole(input, whole);
}

function encodeChat({ request, upstreamModel, quirks }: DialectRequest<GoogleQuirks>): EncodedRequest {
  const dropped = new Set<string>();
  const drop: Drop = (path) => dropped.add(path);
  const taken = withoutRefused(request, quirks.dropParams, drop);
  const family = familyOf(upstreamModel);
  const format = encodeFormat(taken, family, drop);
  const tools = encodeTools(format.hidesTools ? { ...taken, tools: [] } : taken, format.tool, family, drop);
  // An empty literal: docs/performance.md, "Classes instead of literals".
  const payload: Loose = {};
  const { contents, systemInstruction } = encodeMessages(taken.messages, format.instruction, family, quirks, drop);
  payload.contents = contents;
  if (systemInstruction) payload.systemInstruction = systemInstruction;
  const config = { ...generationConfig(taken, family, quirks, drop), ...format.config };
  if (Object.keys(config).length > 0) payload.generationConfig = config;
  Object.assign(payload, tools);
  const safety = taken.safetySettings ?? taken.safety_settings ?? null;
  if (safety !== null) payload.safetySettings = safety;
  const tier = addServiceTier(payload, taken, quirks, drop);
  for (const field in taken) if (!known.has(field) && (taken[field] ?? null) !== null) drop(field);
  return {
    path: pathOf(upstreamModel, request),
    headers: headersOf(request, tier),
    payload,
    body: stringifyExact(payload),
    choices: choicesOf(taken),
    dropped: [...dropped],
    ...(format.tool === null ? {} : { reading: { outputTool: format.tool.name as string } }),
    ...(format.how === undefined ? {} : { structuredOutput: format.how }),
  };
}

function withoutRefused(request: ChatRequest, refused: readonly string[] | undefined, drop: Drop): ChatRequest {
  if (!refused?.some((field) => (request[field] ?? null) !== null)) return request;
  const taken: Loose = { ...request };
  for (const field of refused) {
    if ((taken[field] ?? null) !== null) drop(field);
    delete taken[field];
  }
  return taken as unknown as ChatRequest;
}

/**
 * @returns the headers that tell the tier to Vertex AI
 * @see https://ai.google.dev/gemini-api/docs/flex-inference
 */
function addServiceTier(
  payload: Loose,
  { service_tier: tier }: ChatRequest,
  quirks: GoogleQuirks,
  drop: Drop,
): Record<string, string> {
  if (tier === undefined || tier === null || tier === 'auto') return {};
  if (tier === 'scale') drop('service_tier');
  else if (quirks.serviceTier !== 'header') payload.serviceTier = tier === 'default' ? 'standard' : tier;
  return tierHeaders(tier, quirks);
}

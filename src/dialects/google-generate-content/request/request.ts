import { stringifyExact } from '../../../base/exact-json.ts';
import type { Loose } from '../../../base/values.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../../dialect.ts';
import { gatewayFields } from '../../shared/gateway-fields.ts';
import { familyOf } from '../model-family.ts';
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
 * only `safetySettings` passes. A prompt cache of Google's own (`cachedContent`) does not: it belongs to the credential
 * and not to the caller, and nobody has counted its tokens.
 * @see https://ai.google.dev/api/generate-content
 */
export function encodeRequest({ request, upstreamModel, quirks }: DialectRequest<GoogleQuirks>): EncodedRequest {
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
  const tierHeaders = addServiceTier(payload, taken, quirks, drop);
  for (const field in taken) if (!known.has(field) && (taken[field] ?? null) !== null) drop(field);
  const isStream = request.stream === true;
  return {
    path: `/${pathOf(upstreamModel)}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: {
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
      ...tierHeaders,
    },
    payload,
    body: stringifyExact(payload),
    choices: choicesOf(taken),
    dropped: [...dropped],
    ...(format.tool === null ? {} : { reading: { outputTool: format.tool.name as string } }),
    ...(format.how === undefined ? {} : { structuredOutput: format.how }),
  };
}

/** Returns the path of a model. A tuned model has another collection in its name than `models`. */
function pathOf(model: string): string {
  const segments = model.split('/').map(encodeURIComponent);
  return segments.length === 1 ? `models/${segments[0]}` : segments.join('/');
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
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo
 */
function addServiceTier(
  payload: Loose,
  { service_tier: tier }: ChatRequest,
  { serviceTier: place }: GoogleQuirks,
  drop: Drop,
): Record<string, string> {
  if (tier === undefined || tier === null || tier === 'auto') return {};
  if (tier === 'scale') drop('service_tier');
  else if (place !== 'header') payload.serviceTier = tier === 'default' ? 'standard' : tier;
  // The standard tier has no name there.
  else if (tier !== 'default') return { 'x-vertex-ai-llm-shared-request-type': tier };
  return {};
}

import { stringifyExact } from '../../base/exact-json.ts';
import type { Loose } from '../../base/values.ts';
import { wholeOf } from '../../call/native.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../dialect.ts';
import { type BoundThoughts, bindingBeta, boundThoughts, dropsMismatches } from '../shared/thought-bindings.ts';
import { limitMarks } from './cache.ts';
import { type Encoding, pathOf, version, vertexVersion } from './encoding.ts';
import { newSchemaEffort } from './json-schema.ts';
import { type Conversation, encodeMessages } from './messages.ts';
import { traitsOf } from './models.ts';
import { encodeWhole } from './native/whole.ts';
import { type OutputPlan, planOutput } from './output-format.ts';
import type { MessagesQuirks } from './quirks.ts';
import { encodeSettings, noteUnknown, withoutParams } from './settings.ts';
import { planThinking, type ThinkingPlan } from './thinking.ts';
import { planTools } from './tools.ts';

/**
 * Builds the body of a message. Anthropic refuses fields that it does not know, so every field that the wire has no
 * word for is left out and listed.
 * @see https://platform.claude.com/docs/en/api/messages/create
 */
export function encodeRequest(input: DialectRequest<MessagesQuirks>): EncodedRequest {
  const whole = wholeOf(input.native, input.request);
  return whole === null ? encodeChat(input) : encodeWhole(input, whole);
}

function encodeChat({
  request: asked,
  upstreamModel,
  quirks,
  whyDropThoughts,
}: DialectRequest<MessagesQuirks>): EncodedRequest {
  const encoding: Encoding = {
    quirks,
    upstreamModel,
    hasThoughts: false,
    traits: traitsOf(upstreamModel, quirks),
    dropped: new Set(),
    betas: new Set(quirks.betas),
    marked: [],
    schemas: newSchemaEffort(),
  };
  const request = withoutParams(asked, encoding);
  const given = request.max_completion_tokens ?? request.max_tokens ?? null;
  const maxTokens = given ?? quirks.defaultMaxTokens ?? encoding.traits.maxTokens;
  const output = planOutput(request, encoding);
  // The order is that of the prompt, and so of the marks: tools, instructions, turns.
  const { tools, choice } = planTools(request, output, encoding);
  const conversation = encodeMessages(request.messages, encoding);
  if (output.instruction !== undefined) conversation.system.push({ type: 'text', text: output.instruction });
  const isBound = choice?.type === 'any' || choice?.type === 'tool' || continuesWithoutThoughts(conversation);
  const thinking = planThinking(request, { maxTokens, isMaxGiven: given !== null, isBound }, encoding);
  const thoughts =
    encoding.hasThoughts && encoding.traits.bindsThoughts ? boundThoughts(whyDropThoughts?.() ?? null) : null;
  if (thoughts !== null && thoughts.dropReason !== null) dropMismatches(thinking, encoding);

  const payload: Loose = quirks.host === 'vertex' ? { anthropic_version: vertexVersion } : { model: upstreamModel };
  payload.max_tokens = maxTokens;
  encodeCaching(request, conversation, payload, encoding);
  limitMarks(encoding, payload.cache_control === undefined ? 0 : 1);
  if (conversation.system.length > 0) payload.system = conversation.system;
  payload.messages = conversation.turns;
  if (tools.length > 0) payload.tools = tools;
  if (choice) payload.tool_choice = choice;
  encodeOutput(payload, thinking, output.format);
  encodeSettings(request, payload, thinking.thinking, encoding);
  if (request.stream === true) payload.stream = true;
  noteUnknown(request, encoding);
  return {
    path: pathOf(upstreamModel, request, quirks),
    headers: headersOf(request, encoding),
    payload,
    body: stringifyExact(payload),
    choices: 1,
    dropped: [...encoding.dropped],
    ...readingOf(output, thoughts),
    ...(output.structuredOutput ? { structuredOutput: output.structuredOutput } : {}),
  };
}

/** Returns the facts that the reader of the response must know, where there are any. */
function readingOf({ tool }: OutputPlan, thoughts: BoundThoughts | null): Pick<EncodedRequest, 'reading' | 'thoughts'> {
  if (!tool && thoughts === null) return {};
  return {
    reading: {
      ...(tool ? { outputTool: tool.name } : {}),
      ...(thoughts ? { transformations: thoughts.reported } : {}),
    },
    ...(thoughts ? { thoughts } : {}),
  };
}

/**
 * Tells the provider to drop thoughts that do not fit. This sets `thinking`, which changes nothing else: models that
 * bind thoughts always think.
 */
function dropMismatches(plan: ThinkingPlan, { betas }: Encoding): void {
  betas.add(bindingBeta);
  plan.thinking = { ...(plan.thinking ?? { type: 'adaptive' }), block_binding: dropsMismatches };
}

/**
 * true: the model goes on with a turn of its own that did not begin with thoughts. It is one to be continued, or one
 * whose calls have been answered.
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking "Toggling thinking modes in
 * conversations"
 */
function continuesWithoutThoughts({ turns }: Conversation): boolean {
  const last = turns.findLastIndex(({ role }) => role !== 'system');
  if (turns[last]?.role === 'assistant') return true;
  if (turns[last]?.content[0]?.type !== 'tool_result') return false;
  const type = turns[last - 1]?.content[0]?.type;
  return type !== 'thinking' && type !== 'redacted_thinking';
}

/**
 * Encodes a mark on the request: the provider itself marks the last block. Google Cloud does not, so the mark is put
 * there.
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching "Automatic caching"
 */
function encodeCaching(request: ChatRequest, { turns }: Conversation, payload: Loose, encoding: Encoding): void {
  const { cache_control: mark } = request;
  if (!mark) return;
  if (encoding.quirks.host !== 'vertex') {
    payload.cache_control = mark;
    return;
  }
  const last = turns.at(-1)?.content.findLast(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  if (!last || last.cache_control !== undefined) return;
  last.cache_control = mark;
  encoding.marked.push(last);
}

function encodeOutput(payload: Loose, { thinking, effort }: ThinkingPlan, format: Loose | undefined): void {
  if (thinking) payload.thinking = thinking;
  if (effort || format) payload.output_config = { ...(effort ? { effort } : {}), ...(format ? { format } : {}) };
}

function headersOf({ stream }: ChatRequest, { quirks, betas }: Encoding): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream === true ? 'text/event-stream' : 'application/json',
    ...(quirks.host === 'vertex' ? {} : { 'anthropic-version': version }),
    ...(betas.size > 0 ? { 'anthropic-beta': [...betas].join(',') } : {}),
  };
}

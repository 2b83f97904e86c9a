import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { WholeRequest } from '../../../call/native.ts';
import { gatewayFieldNames } from '../../../schema/gateway-shape.ts';
import type { DialectRequest, EncodedRequest } from '../../dialect.ts';
import { bindingBeta, bindsThoughts, boundThoughts, dropsMismatches } from '../../shared/thought-bindings.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { pathOf, version, vertexVersion } from '../encoding.ts';
import { traitsOf } from '../models.ts';
import type { MessagesQuirks } from '../quirks.ts';

/** Fields that stay here. */
const ownFields: ReadonlySet<string> = new Set(gatewayFieldNames);

/** The service that serves the model: its maker, or a cloud. */
export type Host = 'maker' | 'vertex' | 'bedrock';

/** Fields that Google Cloud refuses. Bedrock takes only those of the list behind. */
const notAtVertex: ReadonlySet<string> = new Set([
  'context_management',
  'output_config',
  'output_format',
  'mcp_servers',
  'container',
  'fallbacks',
  'thread',
  'inference_geo',
  'speed',
]);
const atBedrock: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'metadata',
]);
const notInToolsOfClouds: ReadonlySet<string> = new Set(['strict', 'defer_loading', 'eager_input_streaming']);
/**
 * Fields with which a request costs no more than its tokens. Where money is limited, any other is left out: a field that
 * nobody here knows may cost anything.
 */
const bounded: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
  'metadata',
  'service_tier',
  'context_management',
  'diagnostics',
]);
/** The types of tools that the client itself runs. Any other may cost more than the tokens of the request. */
const ofClient = /^(?:custom|(?:bash|text_editor|memory|computer|(?:browser|computer)_toolset)_\d+)$/;
/**
 * Headers that choose the part of an account that serves, or whom it bills. Who asks with the operator's credential has no
 * choice there.
 */
const ofAccount: ReadonlySet<string> = new Set([
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-user-profile-id',
]);
/** Fields that only the older version of the wire takes. */
const ofOlderVersion = ['temperature', 'top_p', 'top_k'] as const;

/** The parts of a request that a host wraps in its own way. */
export interface WholePayload extends Pick<EncodedRequest, 'choices' | 'dropped' | 'reading' | 'thoughts'> {
  payload: Loose;
  /** Features under trial: those of the client, unknown ones too, and those of the provider. */
  betas: ReadonlySet<string>;
}

/**
 * Encodes the request of a client of this wire format: the body goes on as it came, with the name of the model replaced and
 * the fields for the gateway left out. Fields and header values that are not known go on together: one without the other is
 * refused.
 */
export function encodeWhole(input: DialectRequest<MessagesQuirks>, whole: WholeRequest): EncodedRequest {
  const { request, upstreamModel, quirks } = input;
  const isVertex = quirks.host === 'vertex';
  const { payload: own, betas, dropped, ...rest } = wholePayload(input, whole, isVertex ? 'vertex' : 'maker');
  const { headers, left } = headersOfCaller(whole, input.isByok === true);
  const payload: Loose = isVertex ? { anthropic_version: vertexVersion, ...own } : own;
  return {
    path: pathOf(upstreamModel, request, quirks),
    headers: headersOf(payload, headers, betas, isVertex),
    payload,
    body: stringifyExact(payload),
    ...rest,
    dropped: [...dropped, ...left],
  };
}

/** Makes the body of a request as it came, without the parts that the host does not take. */
export function wholePayload(input: DialectRequest<MessagesQuirks>, whole: WholeRequest, host: Host): WholePayload {
  const { upstreamModel, quirks, isLimited = false } = input;
  // The provider has the conversation of a thread, so that nobody here can count its tokens.
  if (isLimited && isObject(whole.body.thread))
    throw unsupported(
      'thread',
      'the complete conversation: money is limited, and a thread has a part that is not sent',
    );
  const dropped = new Set(whole.left);
  const payload: Loose = {};
  const isCloud = host !== 'maker';
  for (const [key, value] of Object.entries(whole.body)) {
    // A cloud has the name of the model in the path, and marks the end of a prompt for nobody.
    if (ownFields.has(key) || (isCloud && (key === 'model' || key === 'cache_control'))) continue;
    if (host === 'bedrock' && key === 'stream') continue;
    const isRefused = isRefusedBy(host, key) || (isLimited && !isBounded(key, value));
    if (isRefused || quirks.dropParams?.includes(key) === true) dropped.add(key);
    else payload[key] = key === 'model' ? upstreamModel : value;
  }
  // A caller may have named its models in another field alone.
  if (!isCloud) payload.model = upstreamModel;
  if (isLimited) encodeToolChanges(payload, payload.tools, dropped);
  encodeTools(payload, { host, isLimited, dropped });
  adjust(payload, whole, input);
  if (host === 'bedrock') delete payload.stream;
  if (goesOnUnthinking(payload, whole)) {
    delete payload.thinking;
    dropped.add('thinking');
  }
  if (isCloud && isObject(whole.body.cache_control) && !markEnd(payload, whole.body.cache_control))
    dropped.add('cache_control');
  const betas = betasOf(whole, quirks);
  const thoughts =
    bindsThoughts(upstreamModel) && hasThoughts(payload) ? boundThoughts(input.whyDropThoughts?.() ?? null) : null;
  if (thoughts !== null && thoughts.dropReason !== null) {
    betas.add(bindingBeta);
    const thinking = isObject(payload.thinking) ? payload.thinking : { type: 'adaptive' };
    payload.thinking = { ...thinking, block_binding: dropsMismatches };
  }
  return {
    payload,
    betas,
    choices: 1,
    dropped: [...dropped],
    reading: { nativeEvents: true, ...(thoughts === null ? {} : { transformations: thoughts.reported }) },
    ...(thoughts === null ? {} : { thoughts }),
  };
}

/**
 * true: the turn that goes on has lost its thoughts, since another provider has signed them. A model that thinks within a
 * budget refuses to go on thinking then.
 */
function goesOnUnthinking({ thinking, messages }: Loose, { left = [] }: WholeRequest): boolean {
  if (left.length === 0 || !isObject(thinking) || thinking.type !== 'enabled') return false;
  const turns = (messages as Loose[]).filter(({ role }) => role !== 'system');
  const first = (turn: Loose | undefined) => (Array.isArray(turn?.content) ? (turn.content[0] as Loose).type : null);
  if (first(turns.at(-1)) !== 'tool_result') return false;
  return !/thinking$/.test(String(first(turns.findLast(({ role }) => role === 'assistant'))));
}

function isRefusedBy(host: Host, key: string): boolean {
  if (host === 'bedrock') return !atBedrock.has(key);
  return host === 'vertex' && notAtVertex.has(key);
}

/** The most marks of parts to cache that are accepted. */
const mostMarks = 4;

/**
 * Puts a mark of what to cache onto the last block of the conversation, for a host that does not do it itself.
 * @returns false: there are as many marks as the host accepts
 */
function markEnd(payload: Loose, mark: Loose): boolean {
  const messages = payload.messages as readonly Loose[];
  const blocks = [payload.system, payload.tools, ...messages.map(({ content }) => content)].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  if (blocks.filter((block) => isObject(block) && isObject(block.cache_control)).length >= mostMarks) return false;
  const last = messages.at(-1) as Loose;
  const content: Loose[] =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : [...((last.content ?? []) as Loose[])];
  const at = content.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  if (at >= 0 && content[at]?.cache_control === undefined) content[at] = { ...content[at], cache_control: mark };
  payload.messages = [...messages.slice(0, -1), { ...last, content }];
  return true;
}

function isBounded(key: string, value: unknown): boolean {
  if (key !== 'context_management') return bounded.has(key);
  // Clearing makes a prompt shorter. A summary is another response, and is paid for beside the one that was asked for.
  const edits: unknown = isObject(value) ? value.edits : null;
  return Array.isArray(edits) && edits.every((edit) => isObject(edit) && /^clear_/.test(String(edit.type)));
}

/** Takes out tools that cost more than the tokens of the request, where money is limited, and what a host refuses. */
function encodeTools(
  payload: Loose,
  { host, isLimited, dropped }: { host: Host; isLimited: boolean; dropped: Set<string> },
): void {
  if (!Array.isArray(payload.tools)) return;
  let tools = payload.tools as Loose[];
  // Bedrock runs no tools.
  if (isLimited || host === 'bedrock') {
    for (const tool of tools) if (isPaid(tool)) dropped.add(`tools[].${tool.type}`);
    tools = tools.filter((tool) => !isPaid(tool));
  }
  if (host !== 'maker') {
    const called = calledIn(payload.messages);
    // A tool that waits to be found would be shown at once, without the field.
    tools = tools.filter(
      (tool) => tool.defer_loading !== true || called.has(tool.name) || !dropped.add('tools[].defer_loading'),
    );
    tools = tools.map((tool) => {
      const left = Object.keys(tool).filter((key) => notInToolsOfClouds.has(key));
      for (const key of left) dropped.add(`tools[].${key}`);
      return left.length === 0 ? tool : Object.fromEntries(Object.entries(tool).filter(([key]) => !left.includes(key)));
    });
  }
  if (tools.length !== (payload.tools as Loose[]).length && tools.length === 0) {
    delete payload.tools;
    delete payload.tool_choice;
    return;
  }
  const { tool_choice: choice, tools: given } = payload;
  const isChosen = ({ name }: Loose) => isObject(choice) && choice.type === 'tool' && name === choice.name;
  // A choice of a tool that was left out is refused.
  if ((given as Loose[]).some(isChosen) && !tools.some(isChosen)) {
    delete payload.tool_choice;
    dropped.add('tool_choice');
  }
  payload.tools = tools;
}

function isPaid({ type }: Loose): boolean {
  return type !== undefined && type !== null && !ofClient.test(String(type));
}

/**
 * Takes tools out of the messages that bring them in, where money is limited: those that cost more than the tokens of the
 * request, and what refers to tools that were left out.
 * @see https://platform.claude.com/docs/en/api/beta/messages/create "BetaRequestToolAdditionBlock"
 */
function encodeToolChanges(payload: Loose, tools: unknown, dropped: Set<string>): void {
  const given = Array.isArray(tools) ? (tools as Loose[]) : [];
  const left = new Set(given.filter(isPaid).map(({ name }) => name));
  const isKept = ({ type, tool }: Loose): boolean => {
    if ((type !== 'tool_addition' && type !== 'tool_removal') || !isObject(tool)) return true;
    if (tool.type === 'tool_reference') return !left.has(tool.name);
    const defined = tool.type === 'tool_definition' && isObject(tool.definition) ? tool.definition : tool;
    if (!isPaid(defined)) return true;
    left.add(defined.name);
    return false;
  };
  const keptOf = (blocks: readonly Loose[]): readonly Loose[] => {
    const kept = blocks.filter((block) => isKept(block) || !dropped.add(`messages[].content[].${block.type}`));
    return kept.length === blocks.length ? blocks : kept;
  };
  const fitted = (block: Loose): Loose => {
    if (!Array.isArray(block.tool_changes)) return block;
    const changes = keptOf(block.tool_changes.filter(isObject));
    return changes.length === block.tool_changes.length ? block : { ...block, tool_changes: changes };
  };
  payload.messages = (payload.messages as Loose[]).flatMap((message) => {
    if (!Array.isArray(message.content)) return [message];
    const content = message.content as Loose[];
    const own = keptOf(content).map(fitted);
    if (own.length === content.length && own.every((block, at) => block === content[at])) return [message];
    return own.length === 0 ? [] : [{ ...message, content: own }];
  });
}

/** Returns the names of the tools that were called in a conversation. */
function calledIn(messages: unknown): ReadonlySet<unknown> {
  const blocks = (messages as Loose[]).flatMap(({ content }) => (Array.isArray(content) ? (content as unknown[]) : []));
  return new Set(blocks.flatMap((block) => (isObject(block) && block.type === 'tool_use' ? [block.name] : [])));
}

/** Writes the settings that the gateway has changed, such as a largest output that the model allows. */
function adjust(payload: Loose, { request: asked }: WholeRequest, input: DialectRequest<MessagesQuirks>): void {
  const { request: sent, quirks, upstreamModel } = input;
  const largest = sent.max_completion_tokens ?? sent.max_tokens ?? null;
  if (largest !== (asked.max_completion_tokens ?? asked.max_tokens ?? null) || largest === null)
    payload.max_tokens = largest ?? quirks.defaultMaxTokens ?? traitsOf(upstreamModel, quirks).maxTokens;
  for (const name of ofOlderVersion) {
    if (sent[name] === asked[name]) continue;
    if (sent[name] === undefined || sent[name] === null) delete payload[name];
    else payload[name] = sent[name];
  }
  if (sent.stop !== asked.stop) {
    if (sent.stop) payload.stop_sequences = [sent.stop].flat();
    else delete payload.stop_sequences;
  }
  if ((sent.stream === true) !== (asked.stream === true)) {
    if (sent.stream === true) payload.stream = true;
    else delete payload.stream;
  }
}

function hasThoughts({ messages }: Loose): boolean {
  return (
    Array.isArray(messages) &&
    messages.some(
      ({ content }: Loose) =>
        Array.isArray(content) &&
        content.some((block: unknown) => isObject(block) && /thinking$/.test(String(block.type))),
    )
  );
}

/** Returns the features under trial: those of the client, unknown ones too, and those of the provider. */
function betasOf({ headers }: WholeRequest, quirks: MessagesQuirks): Set<string> {
  const asked = quirks.host === 'vertex' ? [] : (headers['anthropic-beta'] ?? '').split(',').map((name) => name.trim());
  return new Set([...asked, ...(quirks.betas ?? [])].filter((name) => name !== ''));
}

/** Returns the headers of the caller that go along, and the names of those that do not. */
function headersOfCaller(
  { headers }: WholeRequest,
  isByok: boolean,
): { headers: WholeRequest['headers']; left: readonly string[] } {
  const left = isByok ? [] : Object.keys(headers).filter((name) => ofAccount.has(name));
  if (left.length === 0) return { headers, left };
  return { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !left.includes(name))), left };
}

function headersOf(
  payload: Loose,
  headers: WholeRequest['headers'],
  betas: ReadonlySet<string>,
  isVertex: boolean,
): Record<string, string> {
  const { 'anthropic-version': asked = version, 'anthropic-beta': _, ...others } = headers;
  const isOlder = ofOlderVersion.some((name) => payload[name] !== undefined && payload[name] !== null);
  return {
    'content-type': 'application/json',
    accept: payload.stream === true ? 'text/event-stream' : 'application/json',
    ...(isVertex ? {} : { ...others, 'anthropic-version': isOlder ? version : asked }),
    ...(betas.size > 0 ? { 'anthropic-beta': [...betas].join(',') } : {}),
  };
}

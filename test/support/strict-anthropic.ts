import { createHash } from 'node:crypto';
import type { Transport, TransportRequest } from '../../src/transport/transport.ts';

type Json = Record<string, unknown>;
interface Turn {
  role: string;
  content: Json[];
}

/** An account: its organization, and whether it refuses thoughts behind another prefix unless it is told otherwise. */
export interface Account {
  organization: string;
  enforces: boolean;
}

/** What a signature holds. */
interface Signed {
  organization: string;
  model: string;
  /** The response that the thought is of. */
  response: number;
  prefix: string;
  text: string;
}

/** What became of one thought that came back. */
export interface SeenThought {
  response: number;
  model: string;
  /** null: it was kept. */
  droppedFor: string | null;
  /** It does not fit, and was kept all the same. */
  isMismatch: boolean;
}

/** A request that was served. */
export interface Served {
  response: number;
  body: Json;
  hasSwitch: boolean;
  thoughts: SeenThought[];
}

/** What one response is to be made of: blocks in order; a call names its tool. */
export type Script = readonly ('thinking' | 'redacted' | 'text' | { call: string; input: Json })[];

const switchBeta = 'thinking-binding-controls-2026-08-01';
const hash = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** Who reads whose thoughts, as Anthropic says. */
function reads(reader: string, signer: string): boolean {
  if (reader === signer) return true;
  if (reader === 'claude-fable-5-1') return true;
  return reader === 'claude-opus-5-5' && signer !== 'claude-fable-5-1';
}

class Refused extends Error {}

/**
 * Anthropic, by its public words and without any code of the gateway: signs each thought over all that stood before it,
 * and refuses what the real one refuses. Moving a cache mark, and leaving out thoughts, changes nothing that is signed.
 */
export function strictAnthropic(accountOf: (request: TransportRequest) => Account, nextScript: () => Script) {
  const served: Served[] = [];
  const refusals: string[] = [];
  let responses = 0;

  /** All that stands before a block: what is said, without thoughts and cache marks. */
  function prefixOf(body: Json, turns: readonly Turn[], own: readonly Json[]): string {
    const bare = (blocks: readonly Json[]): Json[] => blocks.filter((one) => !isThought(one)).map(unmarked);
    const before = turns.map(({ role, content }) => ({ role, content: bare(content) }));
    return hash([((body.tools as Json[]) ?? []).map(unmarked), bare((body.system as Json[]) ?? []), before, bare(own)]);
  }

  function check(body: Json, betas: string): void {
    const thinking = body.thinking as Json | undefined;
    for (const field of ['temperature', 'top_p', 'top_k'])
      if (field in body) throw new Refused(`${field}: this model takes no other than the default`);
    if (thinking && !['adaptive', 'between_tools'].includes(thinking.type as string))
      throw new Refused(`thinking.type: ${thinking.type} is not supported by this model`);
    if (thinking?.block_binding !== undefined && !betas.includes(switchBeta))
      throw new Refused('thinking.block_binding: Extra inputs are not permitted');
    const choice = body.tool_choice as Json | undefined;
    if (choice?.type === 'any' || choice?.type === 'tool') throw new Refused('tool_choice: forces tool use');
    const turns = body.messages as Turn[];
    if (turns.at(-1)?.role === 'assistant') throw new Refused('This model does not support assistant message prefill');
    turns.forEach(({ role, content }, at) => {
      if (content.some((one) => one.type === 'text' && (one.text as string).trim() === ''))
        throw new Refused(`messages.${at}: text content blocks must be non-empty`);
      if (role !== 'system') return;
      const next = turns[at + 1]?.role;
      if (turns[at - 1]?.role !== 'user' || (next !== undefined && next !== 'assistant'))
        throw new Refused(`messages.${at}: system is not allowed here`);
    });
  }

  function look(body: Json, account: Account): SeenThought[] {
    const turns = body.messages as Turn[];
    const binding = (body.thinking as Json | undefined)?.block_binding as Json | undefined;
    const seen: SeenThought[] = [];
    turns.forEach(({ content }, at) => {
      content.forEach((block, place) => {
        if (!isThought(block)) return;
        const path = `messages.${at}.content.${place}`;
        const signed = opened((block.signature ?? block.data) as string, `${path}: Invalid signature`);
        if (block.type === 'thinking' && signed.text !== hash(block.thinking))
          throw new Refused(`${path}: Invalid \`signature\` in \`thinking\` block`);
        const isMismatch = signed.prefix !== prefixOf(body, turns.slice(0, at), content.slice(0, place));
        let droppedFor: string | null = null;
        if (!reads(body.model as string, signed.model)) droppedFor = 'model_binding_mismatch';
        else if (signed.organization !== account.organization) droppedFor = 'organization_binding_mismatch';
        else if (isMismatch && binding?.prefix_mismatch_behavior === 'drop_block')
          droppedFor = 'prefix_binding_mismatch';
        else if (isMismatch && (account.enforces || binding !== undefined))
          throw new Refused(`${path}: The block is bound to a different conversation`);
        seen.push({ response: signed.response, model: signed.model, droppedFor, isMismatch });
      });
    });
    return seen;
  }

  function answer(body: Json, account: Account, response: number): Json[] {
    const own: Json[] = [];
    nextScript().forEach((part, at) => {
      const prefix = prefixOf(body, body.messages as Turn[], own);
      const sign = (text: string) => {
        const signed: Signed = {
          organization: account.organization,
          model: body.model as string,
          response,
          prefix,
          text: hash(text),
        };
        return Buffer.from(JSON.stringify(signed)).toString('base64');
      };
      if (part === 'text') own.push({ type: 'text', text: ` said ${response}.${at}, mail a${at}@b.example.\n` });
      else if (part === 'redacted') own.push({ type: 'redacted_thinking', data: sign('') });
      else if (part === 'thinking') {
        // Every other thought is not shown.
        const thinking = at % 4 === 0 ? `thought ${response}.${at}` : '';
        own.push({ type: 'thinking', thinking, signature: sign(thinking) });
      } else own.push({ type: 'tool_use', id: `toolu_${response}_${at}`, name: part.call, input: part.input });
    });
    return own;
  }

  const transport: Transport = {
    async send(request) {
      const body = JSON.parse(request.body as string) as Json;
      try {
        const account = accountOf(request);
        check(body, request.headers['anthropic-beta'] ?? '');
        const thoughts = look(body, account);
        const response = responses++;
        const binding = (body.thinking as Json | undefined)?.block_binding;
        served.push({ response, body, hasSwitch: binding !== undefined, thoughts });
        const transformations = thoughts.flatMap(({ droppedFor, isMismatch }) =>
          droppedFor === null && !isMismatch
            ? []
            : [
                {
                  type: droppedFor === null ? 'thinking_mismatch_allowed' : 'thinking_dropped',
                  path: 'messages',
                  reason: droppedFor ?? 'prefix_binding_mismatch',
                },
              ],
        );
        const content = answer(body, account, response);
        const message = {
          id: `msg_${response}`,
          type: 'message',
          role: 'assistant',
          model: body.model,
          content,
          stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
          usage: { input_tokens: 10, output_tokens: 10 },
          ...(transformations.length > 0 ? { input_transformations: transformations } : {}),
        };
        return body.stream === true
          ? respond(200, eventsOf(message), 'text/event-stream')
          : respond(200, JSON.stringify(message));
      } catch (error) {
        if (error instanceof Overloaded) return respond(529, errorOf('overloaded_error', 'Overloaded'));
        if (!(error instanceof Refused)) throw error;
        refusals.push(error.message);
        return respond(400, errorOf('invalid_request_error', error.message));
      }
    },
  };
  return { transport, served, refusals };
}

/** Thrown by `accountOf`: the account does not serve now. */
export class Overloaded extends Error {}

function unmarked({ cache_control: _, ...block }: Json): Json {
  return Array.isArray(block.content) ? { ...block, content: (block.content as Json[]).map(unmarked) } : block;
}

function isThought({ type }: Json): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function opened(signature: string, refusal: string): Signed {
  try {
    return JSON.parse(Buffer.from(signature, 'base64').toString()) as Signed;
  } catch {
    throw new Refused(refusal);
  }
}

function errorOf(type: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });
}

function respond(status: number, text: string, type = 'application/json') {
  const pieces = [new TextEncoder().encode(text)];
  return {
    status,
    headers: { 'content-type': type },
    body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
  };
}

function eventsOf({ content, stop_reason, usage, ...head }: Json): string {
  const events: Json[] = [{ type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } }];
  (content as Json[]).forEach((block, index) => {
    const delta = (fields: Json) => events.push({ type: 'content_block_delta', index, delta: fields });
    const start = (content_block: Json) => events.push({ type: 'content_block_start', index, content_block });
    if (block.type === 'text') {
      start({ type: 'text', text: '' });
      for (const text of (block.text as string).match(/.{1,7}/gs) ?? []) delta({ type: 'text_delta', text });
    } else if (block.type === 'thinking') {
      start({ type: 'thinking', thinking: '', signature: '' });
      for (const thinking of (block.thinking as string).match(/.{1,5}/gs) ?? [])
        delta({ type: 'thinking_delta', thinking });
      delta({ type: 'signature_delta', signature: block.signature });
    } else if (block.type === 'tool_use') {
      start({ ...block, input: {} });
      for (const partial_json of JSON.stringify(block.input, null, 1).match(/.{1,6}/gs) ?? [])
        delta({ type: 'input_json_delta', partial_json });
    } else start(block);
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason }, usage }, { type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

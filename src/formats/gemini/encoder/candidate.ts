import { readDataUrl } from '../../../base/data-url.ts';
import { parseExact } from '../../../base/exact-json.ts';
import { JsonError } from '../../../base/json.ts';
import { addAll, type Loose } from '../../../base/values.ts';
import type { FinishReason, Logprobs, ReasoningDetail } from '../../../schema/chat/chat.ts';
import type { ChunkDelta, ChunkToolCall } from '../../../schema/chat/chunk.ts';
import { deltaFolder } from '../../../schema/chat/message-of-deltas.ts';
import { joinedDetails } from '../../reasoning.ts';
import { googleFormat, sealThoughts } from '../thoughts.ts';
import { groundingMetadata } from './grounding.ts';

/** The most depth of the arguments of a call. */
const maxDepth = 200;

/**
 * One candidate of a response. Text and thoughts go out as they come. Calls wait for the end: a client runs a call that it
 * sees, even where the response breaks off behind it.
 */
export class Candidate {
  readonly index: number;
  #text = '';
  #reason: FinishReason | null = null;
  #refusal = '';
  readonly #calls = new Map<number, { name: string; id: string; args: string }>();
  /** Signatures of Google's that belong to calls, by the id of the call. */
  readonly #signatures = new Map<string, string>();
  /** Thoughts of other providers, which the client gives back in one signature. */
  readonly #foreign = deltaFolder();
  #hasForeign = false;
  /** Thoughts of a provider that gives nothing but their text. It is sealed as well: clients drop the thoughts they show. */
  #plain = '';
  readonly #notes: Loose[] = [];

  constructor(index: number) {
    this.index = index;
  }

  get reason(): FinishReason | null {
    return this.#reason;
  }

  /** Takes in a delta. @returns the parts that can go out now */
  add(delta: ChunkDelta, reason: FinishReason | null): Loose[] {
    const parts: Loose[] = [];
    if (reason !== null) this.#reason = reason;
    const own = this.#readDetails(delta.reasoning_details ?? []);
    const shown = delta.reasoning;
    if (shown && !delta.reasoning_details?.length) this.#plain += shown;
    if (shown) parts.push({ text: shown, thought: true, ...signed(own.thought) });
    else if (own.thought !== null) parts.push({ text: '', thought: true, ...signed(own.thought) });
    const text = delta.content ?? '';
    if (text !== '' || own.text !== null) parts.push({ text, ...signed(own.text) });
    this.#text += text;
    if (delta.refusal) {
      this.#refusal += delta.refusal;
      parts.push({ text: delta.refusal });
    }
    for (const { image_url: image } of delta.images ?? []) {
      const data = readDataUrl(image.url);
      parts.push(
        data === null
          ? { fileData: { mimeType: 'image/*', fileUri: image.url } }
          : { inlineData: { mimeType: data.mediaType, data: data.base64 }, ...signed(own.image) },
      );
    }
    if (delta.audio?.data) parts.push({ inlineData: { mimeType: 'audio/wav', data: delta.audio.data } });
    for (const call of delta.tool_calls ?? []) this.#addCall(call);
    if (delta.annotations) addAll(this.#notes, delta.annotations);
    return parts;
  }

  /** @returns the last parts and the fields of the end; `reason` is no error */
  end(): { parts: Loose[]; fields: Loose } {
    const { parts, isMalformed } = this.#callParts();
    const seal = this.#seal();
    if (seal !== null) {
      if (parts[0] === undefined) parts.push({ text: '', thoughtSignature: seal });
      else parts[0].thoughtSignature ??= seal;
    }
    const grounding = groundingMetadata(this.#notes, this.#text);
    return {
      parts,
      fields: {
        finishReason: this.#finishReason(isMalformed),
        ...(grounding === null ? {} : { groundingMetadata: grounding }),
      },
    };
  }

  #finishReason(isMalformed: boolean): string {
    if (this.#reason === 'length') return 'MAX_TOKENS';
    if (this.#reason === 'content_filter' || this.#refusal !== '') return 'SAFETY';
    return isMalformed ? 'MALFORMED_FUNCTION_CALL' : 'STOP';
  }

  #callParts(): { parts: Loose[]; isMalformed: boolean } {
    const parts: Loose[] = [];
    let isMalformed = false;
    for (const [, { id, name, args }] of [...this.#calls].sort(([a], [b]) => a - b)) {
      const read = argumentsOf(args);
      if (read === null || name === '') isMalformed = true;
      else
        parts.push({
          functionCall: { ...(id === '' ? {} : { id }), name, args: read },
          ...signed(this.#signatures.get(id) ?? null),
        });
    }
    return { parts, isMalformed };
  }

  #addCall({ index, id, function: called }: ChunkToolCall): void {
    const call = this.#calls.get(index) ?? { id: '', name: '', args: '' };
    this.#calls.set(index, call);
    if (id) call.id = id;
    if (called?.name) call.name += called.name;
    if (called?.arguments) call.args += called.arguments;
  }

  /** Signatures of Google's go out on the part that they belong to; all other thoughts wait for the end. */
  #readDetails(details: readonly ReasoningDetail[]) {
    const own: Record<'thought' | 'text' | 'image', string | null> = { thought: null, text: null, image: null };
    const foreign: ReasoningDetail[] = [];
    for (const detail of details) {
      if (detail.format !== googleFormat) foreign.push(detail);
      else if (detail.type === 'reasoning.text') own.thought = detail.signature ?? own.thought;
      else if (detail.type === 'reasoning.encrypted') {
        const id = detail.id ?? '';
        if (id.startsWith('text:')) own.text = detail.data;
        else if (id.startsWith('image:')) own.image = detail.data;
        else this.#signatures.set(id, detail.data);
      }
    }
    if (foreign.length > 0) {
      this.#hasForeign = true;
      this.#foreign.add({ reasoning_details: foreign });
    }
    return own;
  }

  #seal(): string | null {
    const details = this.#hasForeign ? (this.#foreign.message().reasoning_details ?? []) : [];
    if (details.length > 0) return sealThoughts(joinedDetails(details));
    // Without a call, no provider needs its thought again.
    if (this.#plain === '' || this.#calls.size === 0) return null;
    return sealThoughts([{ type: 'reasoning.text', text: this.#plain, index: 0 }]);
  }
}

function signed(signature: string | null): Loose {
  return signature === null ? {} : { thoughtSignature: signature };
}

/** @returns null: the text is no object, so the call is not complete */
function argumentsOf(text: string): object | null {
  if (text.trim() === '') return {};
  try {
    return parseExact(text, maxDepth);
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** Writes the probabilities of tokens; `{}`: there are none. */
export function logprobsResult(logprobs: Logprobs | null | undefined): Loose {
  const tokens = logprobs?.content;
  if (!tokens || tokens.length === 0) return {};
  const entry = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob });
  return {
    logprobsResult: {
      chosenCandidates: tokens.map(entry),
      topCandidates: tokens.map(({ top_logprobs: top }) => ({ candidates: top.map(entry) })),
    },
  };
}

import { lazily } from '../../base/lazily.ts';
import type { ResponseEnd } from '../../call/generation.ts';
import type { Generate, PluginContext, ResponseStep } from '../../call/hooks.ts';
import type { ChatRequest, FinishReason } from '../../schema/chat/chat.ts';
import type { ChatChunk, ChunkChoice } from '../../schema/chat/chunk.ts';
import { checkedSettings, field } from '../../schema/host-object.ts';
import { builtInPlugin, type Plugin } from '../plugin.ts';
import type { Healed, LeftReason } from './healed.ts';

/** Settings of the plugin `response-healing`; all have a default. */
export interface ResponseHealingOptions {
  /** true: the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean | undefined;
  /**
   * true: streams are healed as well. The text of a stream is then held back until its end. Default false: streams stay
   * as they are.
   */
  streams?: boolean | undefined;
  /**
   * true: where a response cannot be healed, the model is asked once more, with its response and its faults. Both
   * generations are held and booked. Streams are asked for again only where `streams` is set. Default false.
   */
  reask?: boolean | undefined;
  /** The most characters of a response; a longer one stays as it is. Default 200,000. */
  maxChars?: number | undefined;
  /**
   * The most steps of work on one response: a character that is read is one, a look at the schema is several. A
   * response that would take more stays as it is. Default 1,000,000.
   */
  maxSteps?: number | undefined;
}

/** The limits, where the host app sets none. */
export const responseHealingDefaults = {
  streams: false,
  reask: false,
  maxChars: 200_000,
  maxSteps: 1_000_000,
} as const;

const streamStays = 'a stream stays as it is';

type Mode = 'json_schema' | 'json_object';

const shape = lazily(() => ({
  isDefault: field.flag().optional(),
  streams: field.flag().optional(),
  reask: field.flag().optional(),
  maxChars: field.count(1).optional(),
  maxSteps: field.count(1).optional(),
}));

/**
 * Makes valid JSON of responses that had to be JSON and are not. Valid ones stay as they are, to the byte.
 * @see docs/plugins/response-healing.md
 */
export function responseHealing(options: ResponseHealingOptions = {}): Plugin {
  const settings = { ...responseHealingDefaults, ...checkedSettings('responseHealing', options, shape) };
  return builtInPlugin({
    id: 'response-healing',
    ...(options.isDefault === true ? { isDefault: true } : {}),
    ...(settings.reask
      ? {
          async wrap(generate: Generate, request: ChatRequest, context: PluginContext) {
            const asked = formOf(request);
            if (asked === null || (request.stream === true && !settings.streams)) return generate(request);
            // Loaded when the first response needs it.
            const { generateTwice } = await import('./reask.ts');
            return generateTwice(generate, request, asked, settings, context);
          },
        }
      : {}),
    async foresee(request, { addStage }) {
      const asked = formOf(request);
      if (asked === null) return [];
      const isLeft = request.stream === true && !settings.streams;
      addStage(stageOf(asked.mode, isLeft ? streamStays : 'the response is healed where it is no valid JSON', {}));
      return [];
    },
    steps(context) {
      const { request } = context.call.ask;
      const asked = formOf(request);
      if (asked === null) return [];
      if (request.stream === true && !settings.streams) {
        context.addStage(stageOf(asked.mode, streamStays, {}));
        return [];
      }
      return [healingStep(asked, settings, context)];
    },
  });
}

/** @returns null: the response need not be JSON */
function formOf({ response_format: format }: ChatRequest): { mode: Mode; schema: object | null } | null {
  if (format?.type === 'json_object') return { mode: 'json_object', schema: null };
  if (format?.type !== 'json_schema') return null;
  return { mode: 'json_schema', schema: format.json_schema.schema ?? null };
}

/** A choice whose text is held back. */
interface Held {
  chunks: ChatChunk[];
  text: string;
}

type LeftStage = LeftReason | 'too_long' | 'unfinished';

/**
 * The reasons why a response stays as it is, in words. They hold no text of the response: guardrails have not seen it
 * yet.
 */
const saidOf: Readonly<Record<LeftStage, string>> = {
  cut: 'it ends within a value',
  ambiguous: 'it can be read in several ways',
  no_json: 'there is no JSON in it',
  schema: 'it is of another shape than the schema',
  depth: 'it is nested too deep',
  steps: 'it would take too many steps',
  too_long: 'it is too long',
  unfinished: 'it did not end by itself',
};

function healingStep(
  { mode, schema }: { mode: Mode; schema: object | null },
  { maxChars, maxSteps }: Required<Pick<ResponseHealingOptions, 'maxChars' | 'maxSteps'>>,
  { addStage }: PluginContext,
): ResponseStep {
  const held = new Map<number, Held>();
  // All choices together share the steps.
  const steps = { left: maxSteps };

  async function released(index: number, reason: FinishReason | null): Promise<ChatChunk[]> {
    const { chunks, text } = held.get(index) ?? { chunks: [], text: '' };
    held.delete(index);
    if (text.trim() === '' || reason === 'tool_calls') return chunks;
    const leave = (why: LeftStage, more: object = {}) =>
      addStage(stageOf(mode, `left as it is: ${saidOf[why]}`, { ...placeOf(text, index), reason: why, ...more }));
    if (text.length > maxChars) {
      leave('too_long');
      return chunks;
    }
    // A response that was cut would be made to look complete; where tools are called, the text is no response.
    if (reason !== 'stop') {
      if (!isJson(text)) leave('unfinished', reason === null ? {} : { finish_reason: reason });
      return chunks;
    }
    // Loaded when the first response needs it.
    const { heal } = await import('./heal.ts');
    const healed = await heal(text, schema, steps);
    if (healed === null) return chunks;
    if (healed.kind === 'left') {
      leave(healed.reason, healed.cutIn === undefined ? {} : { cut_in: healed.cutIn });
      return chunks;
    }
    addStage(stageOf(mode, `healed: ${healed.fixes.join(', ')}`, shown(text, healed, index)));
    return withText(chunks, index, healed.text);
  }

  return {
    isAsync: true,
    async push(chunk) {
      const [choice] = chunk.choices;
      // A chunk of several choices is as rare as a choice without an index.
      if (choice === undefined || chunk.choices.length > 1) return [chunk];
      if (choice.finish_reason === null) {
        if (!choice.delta.content && !held.has(choice.index)) return [chunk];
        const of = held.get(choice.index) ?? { chunks: [], text: '' };
        of.chunks.push(chunk);
        of.text += choice.delta.content ?? '';
        held.set(choice.index, of);
        return [];
      }
      if (choice.delta.content) {
        const of = held.get(choice.index) ?? { chunks: [], text: '' };
        of.chunks.push({ ...chunk, choices: [{ ...choice, finish_reason: null }] });
        of.text += choice.delta.content;
        held.set(choice.index, of);
        const { content: _, ...delta } = choice.delta;
        return [...(await released(choice.index, choice.finish_reason)), { ...chunk, choices: [{ ...choice, delta }] }];
      }
      return [...(await released(choice.index, choice.finish_reason)), chunk];
    },
    async end(end: ResponseEnd) {
      if (end.kind !== 'complete') return [...held.values()].flatMap(({ chunks }) => chunks);
      const rest: ChatChunk[] = [];
      for (const index of [...held.keys()]) rest.push(...(await released(index, null)));
      return rest;
    },
  };
}

/** Returns the chunks with another text: the first that has some gets it, the others lose theirs. */
function withText(chunks: readonly ChatChunk[], index: number, text: string): ChatChunk[] {
  let left: string | null = text;
  return chunks.map((chunk) => ({
    ...chunk,
    choices: chunk.choices.map((choice): ChunkChoice => {
      if (choice.index !== index || !choice.delta.content) return choice;
      const content: string = left ?? '';
      left = '';
      // The probabilities belong to tokens that are not there any more.
      const { logprobs: _, ...rest } = choice;
      return { ...rest, delta: { ...choice.delta, content } };
    }),
  }));
}

function shown(text: string, { fixes, fitsSchema, text: now }: Healed, index: number): Record<string, unknown> {
  return {
    ...placeOf(text, index),
    healed_length: now.length,
    fixes,
    ...(fitsSchema === null ? {} : { fits_schema: fitsSchema }),
  };
}

function placeOf(text: string, index: number): Record<string, unknown> {
  return { ...(index === 0 ? {} : { choice: index }), original_length: text.length };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function stageOf(mode: Mode, summary: string, data: Record<string, unknown>) {
  return { type: 'response_healing' as const, name: 'response-healing', summary, data: { mode, ...data } };
}

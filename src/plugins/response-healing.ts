import type { ResponseEnd } from '../call/generation.ts';
import type { Generate, PluginContext, Step } from '../call/hooks.ts';
import type { ChatRequest, FinishReason } from '../schema/chat.ts';
import type { ChatChunk, ChunkChoice } from '../schema/chunk.ts';
import { definePlugin, type Plugin } from './plugin.ts';
import type { Healed } from './response-healing/heal.ts';

/** Settings of the plugin `response-healing`; all have a default. */
export interface ResponseHealingOptions {
  /** Whether the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean;
  /**
   * true: streams are healed as well. The text of a stream is then held back until its end. Default false: streams stay
   * as they are.
   */
  streams?: boolean;
  /**
   * true: where a response cannot be healed to what was asked for, the model is asked once more, with its response and
   * what is wrong with it. Both generations are held and booked. Of streams only where `streams` is set. Default false.
   */
  reask?: boolean;
  /** Characters of a response; a longer one stays as it is. Default 200,000. */
  maxChars?: number;
  /**
   * Characters of a text whose syntax is repaired; of a longer one, only what stands around the JSON is taken off, and
   * values are changed to their types. Default 32,000: nobody else is served for the time of a repair.
   */
  maxRepairChars?: number;
}

/** The limits, where the host app sets none. */
export const responseHealingDefaults = {
  streams: false,
  reask: false,
  maxChars: 200_000,
  maxRepairChars: 32_000,
} as const;

type Mode = 'json_schema' | 'json_object';

/**
 * Makes valid JSON of responses that were to be JSON and are not. Valid ones stay as they are, to the byte.
 * @see docs/plugins/response-healing.md
 */
export function responseHealing(options: ResponseHealingOptions = {}): Plugin {
  const settings = { ...responseHealingDefaults, ...options };
  return definePlugin({
    id: 'response-healing',
    ...(options.isDefault === true ? { isDefault: true } : {}),
    ...(settings.reask
      ? {
          async wrap(generate: Generate, request: ChatRequest, context: PluginContext) {
            const asked = formOf(request);
            if (asked === null || (request.stream === true && !settings.streams)) return generate(request);
            // Loaded when the first response needs it.
            const { generateTwice } = await import('./response-healing/reask.ts');
            return generateTwice(generate, request, asked, settings, context);
          },
        }
      : {}),
    async foresee(request, { addStage }) {
      const asked = formOf(request);
      const isHealed = asked !== null && (request.stream !== true || settings.streams);
      if (isHealed) addStage(stageOf(asked.mode, 'the response is healed where it is no valid JSON', {}));
      return [];
    },
    steps(context) {
      const { request } = context.call;
      const asked = formOf(request);
      if (asked === null) return [];
      if (request.stream === true && !settings.streams) {
        context.addStage(stageOf(asked.mode, 'a stream stays as it is', {}));
        return [];
      }
      return [healingStep(asked, settings, context)];
    },
  });
}

/** null: the response need not be JSON. */
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

function healingStep(
  { mode, schema }: { mode: Mode; schema: object | null },
  { maxChars, maxRepairChars }: Required<Pick<ResponseHealingOptions, 'maxChars' | 'maxRepairChars'>>,
  { addStage }: PluginContext,
): Step {
  const held = new Map<number, Held>();

  async function released(index: number, reason: FinishReason | null): Promise<ChatChunk[]> {
    const { chunks, text } = held.get(index) ?? { chunks: [], text: '' };
    held.delete(index);
    // A text that was cut would be made to look whole; where tools are called, it is no answer.
    if (text.trim() === '' || reason !== 'stop') return chunks;
    if (text.length > maxChars) {
      addStage(stageOf(mode, 'too long', { length: text.length }));
      return chunks;
    }
    // Loaded when the first response needs it.
    const { heal } = await import('./response-healing/heal.ts');
    const healed = heal(text, schema, maxRepairChars);
    if (healed === null) return chunks;
    addStage(stageOf(mode, `healed: ${healed.fixes.join(', ')}`, shown(text, healed, index)));
    return withText(chunks, index, healed.text);
  }

  return {
    isAsync: true,
    async push(chunk) {
      const [choice] = chunk.choices;
      // Chunks of several choices at once are as rare as choices without an index.
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

/** The chunks with another text: the first that has some gets it, the others lose theirs. */
function withText(chunks: readonly ChatChunk[], index: number, text: string): ChatChunk[] {
  let left: string | null = text;
  return chunks.map((chunk) => ({
    ...chunk,
    choices: chunk.choices.map((choice): ChunkChoice => {
      if (choice.index !== index || !choice.delta.content) return choice;
      const content: string = left ?? '';
      left = '';
      // The probabilities are of tokens that are no longer there.
      const { logprobs: _, ...rest } = choice;
      return { ...rest, delta: { ...choice.delta, content } };
    }),
  }));
}

function shown(text: string, { fixes, fitsSchema, text: now }: Healed, index: number): Record<string, unknown> {
  return {
    ...(index === 0 ? {} : { choice: index }),
    original_length: text.length,
    healed_length: now.length,
    fixes,
    ...(fitsSchema === null ? {} : { fits_schema: fitsSchema }),
  };
}

function stageOf(mode: Mode, summary: string, data: Record<string, unknown>) {
  return { type: 'response_healing' as const, name: 'response-healing', summary, data: { mode, ...data } };
}

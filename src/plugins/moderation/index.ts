import * as z from 'zod';
import { nextTurn } from '../../base/async/next-turn.ts';
import { withSignal } from '../../base/async/within.ts';
import { GatewayError } from '../../base/errors.ts';
import { lazily } from '../../base/lazily.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import { isObject } from '../../base/values.ts';
import type { Call } from '../../call/call.ts';
import { type HookMode, hookModes } from '../../call/hook-shape.ts';
import type { PlanningContext, PluginContext, ResponseStep } from '../../call/hooks.ts';
import type { Native } from '../../call/native.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { checkedSettings, field } from '../../schema/host-object.ts';
import { builtInPlugin, type Plugin } from '../plugin.ts';
import { localModerator } from './local.ts';
import type { Moderator, Verdict } from './moderator.ts';

export { type OpenAiModeratorOptions, openaiModerator } from './openai.ts';

/** Settings of the plugin `moderation`; all have a default. */
export interface ModerationOptions {
  /** true: the plugin acts on requests that do not name it. Default false. */
  isDefault?: boolean | undefined;
  /** Classifies texts. Default `localModerator`, which looks for phrases and sends no text anywhere. */
  moderator?: Moderator | undefined;
  /** true: responses are checked as well. They are held back until they are complete, streams too. Default false. */
  output?: boolean | undefined;
  /**
   * The time at which a request is checked. `before`: the model is asked after it. `parallel`: the model is asked at the
   * same time, and the response waits for the verdict; a refusal stops the model, whose work so far is paid for. Default
   * `before`.
   */
  mode?: HookMode | undefined;
  /** The most characters of a request, or of a response; more are refused. Default 2,000,000. */
  maxChars?: number | undefined;
  /** The time for one request, and for its response, in ms. Default 10,000. */
  timeoutMs?: number | undefined;
}

/** The limits, where the host app sets none. */
export const moderationDefaults = { output: false, mode: 'before', maxChars: 2_000_000, timeoutMs: 10_000 } as const;

type Settings = Required<Omit<ModerationOptions, 'isDefault'>>;

/** The most characters and texts of one call of a moderator. */
const textChars = 16_384;
const mostTexts = 32;
/**
 * The number of characters that are classified before other work has a turn of the event loop, and the number that each
 * text adds to its own.
 */
const turnCharacters = 16_384;
const charactersOfText = 100;
/**
 * The number of characters that two pieces of a long text share, so that a phrase at the border is complete in one of
 * them.
 */
const sharedChars = 200;

const shape = lazily(() => ({
  isDefault: field.flag().optional(),
  moderator: field.object().optional(),
  output: field.flag().optional(),
  mode: z.enum(hookModes).optional(),
  maxChars: field.count(1).optional(),
  timeoutMs: field.count(1).optional(),
}));

/**
 * Refuses requests that a classifier flags, and responses where the host app wants it.
 * @see docs/plugins/moderation.md
 */
export function moderation(options: ModerationOptions = {}): Plugin {
  const given = checkedSettings('moderation', options, shape);
  const settings: Settings = { moderator: localModerator, ...moderationDefaults, ...given };
  /** Texts that were not flagged, by the call. */
  const passed = new WeakMap<Call, Set<string>>();
  // The operator pays for moderation that the operator imposes.
  const checkMayAsk = async (context: PlanningContext) => {
    if (settings.moderator.isLocal !== true && options.isDefault !== true)
      await context.checkOperatorServices('moderation service');
  };
  return builtInPlugin({
    id: 'moderation',
    failsClosed: true,
    ...(options.isDefault === true ? { isDefault: true } : {}),
    mode: settings.mode,
    async before(request, context) {
      const texts = textsOf(request, context.native);
      // Beside the model, `prepare` comes before the verdict: these texts have theirs on the way.
      if (settings.mode === 'parallel') passed.set(context.call, new Set(texts));
      await checkMayAsk(context);
      await check(texts, 'request', settings, context);
      passed.set(context.call, new Set(texts));
      return request;
    },
    /** Checks the texts that plugins and server tools have added since. */
    async prepare(request, _target, context) {
      const known = passed.get(context.call);
      const added = known === undefined ? [] : textsOf(request, context.native).filter((text) => !known.has(text));
      if (known === undefined || added.length === 0) return request;
      await check(added, 'request', settings, context);
      for (const text of added) known.add(text);
      return request;
    },
    async foresee(_request, context) {
      await checkMayAsk(context);
      const { addStage } = context;
      const { name, model } = settings.moderator;
      addStage({
        type: 'guardrail',
        name: 'moderation',
        summary: settings.output ? 'the request and the response are checked' : 'the request is checked',
        data: { provider_name: name, model_slug: model },
      });
      return [];
    },
    ...(settings.output ? { steps: (context: PluginContext) => [outputStep(settings, context)] } : {}),
  });
}

/** Returns everything that the model would read as text. */
function textsOf(request: ChatRequest, native: Native | null): string[] {
  const texts: string[] = [];
  addTexts(request.messages, texts);
  addTexts(request.tools, texts);
  // Parts that no message holds, and that an upstream of the same wire format gets.
  if (native !== null)
    for (const own of [native.input, native.items, native.tools, native.hostedTools, native.fields])
      addTexts(own, texts);
  return [...new Set(texts)];
}

/** Members whose texts have a meaning; others are ids, kinds and data. */
const speaking: ReadonlySet<string> = new Set([
  'content',
  'text',
  'refusal',
  'arguments',
  'input',
  'output',
  'query',
  'summary',
  'reasoning',
  'thinking',
  'transcript',
  'description',
  'filename',
]);

function addTexts(value: unknown, texts: string[]): void {
  if (Array.isArray(value)) for (const one of value) addOne(one, texts);
  else if (isObject(value))
    for (const name in value) if (speaking.has(name) || isNested(value[name])) addOne(value[name], texts);
}

function addOne(value: unknown, texts: string[]): void {
  if (typeof value !== 'string') addTexts(value, texts);
  else if (value.trim() !== '') texts.push(value);
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * @throws GatewayError guardrail_blocked (403) for a text that is flagged; unavailable (503) where nobody can tell;
 * invalid_request (400) for more text than is checked
 */
async function check(texts: readonly string[], of: 'request' | 'response', settings: Settings, context: PluginContext) {
  const { moderator, maxChars, timeoutMs } = settings;
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  if (chars > maxChars)
    throw new GatewayError(
      of === 'request' ? 'invalid_request' : 'upstream_failed',
      `The ${of} has more than ${maxChars} characters, which the plugin moderation does not check`,
    );
  const pieces = texts.flatMap(piecesOf);
  const { clock, call } = context;
  const limits = { timeoutMs, signals: [call.signal], late: () => new Error('too slow') };
  const found = await withSignal(clock, limits, (signal) => firstFlagged(moderator, pieces, signal)).catch((error) => {
    call.signal.throwIfAborted();
    // A text that cannot be checked does not pass.
    throw new GatewayError('unavailable', 'The moderation cannot be asked; try again later', { cause: error });
  });
  if (found !== null) throw refused(found.text, found.verdict, of, moderator, context);
}

async function firstFlagged(moderator: Moderator, pieces: readonly string[], signal: AbortSignal) {
  let characters = 0;
  for (let at = 0; at < pieces.length; at += mostTexts) {
    const texts = pieces.slice(at, at + mostTexts);
    // Moderators of the process answer in the same turn of the event loop.
    characters += texts.reduce((sum, text) => sum + text.length + charactersOfText, 0);
    if (characters > turnCharacters && at > 0) {
      await nextTurn();
      characters = 0;
    }
    signal.throwIfAborted();
    const verdicts = await moderator.classify(texts, signal);
    if (verdicts.length !== texts.length) throw new Error('A verdict is missing');
    const flagged = verdicts.findIndex((verdict) => verdict.flagged);
    if (flagged !== -1) return { text: texts[flagged] as string, verdict: verdicts[flagged] as Verdict };
  }
  return null;
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at + sharedChars < text.length; at += textChars - sharedChars)
    pieces.push(text.slice(at, at + textChars));
  return pieces;
}

function refused(
  text: string,
  { reasons }: Verdict,
  of: 'request' | 'response',
  { name, model }: Moderator,
  { addStage }: PluginContext,
): GatewayError {
  const patterns = reasons.slice(0, 20).map((reason) => cleanName(reason, 80));
  addStage({
    type: 'guardrail',
    name: 'moderation',
    summary: `the ${of} was flagged`,
    data: { reasons: patterns, provider_name: name, model_slug: model },
  });
  return new GatewayError('guardrail_blocked', `The moderation flagged the ${of}`, {
    metadata: {
      patterns,
      reasons: patterns,
      // The text of a model is not shown: the moderation has to prevent exactly that.
      ...(of === 'request' ? { flagged_input: cutInMiddle(text) } : {}),
      provider_name: name,
      model_slug: model,
    },
  });
}

/** Cuts a text to at most 100 characters. @see completed facts, section 8 */
function cutInMiddle(text: string): string {
  const plain = text.trim();
  return plain.length <= 100 ? plain : `${plain.slice(0, 49)}…${plain.slice(-50)}`;
}

/** Holds the complete response back, until it is known that it may pass. */
function outputStep(settings: Settings, context: PluginContext): ResponseStep {
  const held: ChatChunk[] = [];
  const texts = new Map<string, string>();

  function note(key: string, text: unknown): void {
    if (typeof text === 'string' && text !== '') texts.set(key, (texts.get(key) ?? '') + text);
  }

  return {
    isAsync: true,
    push(chunk) {
      held.push(chunk);
      for (const { index, delta } of chunk.choices) {
        for (const name of ['content', 'reasoning', 'refusal'] as const) note(`${index} ${name}`, delta[name]);
        for (const call of delta.tool_calls ?? []) note(`${index} call ${call.index}`, call.function?.arguments);
      }
      return [];
    },
    async end({ kind }) {
      if (kind !== 'complete') return [];
      await check([...texts.values()], 'response', settings, context);
      return held;
    },
  };
}

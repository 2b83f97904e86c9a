import { cleanName } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { InputTransformations, ThoughtDropReason } from '../../schema/chat/envelope.ts';
import { bareName, type ClaudeName, claudeName } from './claude-name.ts';

/** A family of models from a version on. */
interface Since {
  family: string;
  /** The version; 505 is 5.5. */
  version: number;
}

/**
 * Models that bind each thought to themselves, to the organization, and to all messages before it: `model`, with the
 * models that read its thoughts. It is not documented which models read those of Sonnet, but Sonnet itself and the
 * largest, which reads "earlier models". Where it is not known, the thought is sent, and the provider drops it. As of
 * 2026-11-26.
 * @see https://platform.claude.com/docs "What's new in Claude Fable 5.1"
 */
const binding: readonly { model: Since; readers: readonly Since[] }[] = [
  { model: { family: 'fable', version: 501 }, readers: [{ family: 'fable', version: 501 }] },
  {
    model: { family: 'opus', version: 505 },
    readers: [
      { family: 'opus', version: 505 },
      { family: 'fable', version: 501 },
    ],
  },
  {
    model: { family: 'sonnet', version: 505 },
    readers: [
      { family: 'sonnet', version: 505 },
      { family: 'opus', version: 505 },
      { family: 'fable', version: 501 },
    ],
  },
];

/** Switches the control of bindings on. */
export const bindingBeta = 'thinking-binding-controls-2026-08-01';

/** Tells the provider to drop thoughts that no longer fit the messages before them, instead of refusing the request. */
export const dropsMismatches = { prefix_mismatch_behavior: 'drop_block' } as const;

/** true: a model binds its thoughts, and knows the switch. */
export function bindsThoughts(upstreamModel: string): boolean {
  return signerOf(upstreamModel) !== null;
}

/** Returns the name by which callers are told who signed a thought; null: the model does not bind its thoughts. */
export function signerOf(upstreamModel: string): string | null {
  const name = claudeName(upstreamModel);
  return name === null || bindingOf(name) === undefined ? null : bareName(name);
}

/** true: a model reads thoughts that another has signed, or it is not known whether it does. */
export function readsThoughtsOf(upstreamModel: string, signer: string): boolean {
  const signerName = claudeName(signer);
  const readers = signerName === null ? undefined : bindingOf(signerName)?.readers;
  const name = claudeName(upstreamModel);
  if (readers === undefined || name === null) return true;
  return readers.some(({ family, version }) => family === name.family && name.version >= version);
}

function bindingOf(name: ClaudeName) {
  return binding.find(({ model: { family, version } }) => family === name.family && name.version >= version);
}

/** The words with which a provider reports, with a 400, that a thought does not fit the messages before it. */
const mismatch = /bound to a different conversation/i;

export function saysThoughtMismatch(status: number | null, message: string): boolean {
  return status === 400 && mismatch.test(message);
}

/** The handling of bound thoughts in a request. */
export interface BoundThoughts {
  /** The reason why the provider is told to drop those that no longer fit; null: it is not told. */
  dropReason: ThoughtDropReason | null;
  /** Collects the reports of the provider. */
  reported: InputTransformations;
}

export function boundThoughts(dropReason: ThoughtDropReason | null): BoundThoughts {
  return { dropReason, reported: { count: 0, shown: [] } };
}

/** The most transformations that are shown. */
const mostShown = 50;

/**
 * Reads `input_transformations` of a response: the parts of the conversation that the provider has left out.
 * @param reported  is changed
 */
export function noteTransformations(raw: unknown, reported: InputTransformations | undefined): void {
  if (!Array.isArray(raw) || reported === undefined) return;
  reported.count = raw.length;
  reported.shown = raw.filter(isObject).slice(0, mostShown).map(shownOf);
}

function shownOf({ type, reason, path }: Loose): InputTransformations['shown'][number] {
  return { type: nameOf(type), reason: nameOf(reason), path: nameOf(path) };
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? cleanName(value, 128) : '';
}

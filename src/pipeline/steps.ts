import type { ResponseEnd } from '../call/generation.ts';
import type { Step } from '../call/hooks.ts';
import { outputItemOf } from '../call/output-item.ts';
import { chunkFolder, toChunks } from '../convert/chunks.ts';
import { hidesReasoning, reasoningFilter } from '../convert/reasoning.ts';
import type { ChatRequest, ChatResult } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import { annotate } from './annotate.ts';
import type { CallRun } from './call-run.ts';
import { mayNeedSearch } from './server-tools/hosted-search.ts';
import { offersServerTools } from './server-tools/offer.ts';

const none: readonly Step[] = [];

/**
 * The steps that a response goes through on its way to the client. Hooks that were asked first come last, so that
 * guardrails judge what the client would get.
 */
export function stepsOf({ deps, hooks, annotations, foundPages }: CallRun, request: ChatRequest): readonly Step[] {
  const hides = hidesReasoning(request);
  const mayUseTools = offersServerTools(request) || mayNeedSearch(deps, request);
  if (hooks.length === 0 && !mayUseTools) return hides ? [withoutReasoning()] : none;
  const reversed = hooks.toReversed();
  const stepsFor = (guardrails: boolean) =>
    reversed.flatMap(({ isGuardrail, hooks: { steps }, context }) =>
      isGuardrail === guardrails && steps ? steps(context) : [],
    );
  const guarding = stepsFor(true);
  const mayAnnotate =
    mayUseTools ||
    annotations.length > 0 ||
    foundPages.length > 0 ||
    hooks.some(({ hooks: { wrap, steps } }) => wrap || steps);
  return [
    ...stepsFor(false),
    ...(mayAnnotate ? [annotate(annotations, foundPages, mayUseTools)] : []),
    ...(hides ? [withoutReasoning()] : []),
    ...guarding,
    ...(guarding.length > 0 ? [withoutUnseen] : []),
  ];
}

/** Items with nothing to judge: they are the caller's own, or only their provider can read them. */
const passing: readonly unknown[] = ['message', 'compaction', 'compaction_summary'];

/**
 * Takes out the items of a Responses upstream that no chunk has a place for, such as a `web_search_call`: a guardrail
 * cannot see what is in them.
 */
const withoutUnseen: Step = {
  push(chunk) {
    const isUnseen = chunk.choices.some(({ delta }) => {
      const of = outputItemOf(delta);
      return of?.isOpaque === true && (of.event !== undefined || !passing.includes(of.item.type));
    });
    return isUnseen ? [] : [chunk];
  },
};

function withoutReasoning(): Step {
  const filter = reasoningFilter();
  return {
    push(chunk) {
      const left = filter.without(chunk);
      return left === null ? [] : [left];
    },
  };
}

/** Several steps as one. */
export class StepChain {
  readonly #steps: readonly Step[];
  #hasEnded = false;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** @throws what a step throws */
  async push(chunks: readonly ChatChunk[]): Promise<readonly ChatChunk[]> {
    return this.#through(chunks, 0);
  }

  /** After the last chunk: what the steps have held back, each through those behind it. */
  async end(end: ResponseEnd): Promise<readonly ChatChunk[]> {
    if (this.#hasEnded) return nothing;
    this.#hasEnded = true;
    const released: ChatChunk[] = [];
    for (const [at, step] of this.#steps.entries()) {
      const held = step.end?.(end) ?? nothing;
      const chunks = step.isAsync === true ? await held : (held as readonly ChatChunk[]);
      released.push(...(chunks.length === 0 ? nothing : await this.#through(chunks, at + 1)));
    }
    return released;
  }

  /** Nobody gets what the steps still hold: they learn of the end all the same. */
  abandon(end: ResponseEnd): void {
    // What a step throws now, it throws to nobody.
    this.end(end).catch(() => undefined);
  }

  async #through(chunks: readonly ChatChunk[], from: number): Promise<readonly ChatChunk[]> {
    let current = chunks;
    for (let at = from; at < this.#steps.length && current.length > 0; at++) {
      const step = this.#steps[at] as Step;
      const next: ChatChunk[] = [];
      for (const chunk of current) {
        const pushed = step.push(chunk);
        next.push(...(step.isAsync === true ? await pushed : (pushed as readonly ChatChunk[])));
      }
      current = next;
    }
    return current;
  }
}

const nothing: readonly ChatChunk[] = [];

/**
 * A complete response through the steps.
 * @returns the same object where they left every chunk as it is
 * @throws what a step throws
 */
export async function throughSteps(result: ChatResult, steps: StepChain): Promise<ChatResult> {
  const chunks = toChunks(result);
  let passed: readonly ChatChunk[];
  try {
    passed = [...(await steps.push(chunks)), ...(await steps.end({ kind: 'complete' }))];
  } catch (error) {
    steps.abandon({ kind: 'failed', error });
    throw error;
  }
  const isSame = passed.length === chunks.length && passed.every((chunk, at) => chunk === chunks[at]);
  return isSame ? result : folded(result, passed);
}

/** Chunks as a result. Where the steps have left none, the result is there without choices' contents. */
function folded(result: ChatResult, chunks: readonly ChatChunk[]): ChatResult {
  const folder = chunkFolder();
  for (const chunk of chunks) folder.add(chunk);
  const { choices: _choices, ...head } = result;
  return { ...head, choices: folder.result()?.choices ?? [] };
}

import type { Ask } from '../../call/ask.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import { outputItemOf } from '../../call/output-item.ts';
import { chunkFolder, toChunks } from '../../formats/chunks.ts';
import { hidesReasoning, reasoningFilter } from '../../formats/reasoning.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { CallRun } from '../call/run.ts';
import { annotate } from '../citations/annotate.ts';
import { mayNeedOwnTools } from '../server-tools/hosted-tools.ts';
import { offersServerTools } from '../server-tools/offer.ts';
import { guardedSteps } from './plugin-steps.ts';
import type { StepChain } from './step-chain.ts';

const none: readonly ResponseStep[] = [];

/**
 * Returns the steps that a response goes through on its way to the client. Hooks that were asked first come last, so
 * that guardrails judge the response that the client would get.
 */
export function stepsOf(run: CallRun, ask: Ask): readonly ResponseStep[] {
  const steps = actingSteps(run, ask);
  const last = run.watch.step;
  const restoring = run.hooks.some(({ hooks }) => hooks.restore !== undefined)
    ? run.hooks.toReversed().flatMap((hook) => guardedSteps(run, hook, 'restore', ask))
    : none;
  if (last === null && restoring.length === 0) return steps;
  return [...steps, ...(last === null ? none : [last]), ...restoring];
}

/**
 * true: citations of a text may come after the text has ended. The annotations of guardrails then stand by themselves.
 */
export function mayCiteLate(run: Pick<CallRun, 'deps' | 'hooks' | 'journal' | 'generations'>, ask: Ask): boolean {
  const { deps, hooks, journal } = run;
  return (
    journal.hasAnnotations ||
    journal.foundPages.length > 0 ||
    hooks.some(({ isGuardrail, hooks: { wrap, steps } }) => !isGuardrail && (wrap ?? steps) !== undefined) ||
    (deps.searchEngines.length > 0 && mayUseServerTools(run, ask))
  );
}

function mayUseServerTools({ deps, generations }: Pick<CallRun, 'deps' | 'generations'>, ask: Ask): boolean {
  if (offersServerTools(ask.request)) return true;
  if (!mayNeedOwnTools(deps, ask)) return false;
  // A provider that speaks the client's wire format has the tools itself: the gateway's own do not take their place.
  const served = generations.findLast(({ target }) => target !== null)?.target?.endpoint.providerSlug;
  return served === undefined || deps.provider(served)?.dialect.format !== ask.native?.format;
}

function actingSteps(run: CallRun, ask: Ask): readonly ResponseStep[] {
  const { deps, hooks, journal } = run;
  const hides = hidesReasoning(ask.request);
  const mayUseTools = mayUseServerTools(run, ask);
  if (hooks.length === 0 && !mayUseTools) return hides ? [withoutReasoning()] : none;
  const reversed = hooks.toReversed();
  const stepsFor = (guardrails: boolean) =>
    reversed.flatMap((hook) => (hook.isGuardrail === guardrails ? guardedSteps(run, hook, 'steps', ask) : none));
  const guarding = stepsFor(true);
  const mayAnnotate =
    mayUseTools ||
    journal.hasAnnotations ||
    journal.foundPages.length > 0 ||
    hooks.some(({ hooks: { wrap, steps } }) => wrap || steps);
  const sources = {
    found: journal.foundPages,
    mayFindMore: mayUseTools && deps.searchEngines.length > 0,
    mostCharacters: deps.citationCharacters,
  };
  return [
    ...stepsFor(false),
    ...(mayAnnotate ? [annotate(() => journal.takeAnnotations(), sources)] : []),
    ...(hides ? [withoutReasoning()] : []),
    ...guarding,
    ...(guarding.length > 0 ? [withoutUnseen] : []),
  ];
}

/** Items with nothing to judge: they are the caller's own, or only their provider can read them. */
const passing: readonly unknown[] = ['message', 'compaction', 'compaction_summary'];

/**
 * Takes out the items of a Responses upstream that no chunk has a place for, such as a `web_search_call`: a guardrail
 * cannot see their contents.
 */
const withoutUnseen: ResponseStep = {
  push(chunk) {
    const isUnseen = chunk.choices.some(({ delta }) => {
      const of = outputItemOf(delta);
      return of?.isOpaque === true && (of.event !== undefined || !passing.includes(of.item.type));
    });
    return isUnseen ? [] : [chunk];
  },
};

function withoutReasoning(): ResponseStep {
  const filter = reasoningFilter();
  return {
    push(chunk) {
      const left = filter.without(chunk);
      return left === null ? [] : [left];
    },
  };
}

/**
 * Sends a complete response through the steps.
 * @returns the same object where they left every chunk as it is
 * @throws the error of a step
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
  return isSame ? result : folded(result, chunks, passed);
}

/** Makes a result of chunks. Where the steps have left none, the result has choices without contents. */
function folded(result: ChatResult, given: readonly ChatChunk[], passed: readonly ChatChunk[]): ChatResult {
  const folder = chunkFolder();
  for (const chunk of passed) folder.add(chunk);
  const { choices: _choices, ...head } = result;
  return { ...head, ...changedHead(given[0], passed[0]), choices: folder.result()?.choices ?? [] };
}

/** Returns the fields beside the choices that a step has changed or taken out: every chunk has them. */
function changedHead(given: ChatChunk | undefined, passed: ChatChunk | undefined): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  if (given === undefined || passed === undefined) return changed;
  for (const name of Object.keys(given))
    if (name !== 'choices' && passed[name] !== given[name]) changed[name] = passed[name];
  return changed;
}

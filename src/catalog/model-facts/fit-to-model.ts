import type { Loose } from '../../base/values.ts';
import { reasoningAmount } from '../../dialects/shared/reasoning-request.ts';
import { refusedFields } from '../../dialects/shared/sampling/rules.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';
import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';
import type { KnownFacts } from './find.ts';

/** A request as its model takes it, and the fields that were left out. */
export interface FittedRequest {
  request: ChatRequest;
  dropped: readonly string[];
}

const none: readonly string[] = [];

/** Dialects that decide by more than the request whether Claude thinks, and leave out by that. */
const planThinking: readonly string[] = ['anthropic-messages', 'bedrock-converse'];
/** Dialects that send an effort as it is. */
const sendEfforts: readonly string[] = ['openai-chat', 'openai-responses'];

/** From the least. */
const order: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Values that ask for what happens anyway: without them, nothing is lost. */
const idle: Readonly<Partial<Record<string, (value: unknown) => boolean>>> = {
  temperature: (value) => value === 1,
  top_p: (value) => value === 1,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  n: (value) => value === 1,
  stop: (value) => Array.isArray(value) && value.length === 0,
  parallel_tool_calls: (value) => value === true,
};

/**
 * Leaves out of a request what its model refuses. The request itself does not change.
 * @param dialect  the name of the dialect that writes it
 * @throws UpstreamError made by `unsupported`, for a model that answers in streams only
 */
export function fitToModel(request: ChatRequest, facts: KnownFacts, dialect: string): FittedRequest {
  let fitted: Loose | null = null;
  let dropped: string[] | null = null;
  const set = (name: string, value: unknown) => {
    fitted ??= { ...request };
    if (value === undefined) delete fitted[name];
    else fitted[name] = value;
  };
  const drop = (path: string) => {
    dropped ??= [];
    if (!dropped.includes(path)) dropped.push(path);
  };
  const leaveOut = (name: string) => {
    const value = request[name];
    if (value === undefined || value === null) return;
    set(name, undefined);
    if (idle[name]?.(value) !== true) drop(name);
  };

  const thinks = thinksFor(request, facts);
  const plansThinking = planThinking.includes(dialect);
  const rules = plansThinking ? { refuses: facts.refuses ?? [] } : facts;
  for (const name of refusedFields(request, rules, thinks)) {
    if (name !== 'reasoning') leaveOut(name);
    else for (const field of ['reasoning', 'reasoning_effort']) leaveOut(field);
  }
  if (
    isForced(request.tool_choice) &&
    (facts.noForcedTools === 'always' || (facts.noForcedTools === 'thinking' && thinks && !plansThinking))
  ) {
    set('tool_choice', 'auto');
    drop('tool_choice');
  }
  if (facts.mostStops !== undefined && Array.isArray(request.stop) && request.stop.length > facts.mostStops) {
    set('stop', request.stop.slice(0, facts.mostStops));
    drop('stop');
  }
  if (facts.efforts !== undefined && sendEfforts.includes(dialect)) fitEffort(request, facts.efforts, set, drop);
  if (facts.instructions !== undefined && request.messages.some(isInstruction))
    set(
      'messages',
      request.messages.map((message) => (isInstruction(message) ? { ...message, role: facts.instructions } : message)),
    );
  if (facts.streamsOnly !== undefined && request.stream !== true && thinks) {
    // One that always thinks has no other way to answer.
    if (facts.streamsOnly === 'always') throw unsupported('stream', 'true: this model answers in streams only');
    if (reasoningAmount(request) !== null) drop(isSet(request.reasoning_effort) ? 'reasoning_effort' : 'reasoning');
    set('reasoning_effort', undefined);
    set('reasoning', { enabled: false });
  }
  return { request: (fitted ?? request) as ChatRequest, dropped: dropped ?? none };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isInstruction({ role }: { role: string }): boolean {
  return role === 'system' || role === 'developer';
}

/** Tells whether the model thinks for a request. */
function thinksFor(request: ChatRequest, { thinks = 'if_asked' }: KnownFacts): boolean {
  if (thinks === 'always') return true;
  const amount = reasoningAmount(request);
  if (amount === null) return thinks === 'unless_off';
  return !('effort' in amount) || amount.effort !== 'none';
}

/** Tells whether a tool has to be called. */
function isForced(choice: ChatRequest['tool_choice']): boolean {
  if (choice === 'required') return true;
  if (typeof choice !== 'object' || choice === null) return false;
  const { type, mode, allowed_tools: allowed } = choice as { type?: unknown; mode?: unknown; allowed_tools?: unknown };
  if (type !== 'allowed_tools') return type !== 'auto' && type !== 'none';
  return (mode ?? (allowed as { mode?: unknown } | undefined)?.mode) === 'required';
}

function fitEffort(
  request: ChatRequest,
  efforts: readonly ReasoningEffort[],
  set: (name: string, value: unknown) => void,
  drop: (path: string) => void,
): void {
  const { reasoning, reasoning_effort: short } = request;
  const isOff = reasoning?.enabled === false && !efforts.includes('none');
  const asked = isOff ? 'none' : (short ?? reasoning?.effort ?? null);
  if (asked === null || efforts.includes(asked)) return;
  const level = order.indexOf(asked);
  const nearest = efforts.find((effort) => order.indexOf(effort) >= level) ?? efforts.at(-1);
  const place = isSet(short) && !isOff ? 'reasoning_effort' : isOff ? 'reasoning.enabled' : 'reasoning.effort';
  // Of what is asked for, nothing is left: it thinks, though it should not.
  if (asked === 'none') drop(place);
  if (isSet(short)) set('reasoning_effort', nearest);
  if (isSet(reasoning) && (isOff || isSet(reasoning?.effort))) {
    const { enabled: _, ...others } = reasoning as Loose;
    set('reasoning', { ...others, effort: nearest });
  }
}

import { isObject, type Loose } from '../../base/values.ts';
import type { ChatRequest, ReasoningEffort } from '../../schema/chat/chat.ts';
import { asBudget, asEffort, type ReasoningAmount, reasoningAmount } from '../shared/reasoning-request.ts';
import type { ChatQuirks, ReasoningStyle } from './quirks.ts';

/** The largest output of a request that names none, in tokens. An effort is a share of it. */
const usualOutput = 32_768;

/**
 * The budgets that providers with `thinking_budget` take, in tokens.
 * @see https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions
 */
const thinkingBudget = { least: 128, most: 32_768 };
/** @see https://docs.fireworks.ai/guides/reasoning */
const leastBudget = 1_024;

type Amount = NonNullable<ReasoningAmount>;

/** The words of a style for an amount. */
interface Worded {
  /** The fields of the body. */
  fields: Loose;
  /** false: the fields tell whether to reason, and not how much. */
  saysHowMuch: boolean;
}

/** Tells in the provider's words how much to reason. Wishes that these words cannot express are listed. */
export function encodeReasoning(request: ChatRequest, quirks: ChatQuirks, payload: Loose, dropped: string[]): void {
  const { reasoning, reasoning_effort: short } = request;
  if (!reasoning && (short === undefined || short === null)) return;
  const style = quirks.reasoningStyle ?? 'effort';
  const amount = reasoningAmount(request);
  const others = style === 'object' ? othersIn(reasoning) : {};
  const { fields, saysHowMuch } =
    amount === null ? worded({}) : styles[style](amount, request.max_completion_tokens ?? request.max_tokens ?? null);
  if (Object.keys(others).length > 0) fields.reasoning = { ...(fields.reasoning as object), ...others };
  const isSent = put(fields, quirks, payload);
  const isHeard = isSent && (saysHowMuch || asksForSwitch(request, amount));
  for (const path of pathsOf(request)) {
    if (isHeard && (path === sourceOf(request) || agrees(path, request, amount))) continue;
    if (isSent && style === 'object' && othersAt.has(path)) continue;
    if (!dropped.includes(path)) dropped.push(path);
  }
}

const styles: Record<ReasoningStyle, (amount: Amount, largest: number | null) => Worded> = {
  effort: inEffort,
  object: (amount) =>
    worded({ reasoning: 'effort' in amount ? { effort: amount.effort } : { max_tokens: amount.maxTokens } }),
  object_effort: (amount, largest) => worded({ reasoning: { effort: effortOf(amount, largest) } }),
  enabled: (amount, largest) =>
    isOff(amount)
      ? worded({ reasoning: { enabled: false } })
      : worded({ reasoning: { enabled: true }, reasoning_effort: effortOf(amount, largest) }),
  thinking: (amount, largest) =>
    isOff(amount)
      ? worded({ thinking: { type: 'disabled' } })
      : worded({ thinking: { type: 'enabled' }, reasoning_effort: effortOf(amount, largest) }),
  thinking_budget: (amount, largest) =>
    'effort' in amount
      ? inEffort(amount, largest)
      : worded({ thinking: { type: 'enabled', budget_tokens: Math.max(amount.maxTokens, leastBudget) } }),
  enable_thinking: (amount) => switched({ enable_thinking: !isOff(amount) }),
  enable_thinking_budget: (amount, largest) =>
    isOff(amount)
      ? worded({ enable_thinking: false })
      : worded({ enable_thinking: true, thinking_budget: asBudget(amount, largest ?? usualOutput, thinkingBudget) }),
  chat_template: (amount) => switched({ chat_template_kwargs: { enable_thinking: !isOff(amount) } }),
};

function inEffort(amount: Amount, largest: number | null): Worded {
  return worded({ reasoning_effort: effortOf(amount, largest) });
}

function effortOf(amount: Amount, largest: number | null): ReasoningEffort {
  return asEffort(amount, largest ?? usualOutput);
}

function worded(fields: Loose): Worded {
  return { fields, saysHowMuch: true };
}

function switched(fields: Loose): Worded {
  return { fields, saysHowMuch: false };
}

function isOff(amount: Amount): boolean {
  return 'effort' in amount && amount.effort === 'none';
}

/** true: the request asks for no more than a switch can tell. */
function asksForSwitch({ reasoning, reasoning_effort: short }: ChatRequest, amount: ReasoningAmount): boolean {
  const namesNoAmount = (short ?? reasoning?.effort ?? reasoning?.max_tokens ?? null) === null;
  return namesNoAmount || (amount !== null && isOff(amount));
}

/** Returns the path of the amount in the request, as `reasoningAmount` reads it. */
function sourceOf({ reasoning, reasoning_effort: short }: ChatRequest): string {
  if (reasoning?.enabled === false) return 'reasoning.enabled';
  if (isSet(short)) return 'reasoning_effort';
  if (isSet(reasoning?.effort)) return 'reasoning.effort';
  return isSet(reasoning?.max_tokens) ? 'reasoning.max_tokens' : 'reasoning.enabled';
}

/**
 * Fields of `reasoning` that tell the amount, or that the gateway acts on: it takes out the thoughts that the client
 * must not see.
 */
const ownFields = new Set(['effort', 'max_tokens', 'enabled', 'exclude']);
/** The paths of other wishes for reasoning. */
const othersAt = new Set(['reasoning.summary', 'reasoning']);

function othersIn(reasoning: ChatRequest['reasoning']): Loose {
  return Object.fromEntries(
    Object.entries(reasoning ?? {}).filter(([name, value]) => !ownFields.has(name) && isSet(value)),
  );
}

/**
 * Returns the paths of all wishes for reasoning. The path of a field that nobody knows is that of the object: its name
 * is the caller's own.
 */
function pathsOf({ reasoning, reasoning_effort: short }: ChatRequest): readonly string[] {
  const paths = isSet(short) ? ['reasoning_effort'] : [];
  for (const [name, value] of Object.entries(reasoning ?? {})) {
    if (name === 'exclude' || !isSet(value)) continue;
    paths.push(ownFields.has(name) || name === 'summary' ? `reasoning.${name}` : 'reasoning');
  }
  return paths;
}

/** true: a field tells the same as the amount. */
function agrees(path: string, { reasoning, reasoning_effort: short }: ChatRequest, amount: ReasoningAmount): boolean {
  if (amount === null) return false;
  if (path === 'reasoning.enabled') return reasoning?.enabled === !isOff(amount);
  if (path === 'reasoning_effort') return 'effort' in amount && short === amount.effort;
  return path === 'reasoning.effort' && 'effort' in amount && reasoning?.effort === amount.effort;
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/**
 * Puts fields into the body, all or none. A value of the caller under the provider's own name stays.
 * @returns true: they are there
 */
function put(fields: Loose, { dropParams }: ChatQuirks, payload: Loose): boolean {
  const names = Object.keys(fields);
  const isTaken = (name: string) => name in payload && !(isObject(payload[name]) && isObject(fields[name]));
  if (names.some((name) => dropParams?.includes(name) || isTaken(name))) return false;
  for (const name of names) {
    const field = fields[name];
    payload[name] = isObject(field) ? { ...field, ...(payload[name] as object | undefined) } : field;
  }
  return true;
}

import type { ChatRequest } from '../../schema/chat.ts';
import { asBudget, asEffort, type ReasoningAmount, reasoningAmount } from '../shared/reasoning-request.ts';
import { isObject, type Loose } from '../shared/values.ts';
import type { ChatQuirks, ReasoningStyle } from './quirks.ts';

/** The largest output of a request that names none, in tokens: what the share of an effort is taken of. */
const usualOutput = 32_768;

/**
 * The budgets that providers with `thinking_budget` take, in tokens.
 * @see https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions
 */
const thinkingBudget = { least: 128, most: 32_768 };
/** @see https://docs.fireworks.ai/guides/reasoning */
const leastBudget = 1_024;

type Amount = NonNullable<ReasoningAmount>;

/** What a style makes of an amount. */
interface Worded {
  /** Fields of the body. */
  fields: Loose;
  /** false: they say whether to reason, and not how much. */
  saysHowMuch: boolean;
}

/** Says in the provider's words how much to reason. What these cannot say is listed. */
export function encodeReasoning(request: ChatRequest, quirks: ChatQuirks, payload: Loose, dropped: string[]): void {
  const { reasoning, reasoning_effort: short } = request;
  if (!reasoning && (short === undefined || short === null)) return;
  const style = quirks.reasoningStyle ?? 'effort';
  const asked = Object.entries(reasoning ?? {}).filter(([name, value]) => isSaid(name, value));
  const amount = reasoningAmount(request);
  const source = sourceOf(request);
  if (style === 'object') {
    const effort = short === undefined || short === null ? {} : { effort: short };
    const fields = { reasoning: { ...Object.fromEntries(asked), ...effort } };
    if (asked.length + Object.keys(effort).length === 0) return;
    if (!put(fields, quirks, payload)) dropped.push(...asked.map(pathOf), ...(short ? ['reasoning_effort'] : []));
    return;
  }
  let isHeard = amount === null;
  if (amount !== null) {
    const { fields, saysHowMuch } = styles[style](amount, request.max_completion_tokens ?? request.max_tokens ?? null);
    isHeard = put(fields, quirks, payload) && (saysHowMuch || isSwitch(request, amount));
  }
  if (short !== undefined && short !== null && (source !== 'reasoning_effort' || !isHeard))
    dropped.push('reasoning_effort');
  for (const entry of asked) {
    const path = pathOf(entry);
    if (isHeard && (path === source || agrees(entry, amount))) continue;
    if (!dropped.includes(path)) dropped.push(path);
  }
}

const styles: Record<Exclude<ReasoningStyle, 'object'>, (amount: Amount, largest: number | null) => Worded> = {
  effort: inEffort,
  thinking: (amount, largest) => {
    if (isOff(amount)) return worded({ thinking: { type: 'disabled' } });
    return worded({ thinking: { type: 'enabled' }, ...inEffort(amount, largest).fields });
  },
  thinking_budget: (amount, largest) =>
    'effort' in amount
      ? inEffort(amount, largest)
      : worded({ thinking: { type: 'enabled', budget_tokens: Math.max(amount.maxTokens, leastBudget) } }),
  enable_thinking: (amount) => switched({ enable_thinking: !isOff(amount) }),
  enable_thinking_budget: (amount, largest) =>
    isOff(amount)
      ? worded({ enable_thinking: false })
      : worded({
          enable_thinking: true,
          thinking_budget: asBudget(amount, largest ?? usualOutput, thinkingBudget),
        }),
  chat_template: (amount) => switched({ chat_template_kwargs: { enable_thinking: !isOff(amount) } }),
};

function inEffort(amount: Amount, largest: number | null): Worded {
  return worded({ reasoning_effort: asEffort(amount, largest ?? usualOutput) });
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

/** Whether the request asks for no more than a switch says. */
function isSwitch({ reasoning, reasoning_effort: short }: ChatRequest, amount: Amount): boolean {
  const namesNoAmount = (short ?? reasoning?.effort ?? reasoning?.max_tokens ?? null) === null;
  return isOff(amount) || namesNoAmount;
}

/** Where the request says how much, as `reasoningAmount` reads it. */
function sourceOf({ reasoning, reasoning_effort: short }: ChatRequest): string {
  if (reasoning?.enabled === false) return 'reasoning.enabled';
  if (short !== undefined && short !== null) return 'reasoning_effort';
  if (reasoning?.effort !== undefined && reasoning.effort !== null) return 'reasoning.effort';
  return (reasoning?.max_tokens ?? null) === null ? 'reasoning.enabled' : 'reasoning.max_tokens';
}

/** `exclude` is the gateway's own: it takes the reasoning out of what the client gets. */
function isSaid(name: string, value: unknown): boolean {
  return name !== 'exclude' && value !== null && value !== undefined;
}

const knownFields = new Set(['effort', 'summary', 'max_tokens', 'enabled']);

/** Of a field that nobody knows, the object that holds it: its name is the caller's own text. */
function pathOf([name]: [string, unknown]): string {
  return knownFields.has(name) ? `reasoning.${name}` : 'reasoning';
}

/** Whether a field says what the amount says already. */
function agrees([name, value]: [string, unknown], amount: ReasoningAmount): boolean {
  if (amount === null) return false;
  if (name === 'enabled') return value === !isOff(amount);
  return name === 'effort' && 'effort' in amount && value === amount.effort;
}

/**
 * Puts fields into the body, all or none. What the caller has put there under the provider's own name stays.
 * @returns whether they are there
 */
function put(fields: Loose, { dropParams }: ChatQuirks, payload: Loose): boolean {
  const names = Object.keys(fields);
  if (names.some((name) => dropParams?.includes(name) || (name in payload && !isObject(payload[name])))) return false;
  for (const name of names) {
    const own = payload[name];
    payload[name] = isObject(own) ? { ...(fields[name] as Loose), ...own } : fields[name];
  }
  return true;
}

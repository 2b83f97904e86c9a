import type { ChatRequest } from '../../../schema/chat/chat.ts';

/** A request field that some models refuse. `reasoning` stands for both fields that say how much to reason. */
export type RefusedField =
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'min_p'
  | 'top_a'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'repetition_penalty'
  | 'logit_bias'
  | 'logprobs'
  | 'top_logprobs'
  | 'seed'
  | 'n'
  | 'stop'
  | 'parallel_tool_calls'
  | 'reasoning';

/** The fields that a model refuses, and when. */
export interface RefusalRules {
  /** Fields that are never sent. */
  refuses?: readonly RefusedField[];
  /** Fields that are not sent where the model thinks. */
  refusesThinking?: readonly RefusedField[];
  /** Values that are taken of a field that is refused where the model thinks: from the first to the second. */
  takes?: Readonly<Partial<Record<RefusedField, readonly [number, number]>>>;
  /** true: of `temperature` and `top_p`, only one. `temperature` counts. */
  oneOfSampling?: true;
}

/**
 * Finds the fields of a request that a model refuses.
 * @param thinks  true: the model thinks for this request
 * @returns fields that the request sets, but for `reasoning`, which is there whenever it is refused
 */
export function refusedFields(request: Partial<ChatRequest>, rules: RefusalRules, thinks: boolean): RefusedField[] {
  const refused: RefusedField[] = [];
  for (const name of rules.refuses ?? []) if (name === 'reasoning' || isSet(request[name])) refused.push(name);
  if (thinks)
    for (const name of rules.refusesThinking ?? [])
      if (isSet(request[name]) && !refused.includes(name) && !isTaken(name, request, rules)) refused.push(name);
  const isSent = (name: RefusedField) => isSet(request[name]) && !refused.includes(name);
  if (rules.oneOfSampling === true && isSent('temperature') && isSent('top_p')) refused.push('top_p');
  return refused;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isTaken(name: RefusedField, request: Partial<ChatRequest>, { takes }: RefusalRules): boolean {
  const range = takes?.[name];
  const value = request[name];
  return range !== undefined && typeof value === 'number' && value >= range[0] && value <= range[1];
}

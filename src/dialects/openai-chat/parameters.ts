import type { ChatQuirks } from './quirks.ts';

/** Other names of a parameter in lists of the parameters that an endpoint supports. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  response_format: ['structured_outputs'],
  reasoning_effort: ['reasoning'],
};

/** Parameters that mean nothing without another one. */
const companions: Readonly<Record<string, string>> = {
  top_logprobs: 'logprobs',
  tool_choice: 'tools',
  parallel_tool_calls: 'tools',
};

/** true: the provider refuses a field of the request. */
export function isRefused(name: string, dropParams: readonly string[]): boolean {
  const other = Object.hasOwn(companions, name) ? companions[name] : undefined;
  return dropParams.includes(name) || (other !== undefined && dropParams.includes(other));
}

/** Returns the parameters that the provider refuses, so that they are never sent, under all their names. */
export function unsupportedParameters({ dropParams = [], jsonSchema, reasoningStyle }: ChatQuirks): readonly string[] {
  const alone = Object.keys(companions).filter((name) => isRefused(name, dropParams) && !dropParams.includes(name));
  const names = [...dropParams.flatMap((name) => [name, ...(otherNames[name] ?? [])]), ...alone];
  if (jsonSchema === false) names.push('structured_outputs');
  // A switch tells whether to reason, and not how much.
  if (reasoningStyle === 'enable_thinking' || reasoningStyle === 'chat_template') names.push('reasoning_effort');
  return names;
}

import type { ChatQuirks } from './quirks.ts';

/** Other names of a parameter in lists of what an endpoint supports. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  response_format: ['structured_outputs'],
  reasoning_effort: ['reasoning'],
};

/** What the provider refuses, so that it is never sent, under all its names. */
export function unsupportedParameters({ dropParams = [], jsonSchema }: ChatQuirks): readonly string[] {
  const names = dropParams.flatMap((name) => [name, ...(otherNames[name] ?? [])]);
  return jsonSchema === false ? [...names, 'structured_outputs'] : names;
}

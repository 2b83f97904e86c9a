import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { type DefaultableField, fieldRow, fieldsWith } from '../chat/fields.ts';
import { chatRequestSchema } from '../chat/request.ts';

const fields = Object.fromEntries(fieldsWith({ isDefaultable: true }).map((name) => [name, true])) as Record<
  DefaultableField,
  true
>;

/**
 * Fields that say the same thing. A request that sets one of them gets the default of none, which could contradict it.
 */
export const sameMeaning: readonly (readonly string[])[] = fieldsWith({ isDefaultable: true }).flatMap((name) => {
  const same = fieldRow(name)?.sameAs;
  return same === undefined ? [] : [[same, name]];
});

/**
 * Values for requests that set none, by field; checked like those of a request. Both names of one thing are refused.
 */
export const modelDefaults = lazily(() =>
  z.strictObject(chatRequestSchema().pick(fields).shape).check((payload) => {
    for (const names of sameMeaning) {
      const given = names.filter((name) => isSet((payload.value as Record<string, unknown>)[name]));
      if (given.length < 2) continue;
      payload.issues.push({
        code: 'custom',
        path: [given[1] as string],
        message: `expected either ${given[0]} or ${given[1]}: both say the same`,
        input: payload.value,
      });
    }
  }),
);

/** Null means the same as an absent field. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { list } from './bounded.ts';
import { expectations } from './chat/expectations.ts';

// All shapes share one instance of each schema: building a schema costs some 20 µs and a kilobyte.
export const text = lazily(() => z.string());
export const optionalText = lazily(() => text().optional());
export const textOrNull = lazily(() => text().nullish());
export const optionalTexts = lazily(() => list(text()).optional());

export const optionalFlag = lazily(() => z.boolean().optional());
export const flagOrNull = lazily(() => z.boolean().nullish());

export const integer = lazily(() => z.int({ error: expectations.integer }));
export const optionalInteger = lazily(() => integer().optional());
export const integerOrNull = lazily(() => integer().nullish());
/** Zero or more. */
export const count = lazily(() => integer().nonnegative());
export const optionalCount = lazily(() => count().optional());
export const countOrNull = lazily(() => count().nullish());
/** One or more. */
export const positive = lazily(() => integer().min(1));
export const optionalPositive = lazily(() => positive().optional());

export const number = lazily(() => z.number());
export const numberOrNull = lazily(() => number().nullish());

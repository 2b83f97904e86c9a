import * as z from 'zod';
import { list } from './bounded.ts';
import { expectations } from './expectations.ts';

// One instance each, shared by all shapes: a schema costs some 20 µs and a kilobyte when the module loads.
export const text = z.string();
export const optionalText = text.optional();
export const textOrNull = text.nullish();
export const optionalTexts = list(text).optional();

export const optionalFlag = z.boolean().optional();
export const flagOrNull = z.boolean().nullish();

export const integer = z.int({ error: expectations.integer });
export const optionalInteger = integer.optional();
export const integerOrNull = integer.nullish();
/** Zero or more. */
export const count = integer.nonnegative();
export const optionalCount = count.optional();
export const countOrNull = count.nullish();
/** One or more. */
export const positive = integer.min(1);
export const optionalPositive = positive.optional();

export const number = z.number();
export const numberOrNull = number.nullish();

import * as z from 'zod';
import { isUuid } from '../base/ids.ts';
import { lazily } from '../base/lazily.ts';
import { expectation } from './chat/expectations.ts';

/** Query parameters are strings. */
const digits = /^\d{1,15}$/;

/** Number of records to skip. Default 0. */
export const offsetParameter = lazily(() =>
  z.string().regex(digits, expectation('expected an integer of at least 0')).default('0').transform(Number),
);

/** Maximum number of records, 1 to 100. Default 50. */
export const limitParameter = lazily(() =>
  z
    .string()
    .refine(
      (text) => digits.test(text) && Number(text) >= 1 && Number(text) <= 100,
      expectation('expected an integer from 1 to 100'),
    )
    .default('50')
    .transform(Number),
);

/** The part of a listing to return, for clients that request pages. Default: all of it. */
export const partOfList = lazily(() => ({
  /** The number to skip. Default 0. */
  offset: offsetParameter(),
  /** The most to return. Default: all. */
  limit: z
    .string()
    .regex(/^0*[1-9]\d{0,14}$/, expectation('expected an integer of at least 1'))
    .transform(Number)
    .optional(),
}));

/** Query of a listing that has no filters. */
export const partQuery = lazily(() => z.strictObject(partOfList()));
export interface PartQuery extends z.infer<ReturnType<typeof partQuery>> {}
export interface PartFields extends QueryFields<z.input<ReturnType<typeof partQuery>>> {}

/** The part of a list that a query asks for. */
export function partOf<T>(all: readonly T[], { offset, limit }: PartQuery): T[] {
  return all.slice(offset, limit === undefined ? undefined : offset + limit);
}

/** A UUID in a request, turned into the lower case that the store uses. */
export const uuidText = lazily(() =>
  z
    .string()
    .refine(isUuid, expectation('expected a UUID'))
    .transform((text) => text.toLowerCase()),
);

/** Query of an operation that takes none. */
export const noQuery = lazily(() => z.strictObject({}));

/** The argument of a function that takes none. */
export type NoFields = Record<never, never>;

/** Fields of a query as a function takes them: numbers and booleans where an address has only their text. */
export type QueryFields<Query> = {
  [Name in keyof Query]: string extends Query[Name]
    ? Query[Name] | number
    : 'true' extends Query[Name]
      ? Query[Name] | boolean
      : Query[Name];
};

/** Query of every list of records. */
export const pageQuery = lazily(() => z.strictObject({ offset: offsetParameter(), limit: limitParameter() }));
export interface PageQuery extends z.infer<ReturnType<typeof pageQuery>> {}
export interface PageFields extends QueryFields<z.input<ReturnType<typeof pageQuery>>> {}

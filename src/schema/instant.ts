import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { expectation } from './chat/expectations.ts';

const dayMs = 86_400_000;
const date = /^\d{4}-\d\d-\d\d$/;
/** Nine digits at least: a year alone is a mistake. */
const seconds = /^\d{9,11}$/;

const message = expectation(
  'expected a date such as 2026-01-31, a time with its zone such as 2026-01-31T12:00:00Z, or seconds since 1970',
);

/** The only forms of a time in a query: a date in UTC, ISO 8601 with a zone, and whole seconds of the Unix epoch. */
const forms = lazily(() => z.union([z.iso.date(), z.iso.datetime({ offset: true }), z.string().regex(seconds)]));

const timeText = lazily(() => z.string().refine((text) => forms().safeParse(text).success, message));

/** From when on, in a query; turned into epoch ms. A date is its beginning. */
export const fromText = lazily(() => timeText().transform(beginningOf));

/** Until when, in a query; turned into the first epoch ms that is not meant. A date is meant whole. */
export const toText = lazily(() => timeText().transform(endOf));

/** A place in a list that has the newest first: behind a record, as its time and its id. */
export interface Behind {
  atMs: number;
  id: string;
}

const behind = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)~([A-Za-z0-9_.-]{1,100})$/;

/** As `toText`; or behind a record, as its time, `~` and its id: records of the same millisecond are told apart. */
export const toTextOrPlace = lazily(() =>
  z
    .string()
    .refine((text) => behind.test(text) || forms().safeParse(text).success, message)
    .transform((text): number | Behind => {
      const [, time = '', id = ''] = behind.exec(text) ?? [];
      return id === '' ? endOf(text) : { atMs: Date.parse(time), id };
    }),
);

/** The text that `toTextOrPlace` reads. */
export function placeText({ atMs, id }: Behind): string {
  return `${new Date(atMs).toISOString()}~${id}`;
}

function endOf(text: string): number {
  return beginningOf(text) + (date.test(text) ? dayMs : 0);
}

function beginningOf(text: string): number {
  if (seconds.test(text)) return Number(text) * 1000;
  return Date.parse(date.test(text) ? `${text}T00:00:00Z` : text);
}

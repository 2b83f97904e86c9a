import * as z from 'zod';
import { jsonReply, type Operation } from './operation.ts';

/** The path that a client asks for to warm its connection up. */
export const helloPath = '/api/hello';

/**
 * Answers a client that warms its connection up before its first request. It needs no key, and is no request that a
 * record would help with.
 */
export function getHello(): Operation {
  return {
    name: 'getHello',
    method: 'GET',
    path: helloPath,
    permissions: [],
    isPublic: true,
    body: null,
    result: () => z.object({ message: z.literal('hello') }),
    recordsItself: true,
    run: () => Promise.resolve(jsonReply({ message: 'hello' })),
  };
}

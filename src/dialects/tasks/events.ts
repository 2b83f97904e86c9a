import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { errorIn } from '../openai-chat/errors.ts';
import { badResponse } from '../shared/values.ts';

/** Returns the error that stands in a response with the status of a success; null: there is none. */
export function reportedIn(body: unknown): UpstreamError | null {
  return isObject(body) ? errorIn(body) : null;
}

/** Reads an event of a stream of OpenAI's form. @throws UpstreamError bad_response where it is none */
export function eventIn(data: string): { event: Loose; error: UpstreamError | null } {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw badResponse('The provider sent an event that is no JSON.');
  }
  if (!isObject(event)) throw badResponse('The provider sent an event that is no object.');
  return { event, error: errorIn(event) };
}

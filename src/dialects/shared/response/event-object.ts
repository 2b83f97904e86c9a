import { keepExact } from '../../../base/exact-json.ts';
import { JsonError, parseJson } from '../../../base/json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import { argumentFields, badResponse } from '../values.ts';

/** The usual depth limit of an event; a deeper one is none of a chat. */
const usualDepth = 64;

/** Reads the object of an event of a stream. Numbers in arguments keep their digits. @throws UpstreamError bad_response */
export function eventObject(data: string, maxDepth = usualDepth): Loose {
  let event: unknown;
  try {
    event = parseJson(data, maxDepth);
  } catch (error) {
    if (error instanceof JsonError) throw badResponse(`The provider sent a stream event that is ${error.message}.`);
    throw error;
  }
  if (!isObject(event)) throw badResponse('The provider sent a stream event that is no object.');
  keepExact(event, data, argumentFields);
  return event;
}

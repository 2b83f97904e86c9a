import type { ChatRequest } from '../../schema/chat/chat.ts';
import { isRefusedText } from './contents.ts';
import type { Profile } from './profile.ts';

/** Tells whether texts at which the response stops must be left out: the provider would refuse the request for them. */
export function hasRefusedStops({ stop }: ChatRequest, { refusedStops }: Profile): boolean {
  if (stop === undefined || stop === null) return false;
  if (typeof stop === 'string') return isRefusedText(stop, refusedStops);
  return stop.length === 0 || stop.some((text) => isRefusedText(text, refusedStops));
}

/** Leaves out the texts that are refused, and the field where none is left. */
export function withTakenStops(request: ChatRequest, profile: Profile, drop: (path: string) => void): ChatRequest {
  if (!hasRefusedStops(request, profile)) return request;
  const { stop, ...others } = request;
  const given = typeof stop === 'string' ? [stop] : (stop ?? []);
  const taken = given.filter((text) => !isRefusedText(text, profile.refusedStops));
  if (taken.length < given.length) drop('stop');
  return taken.length === 0 ? others : { ...others, stop: taken };
}

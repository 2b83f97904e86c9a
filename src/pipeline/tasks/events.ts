import { encodeEvent } from '../../base/http/sse.ts';
import type { TaskEvents } from '../task/task.ts';

/** The frames that streams of speech and of transcripts have beside their own events. */
export const audioEvents: TaskEvents = {
  keepAlive: ': PROCESSING\n\n',
  failed: (error) => eventFrame({ type: 'error', error }),
};

/** Writes an event whose type stands in its data alone. */
export function eventFrame(event: object): string {
  return encodeEvent(JSON.stringify(event));
}

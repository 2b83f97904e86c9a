import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { RequestBounds } from '../../schema/chat/request-bounds.ts';
import type { LimitSettings } from '../../schema/settings/settings.ts';
import type { StoredConversations } from '../../telemetry/conversations/stored-conversations.ts';
import type { StoredResponses } from '../../telemetry/responses/stored-responses.ts';
import type { Presentation } from '../compat.ts';

/** The dependencies of the operations of Responses. */
export interface ResponsesDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  clock: Clock;
  brand: string;
  bounds: RequestBounds & Pick<LimitSettings, 'bodyBytes' | 'depth' | 'jsonValues'>;
  presentation: Pick<Presentation, 'wholeResponses'>;
  /** null: no responses are kept. */
  responses: StoredResponses | null;
  /** null: no conversations are kept. */
  conversations: StoredConversations | null;
  /** Learns why a response could not be kept. */
  notKept: (error: unknown, id: string) => void;
  /** Learns why a response could not be added to its conversation. */
  notAdded: (error: unknown, id: string, conversation: string) => void;
}

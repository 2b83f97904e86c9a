import { type Profile, profiles } from '../fit/index.ts';
import { claudeName } from '../shared/claude-name.ts';
import type { ChatQuirks } from './quirks.ts';

const orders = {
  any: profiles.freeChat,
  turns: profiles.everyChatServer,
  bridged_turns: profiles.bridgedChat,
} as const;
const callIds = {
  up_to_40: { toolIds: profiles.everyChatServer.toolIds },
  any: profiles.longIds,
  nine: profiles.shortIds,
} as const;

/** Models whose templates demand turns with a bridge, and ids of nine signs, wherever they are served. */
const ofMistral = /mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral/i;

type Order = keyof typeof orders;
type CallIds = keyof typeof callIds;
/** The conversations that a model at a provider accepts. */
export function profileOf({ messageOrder, callIds: form }: ChatQuirks, upstreamModel: string): Profile {
  const isStrict = (messageOrder === undefined || form === undefined) && ofMistral.test(upstreamModel);
  const order: Order = messageOrder ?? (isStrict ? 'bridged_turns' : 'turns');
  const ids: CallIds = form ?? (isStrict ? 'nine' : 'up_to_40');
  return { ...orders[order], ...callIds[ids], ...(claudeName(upstreamModel) === null ? {} : profiles.claude) };
}

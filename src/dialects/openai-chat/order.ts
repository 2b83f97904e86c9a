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

type Order = keyof typeof orders;
type CallIds = keyof typeof callIds;

/** Every profile that there is, made once: each request needs one. */
const made = withEachOrder((order) => withEachIds((ids) => ({ ...orders[order], ...callIds[ids] })));
const ofClaude = withEachOrder((order) => withEachIds((ids) => ({ ...made[order][ids], ...profiles.claude })));

function withEachOrder<T>(of: (order: Order) => T): Record<Order, T> {
  return { any: of('any'), turns: of('turns'), bridged_turns: of('bridged_turns') };
}

function withEachIds<T>(of: (ids: CallIds) => T): Record<CallIds, T> {
  return { up_to_40: of('up_to_40'), any: of('any'), nine: of('nine') };
}

/** Models whose templates demand turns with a bridge, and ids of nine signs, wherever they are served. */
const ofMistral = /mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral/i;

/** The conversations that a model at a provider accepts. */
export function profileOf({ messageOrder, callIds: form }: ChatQuirks, upstreamModel: string): Profile {
  const isStrict = (messageOrder === undefined || form === undefined) && ofMistral.test(upstreamModel);
  const order: Order = messageOrder ?? (isStrict ? 'bridged_turns' : 'turns');
  const ids: CallIds = form ?? (isStrict ? 'nine' : 'up_to_40');
  return (claudeName(upstreamModel) === null ? made : ofClaude)[order][ids];
}

/** Ways in which the first provider fails a request. `cut`: it breaks off in the middle. */
export const failures = ['500', '429', 'cut', 'hang up', 'garbage'] as const;
export type Failure = (typeof failures)[number];

/** What one request of the soak is, decided by its number alone. */
export interface Kind {
  path: '/chat/completions' | '/responses';
  stream: boolean;
  failure: Failure | null;
  /** When the client leaves. `soon`: while the provider thinks; `midway`: after the first bytes. null: it stays. */
  leaves: 'soon' | 'midway' | null;
  plugin: boolean;
}

/** Three in ten leave, one in ten fails upstream; half are streams, one in five is of Responses, one in five has plugins. */
export function kindOf(number: number): Kind {
  const chance = (salt: number) => mixed(number * 8 + salt) / 2 ** 32;
  const leaves = chance(0);
  return {
    path: chance(1) < 0.2 ? '/responses' : '/chat/completions',
    stream: chance(2) < 0.5,
    failure: chance(3) < 0.1 ? (failures[mixed(number * 8 + 4) % failures.length] as Failure) : null,
    leaves: leaves < 0.15 ? 'soon' : leaves < 0.3 ? 'midway' : null,
    plugin: chance(5) < 0.2,
  };
}

/** A whole number below 2^32 that looks random: the finalizer of MurmurHash3. */
function mixed(number: number): number {
  let hash = number + 0x9e37_79b9;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The body of a request. Its text tells the provider how to fail. Conversations come again, as those of people do. */
export function bodyOf(number: number, { path, stream, failure, plugin }: Kind): string {
  const text = `Request ${number % 1000}, write to a@b.example. ${failure === null ? '' : `[fail: ${failure}]`}`;
  const plugins = plugin ? { plugins: [{ id: 'response-healing' }, { id: 'context-compression' }] } : {};
  const common = { model: 'soak/model', stream, session_id: `soak-${number % 5000}`, ...plugins };
  const order = { provider: { order: ['shaky', 'steady'] } };
  return JSON.stringify(
    path === '/responses'
      ? { ...common, ...order, input: text, max_output_tokens: 64 }
      : {
          ...common,
          ...order,
          max_tokens: 64,
          messages: [{ role: 'user', content: text }],
          ...(plugin && !stream ? { response_format: { type: 'json_object' } } : {}),
        },
  );
}

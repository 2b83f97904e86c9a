import { Keyv } from 'keyv';

/** What the calls of a store do instead: reject, or never end. */
export type Fault = () => Promise<never>;

/** A store whose calls fail when told to, and what is in it. */
export function brittleStore() {
  const entries = new Map<string, unknown>();
  const state: { fault: Fault | null } = { fault: null };
  const orFail = <T>(work: () => T) => (state.fault ? state.fault() : Promise.resolve(work()));
  const adapter = {
    opts: {},
    get: (key: string) => orFail(() => entries.get(key)),
    set: (key: string, value: unknown) => orFail(() => void entries.set(key, value)).then(() => true),
    delete: (key: string) => orFail(() => entries.delete(key)),
    clear: () => orFail(() => entries.clear()),
    on: () => undefined,
  };
  return { state, entries, store: new Keyv({ store: adapter as never }) };
}

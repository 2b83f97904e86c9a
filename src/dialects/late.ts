import { loadedOnce } from '../base/async/loaded-once.ts';
import { type Dialect, defineDialect } from './dialect.ts';

/** The parts of a dialect that a gateway needs as it is made. */
type DialectFacts<Quirks extends object> = Pick<Dialect<Quirks>, 'name' | 'quirks' | 'format' | 'mapsWebSearch'>;

/**
 * A dialect without its code, as long as that is not loaded. `load` makes the object whole, so after it nothing tells it
 * from a dialect that was there from the beginning. Before, its functions throw, and begin to load it.
 */
export function lateDialect<Quirks extends object>(
  facts: DialectFacts<Quirks>,
  whole: () => Promise<Dialect<Quirks>>,
): Dialect<Quirks> {
  const loaded = loadedOnce(async () => Object.assign(late, await whole(), { load: undefined }));
  const missing = (): never => {
    load().catch(() => undefined);
    throw new Error(`The dialect ${facts.name} is not loaded yet: call its function load before`);
  };
  const load = async () => void (await loaded());
  const late: Dialect<Quirks> = {
    ...defineDialect<Quirks>({
      encodeRequest: missing,
      decodeResult: missing,
      streamDecoder: missing,
      decodeError: missing,
      ...facts,
    }),
    minMaxTokens: missing,
    unsupportedParameters: missing,
    load,
  };
  return late;
}

import { isGatewayError } from '../base/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { answerOf, isFull, isReadOnly } from '../stores/storage/outage.ts';
import type { Stores } from './stores.ts';

/** The ability to serve requests now. */
export interface Readiness {
  /** false: a request sent now would probably fail. */
  isReady: boolean;
  /** The reasons why not, one sentence each; empty: ready. */
  reasons: readonly string[];
}

/**
 * Checks whether the store responds and the catalogue is loaded. Probes at the same time share one check, so that they
 * cost the store no more than one.
 */
export function createReadiness(
  stores: Pick<Stores, 'ping'>,
  catalog: Pick<Catalog, 'isLoaded'>,
): { look(): Promise<Readiness>; close(): void } {
  let looking: Promise<Readiness> | null = null;
  let isClosed = false;

  async function lookOnce(): Promise<Readiness> {
    const reasons: string[] = [];
    if (!isClosed) {
      if (!catalog.isLoaded()) reasons.push('The document of the catalogue has not been read yet');
      const failure = await stores.ping().then(() => null, reasonOf);
      if (failure !== null) reasons.push(failure);
    }
    // The gateway may have been closed during the check.
    if (isClosed) return { isReady: false, reasons: ['The gateway is closed'] };
    return { isReady: reasons.length === 0, reasons };
  }

  return {
    look() {
      looking ??= lookOnce().finally(() => {
        looking = null;
      });
      return looking;
    },
    close() {
      isClosed = true;
    },
  };
}

/**
 * The server's own words if it has responded: the operator must see a wrong password. Never its address, nor a secret.
 */
function reasonOf(error: unknown): string {
  if (isFull(error)) return 'The store takes no writes: its disk or its memory is full';
  const answer = answerOf(error);
  if (answer !== null) return `The store refuses: ${answer}`;
  if (isReadOnly(error)) return 'The store takes no writes: it is read-only';
  return isGatewayError(error) ? `The store does not answer: ${error.message}` : 'The store does not answer';
}

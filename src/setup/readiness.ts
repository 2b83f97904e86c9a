import { isGatewayError } from '../base/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Stores } from './stores.ts';

/** Whether requests can be served now. */
export interface Readiness {
  /** false: a request sent now would probably fail. */
  isReady: boolean;
  /** Why not, one sentence each; empty: nothing is wrong. */
  reasons: readonly string[];
}

/**
 * Looks whether the store answers and the catalogue is there. Probes at the same time share one look, so that they cost
 * the store no more than one.
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
    // Also where it was closed while the store was asked.
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

/** A GatewayError says nothing of the server, its address or its answer. */
function reasonOf(error: unknown): string {
  return isGatewayError(error) ? `The store does not answer: ${error.message}` : 'The store does not answer';
}

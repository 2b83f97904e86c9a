import { loadedOnce } from '../../base/async/loaded-once.ts';
import type { Sockets, SocketsDeps } from './sockets.ts';

/** The connections of clients, whose code is loaded for the first of them. */
export interface LateSockets extends Pick<Sockets, 'upgrade' | 'close'> {
  /** Loads the code now. */
  load(): Promise<void>;
}

/** As `createSockets`: most gateways never see a WebSocket. */
export function lateSockets(deps: SocketsDeps): LateSockets {
  let made: Sockets | null = null;
  let isClosed = false;
  const loaded = loadedOnce(async () => {
    const { createSockets } = await import('./sockets.ts');
    made = createSockets(deps);
    if (isClosed) made.close();
    return made;
  });
  return {
    async upgrade(request, context) {
      const sockets = loaded();
      return (sockets instanceof Promise ? await sockets : sockets).upgrade(request, context);
    },
    async load() {
      await loaded();
    },
    close() {
      isClosed = true;
      made?.close();
    },
  };
}

import type { GuardedConnection } from './guarded.ts';

/** Connections of Node, whose addresses can be chosen. */
export const guardedConnection: GuardedConnection | null = {
  async lookup(host) {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
  },
  async get(url, addresses, signal) {
    const { Agent, fetch } = await import('undici');
    const { isIPv6 } = await import('node:net');
    const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const dispatcher = new Agent({
      connections: 1,
      pipelining: 0,
      maxHeaderSize: 32 * 1024,
      connect: {
        // Node never looks up an address that a URL names. For a name, it gets the checked addresses.
        lookup: (_host, options, found) => {
          const [first] = known;
          if (options.all === true) found(null, known);
          else found(null, first?.address ?? '', first?.family);
        },
      },
    });
    const close = () => void dispatcher.destroy().catch(() => undefined);
    try {
      const response = await fetch(url, {
        dispatcher,
        signal,
        redirect: 'manual',
        headers: { accept, 'user-agent': 'model-gateway' },
      });
      const { status, headers, body } = response;
      return { status, headers: Object.fromEntries(headers), body: body ?? none, cancel: close };
    } catch (error) {
      close();
      throw error;
    }
  },
};

const accept = 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5';
const none = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });

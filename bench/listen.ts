import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of this machine. @returns the port */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // In the measurement of memory, 2,000 clients connect at once.
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => resolve((server.address() as AddressInfo).port));
  });
}

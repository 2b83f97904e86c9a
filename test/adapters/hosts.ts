import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from '../contract/adapters/suite.ts';

/** Any node:http listener, such as an Express app, on a free port of this machine. */
export async function hostListener(listener: RequestListener, basePath: string): Promise<Host> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

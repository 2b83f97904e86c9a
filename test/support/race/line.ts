import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A line to a server, on a port of its own: everything passes. */
export interface Line {
  port: number;
  /** How long what is sent from now on takes, each way. */
  delayMs: number;
  /** true: an answer is lost, with every connection, and none can be made. */
  losesAnswers: boolean;
  /** All bytes it carried so far, both ways. */
  heard(): Buffer;
  /** Resets every connection there is. */
  reset(): void;
  stop(): void;
}

/** @param options  `isRecorded`: the bytes are kept */
export async function startLine(to: number, { isRecorded = false }: { isRecorded?: boolean } = {}): Promise<Line> {
  const sockets = new Set<Socket>();
  const carried: Buffer[] = [];
  const server = createServer((client) => {
    if (line.losesAnswers) return client.resetAndDestroy();
    const upstream = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      let queue = Promise.resolve();
      from.on('data', (data) => {
        if (isRecorded) carried.push(Buffer.from(data));
        if (line.losesAnswers && from === upstream) return line.reset();
        const waited = sleep(line.delayMs);
        // In order, though the delay may have changed meanwhile.
        queue = queue.then(() => waited).then(() => void into.write(data));
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const line: Line = {
    port: (server.address() as { port: number }).port,
    delayMs: 0,
    losesAnswers: false,
    heard: () => Buffer.concat(carried),
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return line;
}

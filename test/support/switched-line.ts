import { connect, createServer, type Socket } from 'node:net';

/** One address behind which servers change, as a load balancer or a DNS name has it. */
export interface SwitchedLine {
  port: number;
  /** The port that new connections go to. Those that are there stay where they are. */
  to: number;
  /** How many connections were made so far. */
  made: number;
  /** What is there, and stays open, passes nothing on any more. New connections do. */
  silence(): void;
  stop(): void;
}

export async function switchedLine(to: number): Promise<SwitchedLine> {
  const pairs = new Set<{ isSilent: boolean; sockets: readonly Socket[] }>();
  const server = createServer((client) => {
    line.made++;
    const upstream = connect(line.to, '127.0.0.1');
    const pair = { isSilent: false, sockets: [client, upstream] };
    pairs.add(pair);
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => void (pair.isSilent || into.write(data)));
      from.on('error', () => {});
      from.on('close', () => void (pair.isSilent || into.destroy()));
    }
  });
  const line: SwitchedLine = {
    port: 0,
    to,
    made: 0,
    silence() {
      for (const pair of pairs) pair.isSilent = true;
    },
    stop() {
      server.close();
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  line.port = (server.address() as { port: number }).port;
  return line;
}

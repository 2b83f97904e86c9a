import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@keyv/redis';
import { redisProgram } from './services.ts';
import { freePort, type StartedService, startRedis } from './start-service.ts';

export interface RedisCluster {
  /** For `createCluster({ rootNodes })`. */
  rootNodes: { url: string }[];
  /** The servers, for signals and commands of their own. */
  nodes: (StartedService & { id: string; slots: [from: number, to: number] })[];
  stop(): Promise<void>;
}

const slots = 16_384;

/**
 * A cluster of three masters without replicas, on free ports of loopback. It ends with the process that started it.
 * @param settings  further options of every server
 * @returns null: this machine has no Redis
 */
export async function startRedisCluster(settings: readonly string[] = []): Promise<RedisCluster | null> {
  const program = redisProgram;
  if (program === null) return null;
  // The bus has a free port of its own: by default it is the server's and 10,000, which may be no port.
  const busPorts = await Promise.all([freePort(), freePort(), freePort()]);
  const services = await Promise.all(
    busPorts.map((port) => startRedis(program, { settings: [...clusterSettings(port), ...settings] })),
  );
  const stop = async () => void (await Promise.all(services.map((service) => service.stop())));
  try {
    const nodes = await Promise.all(
      services.map(async (service, index) => ({
        ...service,
        id: await command(service, ['CLUSTER', 'MYID']),
        slots: [Math.ceil((index * slots) / 3), Math.ceil(((index + 1) * slots) / 3) - 1] as [number, number],
      })),
    );
    for (const node of nodes) await command(node, ['CLUSTER', 'ADDSLOTSRANGE', ...node.slots.map(String)]);
    for (const index of [1, 2]) {
      await command(nodes[0]!, ['CLUSTER', 'MEET', '127.0.0.1', `${nodes[index]!.port}`, `${busPorts[index]}`]);
    }
    for (const node of nodes) await untilWhole(node);
    return { rootNodes: nodes.map(({ url }) => ({ url })), nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function clusterSettings(busPort: number): string[] {
  const announce = ['--cluster-announce-ip', '127.0.0.1', '--cluster-port', String(busPort)];
  return ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', ...announce];
}

/** Sends one command to one server. @returns its answer as text; null is empty */
export async function command({ url }: { url: string }, args: string[]): Promise<string> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  try {
    return String((await client.sendCommand(args)) ?? '');
  } finally {
    client.destroy();
  }
}

/** Waits until a server sees all slots served, and all three masters. */
async function untilWhole(node: StartedService): Promise<void> {
  for (let targets = 0; targets < 600; targets++) {
    const info = await command(node, ['CLUSTER', 'INFO']);
    if (info.includes('cluster_state:ok') && info.includes('cluster_size:3')) return;
    await sleep(50);
  }
  throw new Error('The cluster did not come together within half a minute');
}

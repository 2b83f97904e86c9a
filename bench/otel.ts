import process from 'node:process';
import { createGateway, type Gateway } from '../src/index.ts';
import { apiKey, chatRequest, chatResponse } from './bodies.ts';
import { gatewayOptions } from './gateway-options.ts';
import { killWorkers, startWorker } from './processes.ts';
import { median } from './statistics.ts';
import { telemetryOf } from './telemetry.ts';
import { type Contest, compare, gatewaySigns, type Server } from './throughput.ts';

/**
 * What spans and metrics cost: CPU of a JSON request with and without them, in turns: in process, and of a server over
 * HTTP. Run by `node bench/otel.ts`.
 */

const body = Buffer.from(chatResponse);

function gatewayWith(options: object): Gateway {
  return createGateway({
    ...gatewayOptions('http://127.0.0.1:9/v1', () => undefined),
    transport: {
      async send() {
        const left = [body];
        const source = { read: async () => left.shift() ?? null, cancel: () => undefined };
        return { status: 200, headers: { 'content-type': 'application/json' }, body: source };
      },
    },
    ...options,
  } as never);
}

async function cpuPerRequest(gateway: Gateway, requests: number): Promise<number> {
  const start = process.cpuUsage();
  for (let done = 0; done < requests; done++) {
    const response = await gateway.fetch('http://127.0.0.1/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: chatRequest({ stream: false }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    await response.text();
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / requests;
}

const gateways = {
  without: gatewayWith({ onRecord: () => undefined }),
  'one of ten traced': gatewayWith({ onRecord: telemetryOf(0.1) }),
  'all traced': gatewayWith({ onRecord: telemetryOf(1) }),
};
const turns = new Map<string, number[]>(Object.keys(gateways).map((name) => [name, []]));
for (const gateway of Object.values(gateways)) await cpuPerRequest(gateway, 20_000);
for (let turn = 0; turn < 15; turn++)
  for (const [name, gateway] of Object.entries(gateways)) turns.get(name)?.push(await cpuPerRequest(gateway, 1_000));
const report = (place: string, costs: ReadonlyMap<string, readonly number[]>) => {
  const base = median(costs.get('without') ?? []);
  process.stdout.write(`${place}\n`);
  for (const [name, list] of costs)
    process.stdout.write(`  ${name}: ${median(list).toFixed(1)} µs, ${(median(list) / base).toFixed(2)}\n`);
};
report('in process', turns);
for (const gateway of Object.values(gateways)) await gateway.close();

const contest: Contest = {
  kind: 'json',
  connections: 16,
  rounds: 30,
  roundMs: 330,
  warmRequests: 50_000,
  warmMs: 60_000,
  enoughMs: 60_000,
};
const peer = await startWorker('peer.ts', 'peer');
const startServer = async (...share: string[]): Promise<Server> => ({
  ...(await startWorker('serve-traced.ts', 'under-test', [String(peer.port), ...share])),
  signs: gatewaySigns,
});
const servers = {
  without: await startServer(),
  'one of ten traced': await startServer('0.1'),
  'all traced': await startServer('1'),
};
const found = await compare({ peer, servers }, contest);
report('a server, over HTTP', new Map(Object.entries(found).map(([name, { cpuUs }]) => [name, cpuUs])));
killWorkers();
process.exit();

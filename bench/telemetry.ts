import { startWorker } from './processes.ts';
import { type Contest, compare, type Field, gatewaySigns, type Rounds, type Server } from './throughput.ts';

/** The gateway without telemetry; with metrics and spans of one request of ten; with metrics and spans of all. */
export const telemetries = ['none', 'sampled', 'all'] as const;
/** Results by what is traced. */
export type TelemetryRounds = Record<(typeof telemetries)[number], Rounds>;

/** Measures what spans and metrics cost in each of the contests. */
export async function compareTelemetry<Name extends string>(
  { peer }: Pick<Field, 'peer'>,
  contests: Record<Name, Contest>,
): Promise<Record<Name, TelemetryRounds>> {
  const start = async (...share: string[]): Promise<Server> => ({
    ...(await startWorker('serve-traced.ts', 'under-test', [String(peer.port), ...share])),
    signs: gatewaySigns,
  });
  const servers = { none: await start(), sampled: await start('0.1'), all: await start('1') };
  try {
    const found: Partial<Record<Name, TelemetryRounds>> = {};
    for (const name of Object.keys(contests) as Name[]) found[name] = await compare({ peer, servers }, contests[name]);
    return found as Record<Name, TelemetryRounds>;
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

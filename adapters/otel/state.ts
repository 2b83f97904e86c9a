import type { Gateway, GatewayState } from '../../src/index.ts';
import type { OtelBatchCallback, OtelMeter, OtelObservable } from './api.ts';
import { providerNameOf } from './names.ts';

/** The options of {@link observeState}, beside the gateway. */
export interface ObserveStateOptions {
  /**
   * Ids or slugs of the workspaces whose budgets are measured. Default none: each is a read of the store whenever metrics
   * are collected, and values of a label.
   */
  budgetsOf?: readonly string[];
}

const gauges = {
  requestsInFlight: ['gateway.requests.in_flight', '{request}'],
  holds: ['gateway.holds', '{hold}'],
  waitingBookings: ['gateway.bookings.waiting', '{booking}'],
  cooldowns: ['gateway.cooldowns', '{endpoint}'],
  waitingRecords: ['gateway.records.waiting', '{record}'],
} as const satisfies Partial<Record<keyof GatewayState, readonly [string, string]>>;

/**
 * Measures the open work of a gateway whenever metrics are collected: `observeState(api, gateway)`.
 * @returns a function that ends it, to be called before the gateway is closed
 */
export function observeState(
  { metrics }: { readonly metrics: { getMeter(name: string): OtelMeter } },
  gateway: Pick<Gateway, 'state' | 'budgets'>,
  { budgetsOf = [] }: ObserveStateOptions = {},
): () => void {
  const meter = metrics.getMeter('model-gateway');
  const states = Object.entries(gauges).map(
    ([name, [metric, unit]]) => [name as keyof typeof gauges, meter.createObservableGauge(metric, { unit })] as const,
  );
  const dropped = meter.createObservableCounter('gateway.records.dropped', { unit: '{record}' });
  const remaining = meter.createObservableGauge('gateway.budget.remaining', { unit: 'USD' });
  const held = meter.createObservableGauge('gateway.budget.held', { unit: 'USD' });
  const up = meter.createObservableGauge('gateway.provider.up', { unit: '1' });

  const read: OtelBatchCallback = async (result) => {
    const state = gateway.state();
    for (const [name, gauge] of states) result.observe(gauge, state[name]);
    result.observe(dropped, state.droppedRecords);
    for (const { provider, isUp } of state.healthChecks)
      result.observe(up, isUp ? 1 : 0, { 'gen_ai.provider.name': providerNameOf(provider) });
    await Promise.all(
      budgetsOf.map(async (id) => {
        for (const budget of await budgetsIn(gateway, id)) {
          const labels = {
            'gateway.workspace.id': budget.workspace_id,
            'gateway.budget.interval': budget.reset_interval ?? 'lifetime',
          };
          result.observe(remaining, budget.remaining_usd, labels);
          result.observe(held, budget.held_usd, labels);
        }
      }),
    );
  };
  const instruments: OtelObservable[] = [...states.map(([, gauge]) => gauge), dropped, remaining, held, up];
  meter.addBatchObservableCallback(read, instruments);
  return () => meter.removeBatchObservableCallback(read, instruments);
}

type Budget = Awaited<ReturnType<Gateway['budgets']['list']>>['data'][number];

/** Telemetry fails open: a workspace that is gone, or a store that is away, has no values. */
async function budgetsIn(gateway: Pick<Gateway, 'budgets'>, id: string): Promise<readonly Budget[]> {
  try {
    return (await gateway.budgets.list({ id })).data;
  } catch {
    return [];
  }
}

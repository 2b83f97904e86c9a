import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { Keyv } from 'keyv';
import { describe, expect, it, vi } from 'vitest';
import { observeState } from '../../adapters/otel/otel.ts';
import type { GatewayOptions } from '../../src/index.ts';
import { hello, nextTurn, testGateway } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

/** A gateway whose state the real SDK measures. */
function measured(budgetsOf: string[] = [], options: Partial<GatewayOptions> = {}) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })],
  });
  const test = testGateway(options);
  const end = observeState({ metrics: meters }, test.gateway, { budgetsOf });
  return {
    ...test,
    end,
    /** By metric and labels. */
    async values() {
      exporter.reset();
      await test.run(meters.forceFlush());
      const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
      return Object.fromEntries(
        metrics.flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => [
            [descriptor.name, ...Object.values(attributes)].join(' '),
            value as number,
          ]),
        ),
      );
    },
  };
}

describe('what a gateway has open', () => {
  it('is nothing at first', async () => {
    const { gateway, values } = measured();
    expect(gateway.state()).toEqual({
      requestsInFlight: 0,
      holds: 0,
      waitingBookings: 0,
      cooldowns: 0,
      inCooldown: [],
      healthChecks: [],
      waitingRecords: 0,
      droppedRecords: 0,
    });
    expect(await values()).toEqual({
      'gateway.requests.in_flight': 0,
      'gateway.holds': 0,
      'gateway.bookings.waiting': 0,
      'gateway.cooldowns': 0,
      'gateway.records.waiting': 0,
      'gateway.records.dropped': 0,
    });
  });

  it('shows for each server with a health check whether it is up', async () => {
    const servers = { up: { baseUrl: 'https://up.test/v1' }, checked: { baseUrl: 'https://checked.test/v1' } };
    const { values, clock, gateway } = measured([], {
      providers: { ...servers, checked: { ...servers.checked, healthCheck: { failures: 1 } } },
      models: [],
      transport: { send: () => Promise.reject(new Error('no')) },
    });
    const shown = async () => Object.entries(await values()).filter(([name]) => name.startsWith('gateway.provider.up'));
    expect(await shown()).toEqual([['gateway.provider.up checked', 1]]);
    await clock.advance(0);
    expect(await shown()).toEqual([['gateway.provider.up checked', 0]]);
    await gateway.close();
  });

  it('are requests and holds until their response has been read', async () => {
    const { send, run, call, upstream, values } = measured(['default']);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    upstream.always({ body: textStream('Hello') });
    const response = await run(send({ ...ask, stream: true }));
    const open = await values();
    expect(open).toMatchObject({ 'gateway.requests.in_flight': 1, 'gateway.holds': 1 });
    const held = Object.entries(open).find(([name]) => /^gateway\.budget\.held \S+ daily$/.test(name));
    expect(held?.[1]).toBeGreaterThan(0);
    await run(response.text());
    const after = await values();
    expect(after).toMatchObject({ 'gateway.requests.in_flight': 0, 'gateway.holds': 0 });
    const left = Object.entries(after).find(([name]) => /^gateway\.budget\.remaining \S+ daily$/.test(name));
    expect(left?.[1]).toBeGreaterThan(0.9);
    expect(left?.[1]).toBeLessThan(1);
  });

  it('are endpoints in cooldown, until it is over', async () => {
    const { post, upstream, clock, gateway } = measured();
    upstream.always({ status: 401, body: errorBody('no such key') });
    await post(ask);
    expect(gateway.state().cooldowns).toBe(1);
    await clock.advance(3_600_000);
    expect(gateway.state().cooldowns).toBe(0);
  });

  it('are records that the store has not taken', async () => {
    const values = new Map<string, unknown>();
    let isDown = false;
    const store = {
      opts: {},
      on: () => store,
      get: async (key: string) => values.get(key),
      set: async (key: string, value: unknown) => {
        if (isDown) throw new Error('down');
        values.set(key, value);
        return true;
      },
      delete: async (key: string) => values.delete(key),
      clear: async () => values.clear(),
    };
    const options = { store: new Keyv({ store }), records: { enabled: true } };
    const { post, upstream, gateway } = measured([], options as never);
    upstream.always({ body: completion() });
    await post(ask);
    isDown = true;
    await post(ask);
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    const { waitingRecords, droppedRecords } = gateway.state();
    expect(waitingRecords + droppedRecords).toBeGreaterThan(0);
  });

  it('has no budgets of a workspace that is not there, and is not looked at any more once that was ended', async () => {
    const { values, end, gateway } = measured(['no-such-workspace']);
    expect(Object.keys(await values()).filter((name) => name.startsWith('gateway.budget'))).toEqual([]);
    const state = vi.spyOn(gateway, 'state');
    await values();
    expect(state).toHaveBeenCalledTimes(1);
    end();
    await values();
    expect(state).toHaveBeenCalledTimes(1);
  });
});

import { describe, expect, it } from 'vitest';
import { openTelemetry } from '../../adapters/otel/otel.ts';
import type { GatewayOptions, Recorder } from '../../src/index.ts';
import { testGateway } from '../support/gateway.ts';
import { traced } from '../support/traced.ts';

const both = { is_observability_io_logging_enabled: true, is_observability_broadcast_enabled: true };
const silent = () => undefined;

/** A gateway, and what it has warned of. */
function warned(options: Partial<GatewayOptions>) {
  const warnings: string[] = [];
  const warn = (_: object, text: string) => void warnings.push(text);
  const { call } = testGateway({
    onRecord: undefined,
    ...options,
    logger: { info: silent, warn, error: silent },
  });
  return { call, warnings };
}

const recorderThat = (broadcast?: () => null): Recorder => openTelemetry(traced().used, broadcast && { broadcast });

describe('a switch that needs what the gateway lacks', () => {
  it('is stored, and the logger is told that it has no effect', async () => {
    const { call, warnings } = warned({});
    const changed = await call('PATCH', '/workspaces/default', both);
    expect(changed.json.data).toMatchObject(both);
    expect(warnings).toEqual([
      'is_observability_io_logging_enabled has no effect here: it needs records.enabled',
      'is_observability_broadcast_enabled has no effect here: it needs the option broadcast of openTelemetry',
    ]);
    warnings.length = 0;
    await call('POST', '/workspaces', { name: 'New', slug: 'new', is_observability_io_logging_enabled: true });
    expect(warnings).toHaveLength(1);
  });
  it('is not spoken of where it is turned off, left alone, or acts', async () => {
    const off = warned({});
    await off.call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: false, name: 'Other' });
    const acting = warned({ records: { enabled: true }, onRecord: recorderThat(() => null) });
    await acting.call('PATCH', '/workspaces/default', both);
    // What the host app's own function does is not known.
    const own = warned({ records: { enabled: true }, onRecord: silent });
    await own.call('PATCH', '/workspaces/default', both);
    expect([off.warnings, acting.warnings, own.warnings]).toEqual([[], [], []]);
  });
  it('is spoken of where openTelemetry has no tracer for workspaces', async () => {
    const { call, warnings } = warned({ onRecord: recorderThat() });
    await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
    expect(warnings).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { GatewayError, isGatewayError } from '../../../src/base/errors.ts';
import { UpstreamError } from '../../../src/base/http/upstream-error.ts';

describe('a gateway error', () => {
  it('has the status and type of its kind, or a narrower type', () => {
    expect(new GatewayError('overloaded', 'x')).toMatchObject({
      status: 529,
      errorType: 'provider_overloaded',
      name: 'GatewayError',
    });
    expect(new GatewayError('invalid_request', 'x', { errorType: 'context_length_exceeded' })).toMatchObject({
      status: 400,
      errorType: 'context_length_exceeded',
    });
  });
  it('is known by its brand, also from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('model-gateway.GatewayError')]: true });
    expect([isGatewayError(new GatewayError('internal', 'x')), isGatewayError(foreign)]).toEqual([true, true]);
    for (const other of [new Error('x'), null, undefined, 'x', { status: 400 }])
      expect(isGatewayError(other)).toBe(false);
  });
});

describe('an upstream error', () => {
  it.each([
    [400, 'caller'],
    [404, 'caller'],
    [413, 'caller'],
    [422, 'caller'],
    [451, 'caller'],
    [401, 'operator'],
    [402, 'operator'],
    [403, 'operator'],
    [302, 'transient'],
    [408, 'transient'],
    [425, 'transient'],
    [429, 'transient'],
    [500, 'transient'],
    [503, 'transient'],
    [529, 'transient'],
  ] as const)('of status %i is the fault of %s', (status, fault) => {
    expect(new UpstreamError('x', { reason: 'status', status }).fault).toBe(fault);
  });
  it.each(['network', 'timeout', 'bad_response'] as const)('of reason %s may pass by itself', (reason) => {
    expect(new UpstreamError('x', { reason, status: 400 }).fault).toBe('transient');
  });
});

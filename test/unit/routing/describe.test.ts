import { expect, it } from 'vitest';
import type { Endpoint } from '../../../src/call/model.ts';
import type { Plan, Target } from '../../../src/call/plan.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { describeRoute } from '../../../src/routing/describe.ts';

const targetAt = (endpoint: Endpoint, isByok: boolean): Target => ({
  endpoint,
  providerName: endpoint.providerSlug,
  credential: { kind: 'operator', provider: endpoint.providerSlug },
  isByok,
  workspaceId: defaultWorkspaceId,
  modelIndex: 0,
});

it.each([1, 3, 6, 7, 40])('shows each of %i endpoints once, though each is tried with two credentials', (count) => {
  const endpoints = Array.from(
    { length: count },
    (_, at) => ({ providerSlug: `p${at}`, modelSlug: 'm', tag: `p${at}` }) as Endpoint,
  );
  const targets = [...endpoints.map((one) => targetAt(one, true)), ...endpoints.map((one) => targetAt(one, false))];
  const plan: Plan = { requested: 'm', strategy: 'direct', targets, excluded: [], router: null };
  const shown = describeRoute([{ plan, target: targets[count] ?? null, attempts: [] }], [], null);
  expect(shown.endpoints.total).toBe(count);
  expect(shown.endpoints.available.map(({ provider, selected }) => [provider, selected])).toEqual(
    endpoints.map(({ providerSlug }, at) => [providerSlug, at === 0]),
  );
  expect(shown.summary).toBe(`available=${count}, selected=p0`);
});

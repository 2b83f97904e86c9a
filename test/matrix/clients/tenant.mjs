// A workspace with a budget and a stored key, made as its operator does.
import { deepEqual, equal, match } from 'node:assert/strict';
import { managementKey } from './service.mjs';

/** Enough for any of the sandbox's answers. */
const largeUsd = 1000;
/** Less than any answer costs. */
const smallUsd = 0.000001;

/** Of a lifetime, so that midnight changes nothing. @returns its key, and `spend`, after which the budget is less than what was spent of it */
export async function makeTenant({ gateway }) {
  async function manage(method, path, body) {
    const response = await gateway.fetch(`http://in-process/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    equal(response.ok, true, JSON.stringify(answer));
    return answer;
  }
  const slug = `tenant-${crypto.randomUUID().slice(0, 8)}`;
  const { data } = await manage('POST', '/workspaces', { name: 'Tenant', slug });
  const setBudget = (usd) => manage('PUT', `/workspaces/${data.id}/budgets/lifetime`, { limit_usd: usd });
  await setBudget(largeUsd);
  const { key } = await manage('POST', '/keys', { name: 'Tenant', workspace_id: data.id });
  return { apiKey: key, workspaceId: data.id, spend: () => setBudget(smallUsd) };
}

/** Why a request beyond the budget was refused, by a body's `error` or what a client makes of it. */
export function checkRefusal({ code, message, metadata }) {
  equal(code, 402);
  match(message, /the lifetime budget of this workspace does not cover/);
  const { scope, interval, limit_usd: limit, spent_usd: spent, held_usd: held } = metadata;
  deepEqual([scope, interval, limit, spent > smallUsd, held], ['workspace', 'lifetime', smallUsd, true, 0]);
}

/** The gateway has seen the refused request once: its client did not ask again, whatever its retries are set to. */
export async function checkAskedOnce(service) {
  const { status, attempts } = await service.nextRecord();
  deepEqual([status, attempts.length, service.recordsLeft()], [402, 0, 0]);
}

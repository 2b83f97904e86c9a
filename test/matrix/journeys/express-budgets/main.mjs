// Budgets for the users of an Express app. Each user is a workspace, because a budget is for a workspace.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import express from 'express';
import { createGateway } from 'model-gateway';
import { gatewayMiddleware } from 'model-gateway/express';
import OpenAI from 'openai';

const gateway = createGateway({ providers: { sandbox: {} }, authenticate: 'host' });
/** Session to user; a user gets a workspace and a budget at the first sign-in. */
const users = new Map();
async function signIn(session, userId, dailyUsd) {
  const { data: workspace } = await gateway.workspaces.create({ name: userId, slug: `user-${userId}` });
  await gateway.budgets.put({ id: workspace.id, interval: 'daily', limit_usd: dailyUsd });
  users.set(session, { userId, workspaceId: workspace.id, permissions: ['inference'] });
}

const app = express();
app.use(express.json());
app.use('/v1', gatewayMiddleware(gateway, { caller: (req) => users.get(req.headers['x-session']) ?? null }));
app.get('/spent', async (req, res) => {
  const { workspaceId } = users.get(req.headers['x-session']);
  res.json((await gateway.budgets.list({ id: workspaceId })).data);
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

await signIn('s-ada', 'ada', 0.001);
await signIn('s-bob', 'bob', 1);
const clientOf = (session) =>
  new OpenAI({ apiKey: 'unused', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: { 'x-session': session } });
const ask = (session, more = {}) =>
  clientOf(session).chat.completions.create({
    model: 'sandbox/expensive',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  });

assert.equal((await ask('s-bob')).choices[0].finish_reason, 'stop');
await assert.rejects(ask('s-ada'), { status: 402 });
await assert.rejects(ask('s-nobody'), { status: 401 });
// Ada has money for small things.
assert.match((await ask('s-ada', { model: 'sandbox/echo', max_tokens: 20 })).choices[0].message.content, /Hi/);
const [budget] = await (await fetch(`${url}/spent`, { headers: { 'x-session': 's-bob' } })).json();
assert.ok(budget.spent_usd > 0 && budget.spent_usd < 1, JSON.stringify(budget));
// Bob's four requests at once: what does not fit is refused, so that the budget is never exceeded.
await gateway.budgets.put({ id: 'user-bob', interval: 'daily', limit_usd: budget.spent_usd + 0.45 });
const results = await Promise.allSettled([1, 2, 3, 4].map(() => ask('s-bob', { stream: false })));
const served = results.filter(({ status }) => status === 'fulfilled').length;
assert.ok(served >= 1 && served < 4, `served ${served}`);
const [after] = await (await fetch(`${url}/spent`, { headers: { 'x-session': 's-bob' } })).json();
assert.ok(after.spent_usd <= after.limit_usd, JSON.stringify(after));
server.close();
await gateway.close();

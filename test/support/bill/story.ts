import 'keyv';
import '../../../src/catalog/snapshot.ts';
import { Keyv } from 'keyv';
import { limitToNano } from '../../../src/base/money.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { generationOf } from '../../../src/telemetry/records/generation-of.ts';
import { drive, nextTurn } from '../gateway.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';
import { windowsOf } from '../race/books.ts';
import { randomFrom } from '../race/random.ts';
import { type BillItem, billingUpstream, seedMessage } from './upstream.ts';
import { billProviders, byokProvider, type Draw, drawFrom, drawWorld, type World } from './world.ts';

const byokKey = 'sk-brought-by-the-workspace-0123456789';
const managementKey = 'sk-bill-management-0123456789';
const requestsEach = 12;
/** Requests arrive in this time. */
const arrivalMs = 90_000;

/** What became of a world. */
export interface Outcome {
  /** What should not have happened. */
  wrong: string[];
  /** How many requests ended with which status; 0: the client left before the headers. */
  statuses: Record<number, number>;
  /** Situations that the seeds are there for, by name. */
  met: Record<string, number>;
}

interface Workspace {
  id: WorkspaceId;
  key: string;
  hash: string;
  limits: { daily: number; lifetime: number };
}

/**
 * Two gateways on one store serve the requests of two workspaces, through providers that keep a bill of their own.
 * Asserts the promise about money: the true bill ≤ booked ≤ limit, or the request was refused.
 */
export async function playWorld(seed: number): Promise<Outcome> {
  const draw = drawFrom(randomFrom(seed));
  const world = drawWorld(draw);
  const clock = manualClock(Date.UTC(2091, 0, 1, 6));
  const store = new Keyv({ store: new Map() });
  const records: RequestRecord[] = [];
  const upstream = billingUpstream(world, seed, clock, ({ headers }) => JSON.stringify(headers).includes(byokKey));
  const open = () => openGateway(world, { store, clock, transport: upstream, onRecord: (one) => records.push(one) });
  const gateways: Gateway[] = [open(), open()];
  const outcome: Outcome = { wrong: [], statuses: {}, met: {} };

  const workspaces: Workspace[] = [];
  for (const limits of world.limits)
    workspaces.push(await drive(clock, newWorkspace(gateways[0] as Gateway, limits, workspaces.length === 1)));

  const playing: Promise<void>[] = [];
  for (let at = 0; at < requestsEach; at++) {
    const arrivesMs = draw.upTo(arrivalMs);
    const requestDraw = drawFrom(randomFrom(seed * 1_000 + at));
    const workspace = draw.oneOf(workspaces as [Workspace, ...Workspace[]]);
    const which = draw.upTo(1);
    playing.push(
      new Promise<void>((resolve) => clock.after(arrivesMs, resolve)).then(async () => {
        const request = drawRequest(requestDraw, world, at);
        const status = await play(gateways[which] as Gateway, request, workspace, requestDraw, clock);
        outcome.met[request.path] = (outcome.met[request.path] ?? 0) + (status === 200 ? 1 : 0);
        outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
        if (status === 500) outcome.wrong.push(`request ${at} got 500`);
      }),
    );
  }
  // One instance is closed in the middle, as for a new version, and its place is taken by another.
  const replaced = draw.isTrue(0.3)
    ? new Promise<void>((resolve) => clock.after(draw.upTo(arrivalMs), resolve)).then(async () => {
        const old = gateways[0] as Gateway;
        gateways[0] = open();
        await old.close();
      })
    : null;
  await clock.until(Promise.all([...playing, replaced]));
  // Longer than every time-out, and than a lease.
  await clock.advance(600_000);
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  await clock.advance(120_000);
  await audit(outcome, { workspaces, records, bill: upstream.bill, store, clock });
  for (const gateway of gateways) await clock.until(gateway.close());
  return outcome;
}

interface Books {
  workspaces: readonly Workspace[];
  records: readonly RequestRecord[];
  bill: readonly BillItem[];
  store: Keyv;
  clock: ManualClock;
}

async function audit(outcome: Outcome, { workspaces, records, bill, store, clock }: Books): Promise<void> {
  const note = (what: string) => outcome.wrong.push(what);
  const meet = (what: string) => {
    outcome.met[what] = (outcome.met[what] ?? 0) + 1;
  };
  const bySeed = Map.groupBy(bill, ({ seed }) => seed);
  const booked = new Map<string, number>();
  const billed = new Map<string, number>();
  for (const record of records) {
    const seed = Number(record.sessionId?.replace('seed-', ''));
    const items = bySeed.get(seed) ?? [];
    bySeed.delete(seed);
    const trueNanoUsd = items.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
    const costNanoUsd = record.costNanoUsd ?? 0;
    const told = `request ${seed} (${record.outcome} ${record.status}, held ${record.heldNanoUsd})`;
    const stories = items.map(({ story, nanoUsd }) => `${nanoUsd}: ${story}`).join('; ');
    const isByok = record.attempts.some((attempt) => attempt.isByok);
    // What goes through the workspace's own credential counts against no limit.
    if (trueNanoUsd > costNanoUsd && !isByok)
      note(`${told} booked ${costNanoUsd}, its bill is ${trueNanoUsd}: ${stories}`);
    const parts = Object.values(generationOf(record).cost_parts_nano_usd ?? {});
    const inParts = parts.reduce((sum, nanoUsd) => sum + nanoUsd, 0);
    if (inParts !== costNanoUsd) note(`${told} booked ${costNanoUsd}, and its parts are ${parts.join(' + ')}`);
    if (costNanoUsd > record.heldNanoUsd && !isByok) note(`${told} booked ${costNanoUsd}: ${stories}`);
    booked.set(record.workspaceId, (booked.get(record.workspaceId) ?? 0) + costNanoUsd);
    const ofOperator = items.reduce((sum, one) => sum + (one.isByok ? 0 : one.nanoUsd), 0);
    billed.set(record.workspaceId, (billed.get(record.workspaceId) ?? 0) + ofOperator);
    if (isByok) meet('byok');
    if (items.some(({ story }) => story.includes('in Responses'))) meet('billed in Responses');
    if (items.length > 1) meet('several attempts billed');
    if (record.outcome === 'cancelled' && items.length > 0) meet('billed after the client left');
    if (record.outcome === 'cut') meet('cut');
    if (record.isEstimated) meet('estimated');
    if (trueNanoUsd > 0 && trueNanoUsd === costNanoUsd) meet('booked to the nano-dollar');
    if (record.status === 402) meet('refused for money');
    if (record.status === 408 || record.status === 524 || record.status === 504) meet('timed out');
  }
  for (const [seed, items] of bySeed) {
    const nanoUsd = items.reduce((sum, one) => sum + one.nanoUsd, 0);
    if (nanoUsd > 0) note(`request ${seed} has no record, its bill is ${nanoUsd}`);
  }
  const storage = chooseStorage(store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
  for (const { id, limits } of workspaces) {
    const windows = windowsOf({ keys: [] }, [clock.now()]);
    let states = await storage.ledger.read(id, windows);
    // The last settlements may still be on their way to the file: what is written knows no clock of ours.
    for (let turn = 0; turn < 2_000 && states.some(({ heldNanoUsd }) => heldNanoUsd !== 0); turn++) {
      await nextTurn();
      states = await storage.ledger.read(id, windows);
    }
    for (const [at, { spentNanoUsd, heldNanoUsd }] of states.entries()) {
      const interval = windows[at]?.interval as keyof typeof limits;
      const limitNanoUsd = limitToNano(limits[interval] ?? 1e6) as number;
      if (heldNanoUsd !== 0) note(`${heldNanoUsd} stay held, ${interval}`);
      if (spentNanoUsd > limitNanoUsd) note(`${spentNanoUsd} spent of ${limitNanoUsd}, ${interval}`);
    }
    const lifetimeNanoUsd = states[windows.findIndex(({ interval }) => interval === 'lifetime')]?.spentNanoUsd ?? 0;
    if (lifetimeNanoUsd > (booked.get(id) ?? 0)) note(`${lifetimeNanoUsd} in the books, ${booked.get(id)} in records`);
    const trueNanoUsd = billed.get(id) ?? 0;
    if (trueNanoUsd > lifetimeNanoUsd) note(`${lifetimeNanoUsd} in the books, ${trueNanoUsd} on the bill`);
  }
}

function openGateway(
  world: World,
  shared: Required<Pick<Parameters<typeof createGateway>[0], 'store' | 'clock' | 'transport' | 'onRecord'>>,
): Gateway {
  return createGateway({
    ...shared,
    providers: Object.fromEntries(
      billProviders.map((name) => [
        name,
        {
          apiKey: `sk-operator-${name}-0123456789`,
          ...(name === byokProvider ? {} : { baseUrl: `https://${name}.test/v1` }),
          ...(name === 'south' && world.southSpeaksResponses ? { dialect: 'openai-responses' as const } : {}),
        },
      ]),
    ),
    models: world.models as never,
    catalog: { builtInModels: false },
    apiKeys: [{ key: managementKey, permissions: ['management'] }],
    secrets: { current: 'a master secret of the tests, which is long enough' },
    budgets: world.budgets,
    timeouts: world.timeouts,
    retry: world.retry,
    hedge: world.hedge,
    health: { failuresToCooldown: 1_000 },
    random: () => 0.5,
  });
}

async function newWorkspace(
  gateway: Gateway,
  limits: Workspace['limits'],
  bringsCredential: boolean,
): Promise<Workspace> {
  const manage = async (method: string, path: string, body: object) => {
    const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const slug = `bill-${bringsCredential ? 'own' : 'operator'}`;
  const { data } = await manage('POST', '/workspaces', { name: slug, slug });
  for (const [interval, limit_usd] of Object.entries(limits))
    await manage('PUT', `/workspaces/${data.id}/budgets/${interval}`, { limit_usd });
  if (bringsCredential) await manage('POST', '/byok', { provider: byokProvider, key: byokKey, workspace_id: data.id });
  const made = await manage('POST', '/keys', { name: slug, workspace_id: data.id });
  return { id: parseWorkspaceId(data.id) as WorkspaceId, key: made.key, hash: made.data.hash, limits };
}

/** A request to one of the operations that call a model. */
interface Asking {
  path: string;
  body: Record<string, unknown>;
}

/** The same conversation to any of the operations: money knows no difference. */
function drawRequest(draw: Draw, world: World, seed: number): Asking {
  const chat = drawChat(draw, world, seed);
  const path = draw.oneOf(['/chat/completions', '/chat/completions', '/responses', '/responses', '/responses/compact']);
  return { path, body: path === '/chat/completions' ? chat : asResponses(draw, chat) };
}

function asResponses(draw: Draw, { messages, max_tokens, n: _n, ...fields }: DrawnChat): Record<string, unknown> {
  const parts = (content: ChatContent) =>
    typeof content === 'string'
      ? content
      : content.map(({ text, image_url: image }) =>
          image ? { type: 'input_image', image_url: image.url, detail: image.detail } : { type: 'input_text', text },
        );
  const text = 'what it does '.repeat(draw.upTo(200));
  return {
    ...fields,
    input: messages.map(({ role, content }) => ({ type: 'message', role, content: parts(content) })),
    ...(draw.isTrue(0.4) ? { instructions: text } : {}),
    ...(draw.isTrue(0.4) ? { tools: [{ type: 'custom', name: 'patch', description: text }] } : {}),
    ...(max_tokens === undefined ? {} : { max_output_tokens: max_tokens }),
  };
}

type ChatContent = string | { type: string; text?: string; image_url?: { url: string; detail: string } }[];

interface DrawnChat extends Record<string, unknown> {
  messages: { role: string; content: ChatContent }[];
  max_tokens?: number;
}

function drawChat(draw: Draw, { models }: World, seed: number): DrawnChat {
  const image = { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: draw.oneOf(['low', 'high']) } };
  const text = `${seedMessage(seed)} ${'some text '.repeat(draw.upTo(draw.isTrue(0.3) ? 3_000 : 60))}`;
  const slugs = models.map(({ slug }) => slug) as [string, ...string[]];
  return {
    model: draw.oneOf(slugs),
    ...(draw.isTrue(0.3) ? { models: [draw.oneOf(slugs)] } : {}),
    messages: [
      { role: 'user', content: draw.isTrue(0.2) ? [{ type: 'text', text }, image] : text },
      ...(draw.isTrue(0.3) ? [{ role: 'assistant', content: 'Yes.' }] : []),
      { role: 'user', content: 'Go on, and say it in your own words.' },
    ],
    session_id: `seed-${seed}`,
    stream: draw.isTrue(0.5),
    ...(draw.isTrue(0.6) ? { max_tokens: 1 + draw.upTo(3_000) } : {}),
    ...(draw.isTrue(0.1) ? { n: 2 } : {}),
  };
}

/** Sends the request, and leaves at some moment in some way. @returns the status; 0: it left before the headers */
async function play(
  gateway: Gateway,
  { path, body }: Asking,
  { key }: Workspace,
  draw: Draw,
  clock: ManualClock,
): Promise<number> {
  const client = new AbortController();
  const how = draw.isTrue(0.5) ? 'stays' : draw.oneOf(['aborts', 'aborts', 'cancels', 'stops reading']);
  const leavesMs = draw.upTo(draw.oneOf([100, 3_000, 30_000]));
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let hasLeft = false;
  if (how !== 'stays')
    clock.after(leavesMs, () => {
      hasLeft = true;
      if (how === 'aborts') client.abort();
      else if (how === 'cancels') reader?.cancel().catch(() => undefined);
    });
  let status = 0;
  try {
    const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: client.signal,
    });
    status = response.status;
    reader = response.body?.getReader();
    while (reader !== undefined && !(hasLeft && how === 'stops reading')) if ((await reader.read()).done) break;
  } catch (error) {
    if (!hasLeft && status === 0) throw error;
  }
  return status;
}

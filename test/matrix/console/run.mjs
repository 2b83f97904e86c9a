// The console in a real browser: the packed package in Express, under helmet, behind a proxy that changes its path. With
// CONSOLE_PICTURES=folder it also takes the pictures of the docs.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { check, equal } from '../essentials-support.mjs';
import { findChromium } from './find-chromium.mjs';

const executablePath = findChromium();
if (executablePath === null) {
  process.stdout.write(
    'THE CONSOLE IS NOT TESTED: there is no Chromium here. Install chromium, or set CHROMIUM_PATH.\n',
  );
  process.stdout.write('# console: 0 passed, 0 failed, 1 skipped\n');
  process.exit(0);
}
const { chromium } = await import('playwright-core');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { key, start } = await import('./seeded.mjs');
const counts = { passed: 0, failed: 0 };
const pictures = process.env.CONSOLE_PICTURES;
const pages = [
  'overview',
  'requests',
  'endpoints',
  'models',
  'budgets',
  'keys',
  'credentials',
  'guardrails',
  'workspaces',
  'playground',
  'audit',
  'reference',
];

/** Runs one test, and reports a failure without ending the others. */
async function test(name, work) {
  const startMs = Date.now();
  try {
    await work();
    counts.passed++;
    process.stdout.write(`ok ${name} (${Date.now() - startMs} ms)\n`);
  } catch (error) {
    counts.failed++;
    process.stdout.write(`FAILED ${name}: ${error.stack}\n`);
  }
}

const seeded = await start();
const { origin, base, chat, unsteady } = seeded;
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const browser = await chromium.launch({
  executablePath,
  args: [...flags, '--disable-component-update', '--disable-sync'],
});

/**
 * Opens a page and gives it to a test. Whatever the browser reports as an error fails the test; refusals of the policy
 * are such errors.
 * @param mayRefuse  true: the test makes the server refuse something, which a browser reports too
 */
async function withPage({ width = 1280, theme = 'light', mayRefuse = false, cookies = [] }, work) {
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: theme,
    acceptDownloads: true,
    timezoneId: 'UTC',
  });
  await context.addCookies(cookies);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const errors = [];
  page.on('console', (message) => {
    const isRefused = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !(mayRefuse && isRefused)) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.stack));
  await page.addInitScript(() => {
    globalThis.refusedByPolicy = [];
    addEventListener('securitypolicyviolation', (event) =>
      globalThis.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  try {
    await work(page, context);
    errors.push(...(await page.evaluate(() => globalThis.refusedByPolicy)));
    equal(errors.join('\n'), '', 'what the browser reports');
  } finally {
    await context.close();
  }
}

async function signIn(page, at = base) {
  await page.goto(`${at}/`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Opens one of the pages, and waits until it is shown and has loaded. */
async function open(page, place, at = base) {
  await page.goto(`${at}/#/${place}`);
  const [name] = place.split(/[/?]/);
  await page.waitForFunction(
    (wanted) => {
      const main = document.querySelector('main');
      return main?.querySelector('h1')?.textContent.toLowerCase() === wanted && !main.textContent.includes('Loading …');
    },
    name === 'request' ? 'one request' : name,
  );
}

async function checkLayout(page, place) {
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  equal(tooWide, 0, `pixels by which ${place} is too wide`);
}

async function checkAccess(page, place) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run());
  const lines = found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html }) => html)
        .slice(0, 3)
        .join(' | ')}`,
  );
  equal(lines.join('\n'), '', `what axe finds on ${place}`);
}

async function takePicture(page, name, fullPage = false) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(pictures, `console-${name}.png`), fullPage });
}

await test('a key signs in, and out again', () =>
  withPage({ mayRefuse: true }, async (page, context) => {
    await page.goto(`${base}/`);
    await checkAccess(page, 'the sign-in');
    await page.getByLabel('API key').fill('sk-wrong-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await signIn(page);
    const [cookie] = await context.cookies();
    equal(cookie.path, '/admin/gw', 'the path of the cookie');
    check(cookie.httpOnly && cookie.sameSite === 'Strict', 'no script and no other site gets the cookie');
    equal(await page.evaluate(() => document.cookie), '', 'what scripts see of it');
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    equal((await context.cookies()).length, 0, 'the number of cookies after signing out');
  }));

const id = await chat('sandbox/error-503', key, {
  models: ['sandbox/error-503', 'acme/large'],
  user: 'ann',
  plugins: [{ id: 'glossary' }],
});
for (const theme of ['light', 'dark'])
  for (const width of [1280, 820, 390])
    await test(`every page fits ${width} pixels, ${theme}`, () =>
      withPage({ width, theme }, async (page) => {
        await signIn(page);
        for (const place of [...pages, `request/${id}`]) {
          await open(page, place);
          await checkLayout(page, place);
          if ((width === 1280) !== (theme === 'dark') && width !== 820) await checkAccess(page, place);
          if (width === 1280 && theme === 'light' && ['overview', 'budgets'].includes(place))
            await takePicture(page, place, place === 'budgets');
          if (width === 1280 && theme === 'light' && place.startsWith('request/'))
            await takePicture(page, 'request', true);
          if (width === 390 && theme === 'dark' && place === 'overview') await takePicture(page, 'phone');
        }
      }));

await test('a picture can be read as a table, and by the keyboard', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'overview');
    const card = page.locator('section.card', { hasText: 'Requests: ok and failed' });
    await card.locator('.chart').focus();
    await page.keyboard.press('ArrowLeft');
    await card.getByText(/ok: \d/).waitFor();
    await card.getByRole('button', { name: 'Table' }).click();
    check((await card.locator('tbody tr').count()) === 24, 'the table has a row for each hour');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('7d');
    await page.waitForURL(/range=7d/);
    await page.getByLabel('Theme').selectOption('dark');
    equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'the theme');
  }));

await test('filters are in the address, and hold after a reload', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'requests');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForURL(/outcome=failed/);
    await page.getByLabel('User').fill('ann');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/user=ann/);
    await page.reload();
    await page.locator('table .pill').first().waitFor();
    const outcomes = new Set(await page.locator('table .pill').allTextContents());
    equal([...outcomes].join(), 'failed', 'the outcomes that are listed');
    equal(await page.getByLabel('User').inputValue(), 'ann', 'the filter');
  }));

await test('the list is saved as CSV', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'requests?outcome=ok');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    check(lines[0].startsWith('id,created_at,outcome'), 'the first line names the columns');
    check(lines.length > 50 && lines.slice(1).every((line) => line.includes(',ok,')), 'each further line is a record');
  }));

await test('the live tail shows a request as it ends', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'requests?live=1');
    await page.getByText('Live: requests appear').waitFor();
    await chat('acme/small', key, { user: 'of-the-tail' });
    await page.getByRole('cell', { name: 'of-the-tail' }).waitFor();
  }));

await test('the live tail says how many requests it could not show', () =>
  withPage({}, async (page) => {
    await signIn(page);
    const body = 'event: dropped\ndata: {"dropped":1200}\n\n';
    await page.route('**/api/requests/stream*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await open(page, 'requests');
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText(/[1-9],[0-9]00 came faster than this page could read/).waitFor();
  }));

await test('the live tail connects again where it was refused, or leads to the sign-in', () =>
  withPage({ mayRefuse: true }, async (page, context) => {
    await signIn(page);
    await page.route('**/api/requests/stream*', (route) => route.fulfill({ status: 503 }));
    await open(page, 'requests?live=1');
    await page.getByText('Connecting again').waitFor();
    await page.unroute('**/api/requests/stream*');
    await page.getByText('Live: requests appear').waitFor();
    await page.route('**/api/requests/stream*', (route) => route.fulfill({ status: 401 }));
    await context.clearCookies();
    await page.reload();
    await signIn(page);
    await open(page, 'requests?live=1');
    await page.getByText('Connecting again').waitFor();
    await context.clearCookies();
    await page.getByLabel('API key').waitFor();
  }));

await test('one request shows its attempts, its money and its content', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'requests');
    await page.locator('tbody a').first().click();
    await page.getByRole('heading', { name: /^Waterfall: 1 generation, 1 attempt$/ }).waitFor();
    await open(page, `request/${id}`);
    await page.getByRole('heading', { name: 'Waterfall: 1 generation, 3 attempts' }).waitFor();
    await page.getByText('Tell me about waterfalls').waitFor();
    await page.getByText('Settled', { exact: true }).waitFor();
    const parts = page.getByRole('region', { name: 'Cost by part' });
    await parts.getByRole('cell', { name: 'Response' }).waitFor();
    const stages = page.getByRole('region', { name: 'Plugins, guardrails and tools' });
    await stages.getByRole('row', { name: /no-card-numbers.*before.*ms.*ok/ }).waitFor();
    const generations = page.getByRole('region', { name: 'Generations' });
    await generations.getByRole('row', { name: /acme\/large.*ok/ }).waitFor();
  }));

await test('a page that is opened while nobody sees it loads', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }));
    await open(page, `request/${id}`);
    await page.getByRole('heading', { name: id }).waitFor();
    const other = await chat('acme/small', key);
    await open(page, `request/${other}`);
    await page.getByRole('heading', { name: other }).waitFor();
  }));

await test('keys and budgets are made and deleted', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'keys');
    await page.getByLabel('Name').fill('For a test');
    await page.getByRole('button', { name: 'Make' }).click();
    const made = await page.locator('.note code').textContent();
    check(made.startsWith('sk-gw-'), 'the key is shown once');
    const row = page.getByRole('row', { name: /For a test/ });
    await row.getByRole('button', { name: 'Disable' }).click();
    await row.getByText('disabled').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await row.getByRole('button', { name: 'Delete For a test' }).click();
    await row.waitFor({ state: 'detached' });
    await open(page, 'budgets');
    await page.getByLabel('Interval').selectOption('weekly');
    await page.getByLabel('Limit in US dollars').fill('1');
    await page.getByRole('button', { name: 'Set' }).click();
    await page.getByRole('heading', { name: 'Weekly budget: $1.00' }).waitFor();
    const card = page.locator('section.card', { hasText: 'Weekly budget: $1.00' });
    await card.getByRole('button', { name: 'Delete' }).click();
    await card.getByRole('button', { name: 'Delete the weekly budget' }).click();
    await card.waitFor({ state: 'detached' });
    await open(page, 'audit');
    await page.getByText('deleteWorkspaceBudget').waitFor();
  }));

await test('guardrails are made, changed, imposed and deleted, and a mistake is told at its field', () =>
  withPage({ mayRefuse: true }, async (page) => {
    await signIn(page);
    await open(page, 'guardrails');
    await page.getByLabel('Name').fill('No addresses');
    await page.getByLabel('E-mail addresses').selectOption('redact');
    await page.getByLabel('Limit in US dollars').fill('3');
    await page.getByRole('button', { name: 'Make' }).click();
    const field = page.locator('label.field', { hasText: 'The limit starts anew' });
    await field.getByRole('alert').filter({ hasText: 'limit_usd' }).waitFor();
    await page.getByLabel('The limit starts anew').selectOption('daily');
    await page.getByRole('button', { name: 'Add a pattern' }).click();
    await page.getByLabel('It is').selectOption('regex');
    await page.getByLabel('Pattern 1', { exact: true }).fill('(');
    await page.getByRole('button', { name: 'Make' }).click();
    await page.locator('label.field', { hasText: 'Pattern 1' }).getByRole('alert').waitFor();
    await checkAccess(page, 'guardrails with a mistake');
    await page.locator('label.field', { hasText: 'Pattern 1' }).getByRole('textbox').fill('secret project');
    await takePicture(page, 'guardrails', true);
    await page.getByRole('button', { name: 'Make' }).click();
    const row = page.getByRole('row', { name: /No addresses/ });
    await row.getByText('email, content-filter').waitFor();
    await row.getByRole('button', { name: 'Impose' }).click();
    await row.getByText('every request').waitFor();
    await row.getByRole('button', { name: 'Lift' }).click();
    await row.getByText('keys it is assigned to').waitFor();
    await row.getByRole('button', { name: 'Edit No addresses' }).click();
    await page.getByLabel('Models that may be used').fill('acme/*');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('acme/*').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await row.getByRole('button', { name: 'Delete No addresses' }).click();
    await row.waitFor({ state: 'detached' });
  }));

await test('a refused write is told', () =>
  withPage({ mayRefuse: true }, async (page) => {
    await signIn(page);
    await open(page, 'workspaces');
    await page.getByLabel('Name').fill('Team A again');
    await page.getByLabel('Slug').fill('team-a');
    await page.getByRole('button', { name: 'Make' }).click();
    await page.getByRole('alert').filter({ hasText: 'team-a' }).waitFor();
  }));

await test('the playground streams, with the explanation beside it', () =>
  withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'playground');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('This is the sandbox').waitFor();
    await page.getByRole('link', { name: 'Its record' }).waitFor();
    await page.getByText('Endpoints, in the order of their turn').waitFor();
    await page.waitForTimeout(1_500);
    await takePicture(page, 'playground');
    await checkAccess(page, 'the playground with a response');
  }));

await test('a session that has ended leads to the sign-in', () =>
  withPage({ mayRefuse: true }, async (page) => {
    await signIn(page, `${origin}/short`);
    await page.waitForTimeout(2_100);
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByLabel('API key').waitFor();
  }));

await test('a store that is away leaves the last numbers, and says so', () =>
  withPage({ mayRefuse: true }, async (page) => {
    await (await unsteady.ask()).text();
    await signIn(page, `${origin}/unsteady`);
    await open(page, 'budgets', `${origin}/unsteady`);
    unsteady.state.isAway = true;
    await page.getByText('These numbers are from').first().waitFor({ timeout: 25_000 });
    unsteady.state.isAway = false;
    await page.getByRole('button', { name: 'Ask again' }).first().click();
    await page.getByText('These numbers are from').first().waitFor({ state: 'detached' });
  }));

await test('a gateway without records says how to keep them', () =>
  withPage({ mayRefuse: true }, async (page) => {
    await signIn(page, `${origin}/silent`);
    await page.getByText('records: { enabled: true }').first().waitFor();
    await checkLayout(page, 'the overview without records');
  }));

await test('the first steps lead from nothing to a request', () =>
  withPage({}, async (page) => {
    await signIn(page, `${origin}/console`);
    await page.getByLabel('Workspace').selectOption({ label: 'Team A' });
    await page.getByRole('heading', { name: '1. Providers' }).waitFor();
    await checkAccess(page, 'the first steps');
    await takePicture(page, 'first-steps');
    await page.getByRole('button', { name: 'Test Sandbox' }).click();
    await page.getByText(/^works: /).waitFor();
    await page.getByRole('link', { name: 'Ask a model in the playground' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
  }));

await test('a user of the host app sees what is for users', async () => {
  await withPage({}, async (page) => {
    await page.goto(`${origin}/of-users/`);
    await page.getByRole('link', { name: 'Sign in to the app' }).waitFor();
  });
  await withPage({ cookies: [{ name: 'user', value: 'ann', url: origin }] }, async (page) => {
    await page.goto(`${origin}/of-users/`);
    await page.getByRole('link', { name: 'Playground', exact: true }).waitFor();
    equal(await page.getByRole('link', { name: 'Keys' }).count(), 0, 'the number of links to what only managers see');
    await page.getByText('No request has come').or(page.getByText('1. Providers')).first().waitFor();
    await checkAccess(page, 'the overview of a user without requests');
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('link', { name: 'Its record' }).waitFor();
    // The list is read once, and a record is written a moment after its response.
    const written = () =>
      page.evaluate(async () => (await (await fetch('api/generations?limit=1')).json()).data.length);
    for (let tries = 0; tries < 100 && (await written()) === 0; tries++) await setTimeout(100);
    await page.getByRole('link', { name: 'Requests' }).first().click();
    await page.getByText('1 shown').waitFor();
    equal(
      await page.getByRole('button', { name: 'Live' }).count(),
      0,
      'the number of buttons that only managers may use',
    );
    await checkLayout(page, 'the page of a user');
    await checkAccess(page, 'the page of a user');
  });
});

await test('an address that nobody has made leads to the console', () =>
  withPage({}, async (page) => {
    await signIn(page);
    for (const place of ['%', 'requests/%E0%A4', '/evil.example', 'nothing?x=%']) {
      await page.goto(`${base}/#/${place}`);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.locator('main h1').waitFor();
    }
  }));

// The last one: its names would be in the pictures of the others.
await test('names as long as they may be leave room for everything else', async () => {
  const [long, markup] = ['n'.repeat(80), '<b>name</b>'];
  await seeded.makeNames(`${markup} ${long}`);
  const longest = await chat(seeded.longModel, key, { user: `${markup}${long}` });
  for (const width of [1280, 390])
    await withPage({ width, mayRefuse: true }, async (page) => {
      await signIn(page);
      for (const place of [...pages, `request/${longest}`]) {
        await open(page, place);
        await checkLayout(page, place);
        equal(await page.locator('main b').count(), 0, `elements that a name has made on ${place}`);
      }
      if (width === 390) return;
      await open(page, 'requests');
      const { x, width: wide } = await page.getByRole('columnheader', { name: 'Duration' }).boundingBox();
      check(x + wide < width, 'the columns behind a long name are seen');
    });
});

await test('lists that are longer than a page of the interface are whole', async () => {
  await seeded.makeMany(104);
  await withPage({}, async (page) => {
    await signIn(page);
    await open(page, 'workspaces');
    const title = page.getByRole('heading', { name: /^1\d\d workspaces$/ });
    await title.waitFor();
    const total = Number.parseInt(await title.textContent(), 10);
    check(total > 104, 'the number of workspaces is that of all');
    equal(await page.locator('tbody tr').count(), total, 'the number of workspaces that are listed');
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption({ label: 'Many 0' });
    await open(page, 'keys');
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption({ label: 'All' });
    await page.getByRole('link', { name: 'Many 0', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Many 103', exact: true }).waitFor();
  });
});

await browser.close();
await seeded.close();
process.stdout.write(`# console: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exit(counts.failed > 0 ? 1 : 0);

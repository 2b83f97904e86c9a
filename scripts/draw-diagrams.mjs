// `node scripts/draw-diagrams.mjs` draws the pictures of docs/img that show how things work. A test compares its
// output with the files. Plain text shapes, readable on light and on dark pages.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { root } from './paths.mjs';

const style = [
  'text{font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}',
  '.head{font-size:12px;font-weight:600;fill:#59636e}.strong{font-weight:600}.quiet{fill:#59636e;font-size:12px}',
  '.card{fill:#ffffff;stroke:#d1d9e0}.box{fill:#f6f8fa;stroke:#afb8c1}.group{fill:none;stroke:#0969da;stroke-dasharray:4 3}',
  '.name{fill:#0969da;font-size:12px;font-weight:600}.line{stroke:#59636e;fill:none}.tip{fill:#59636e}',
  '.spent{fill:#0969da}.held{fill:#d4a72c}.left{fill:#d1d9e0}',
  '@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.head,.quiet{fill:#9198a1}.card{fill:#0d1117;stroke:#3d444d}',
  '.box{fill:#151b23;stroke:#656c76}.group{stroke:#4493f8}.name{fill:#4493f8}.line{stroke:#9198a1}.tip{fill:#9198a1}',
  '.spent{fill:#4493f8}.held{fill:#d29922}.left{fill:#3d444d}}',
].join('');

/** Pixels of a character in a wide font, by the class of the text: what might not fit is a mistake of this script. */
const characterPx = { '': 7, strong: 8, head: 7.6, name: 7.4, quiet: 6.8 };

function text(x, y, content, { kind = '', room = Infinity } = {}) {
  const px = content.length * characterPx[kind];
  if (px > room) throw new Error(`"${content}" needs ${Math.ceil(px)} px and has ${room}`);
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped}</text>`;
}

const rect = (kind, x, y, width, height, radius = 5) =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>`;

function arrow(x1, y1, x2, y2) {
  const [dx, dy] = [Math.sign(x2 - x1), Math.sign(y2 - y1)];
  const tip =
    dy === 0
      ? `${x2},${y2} ${x2 - 7 * dx},${y2 - 4} ${x2 - 7 * dx},${y2 + 4}`
      : `${x2},${y2} ${x2 - 4},${y2 - 7 * dy} ${x2 + 4},${y2 - 7 * dy}`;
  return `<path class="line" d="M${x1} ${y1}L${x2} ${y2}"/><polygon class="tip" points="${tip}"/>`;
}

function svg(title, width, height, parts) {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`;
  const card = rect('card', 0.5, 0.5, width - 1, height - 1, 8);
  return `${[head, `<title>${title}</title>`, `<style>${style}</style>`, card, ...parts, '</svg>'].join('\n')}\n`;
}

/** A stage: its place in src, what it does, and how a request may end there. */
const stages = [
  ['http/edge', 'id, cross-origin rules, overload', '503'],
  ['http/router', 'which operation', '404, 405'],
  ['http/authenticate', 'who asks: a Caller', '401, 403'],
  ['http/body', 'read once, parsed once, checked by a schema', '400, 413, 415'],
  ['admission', 'rate limits of the key and of the workspace', '429'],
  ['before', 'guardrails and plugins look at the request', '403, 400'],
  ['gather', 'budgets, credentials, health: Facts', '503'],
  ['plan', 'pure: targets in order, and what is excluded', '400, 404, 503'],
  ['hold', 'the worst case, in every budget or in none', '402'],
  ['execute', 'retry and fallback, up to the first token', '429, 502, 503, 524, 529'],
  ['deliver', 'steps, encoder, an honest end', 'an error event'],
  ['settle', 'exactly once: money, health, conversation', ''],
  ['telemetry/record', 'one record over all generations', ''],
];

function drawRequest() {
  const [width, top, step, boxHeight] = [900, 78, 44, 30];
  const [nameX, nameWidth, doesX, endsX] = [44, 160, 232, 560];
  const yOf = (name) => top + stages.findIndex(([one]) => one === name) * step;
  const parts = [
    text(nameX, 30, 'Request', { kind: 'strong' }),
    arrow(nameX + nameWidth / 2, 38, nameX + nameWidth / 2, top - 2),
    text(doesX, 30, 'What the stage does', { kind: 'head' }),
    text(endsX, 30, 'How a request may end there', { kind: 'head' }),
  ];
  const group = (from, to, name, inset) => {
    const [y1, y2] = [yOf(from) - 8, yOf(to) + boxHeight + 6];
    const [x, end] = [16 + inset, width - 16 - inset];
    parts.push(rect('group', x, y1, end - x, y2 - y1), text(end - 182, y1 + 17, name, { kind: 'name', room: 174 }));
  };
  group('admission', 'settle', 'pipeline/serve', 0);
  group('gather', 'execute', 'a generation: 1 or more', 10);
  for (const [at, [name, does, ends]] of stages.entries()) {
    const y = top + at * step;
    parts.push(rect('box', nameX, y, nameWidth, boxHeight));
    parts.push(text(nameX + 10, y + 20, name, { kind: 'strong', room: nameWidth - 16 }));
    parts.push(text(doesX, y + 20, does, { room: endsX - doesX - 8 }));
    if (ends !== '') parts.push(text(endsX, y + 20, ends, { kind: 'quiet', room: 160 }));
    const middle = nameX + nameWidth / 2;
    if (at + 1 < stages.length) parts.push(arrow(middle, y + boxHeight, middle, y + step - 1));
  }
  const y = yOf('execute');
  const providerX = 746;
  parts.push(
    rect('box', providerX, y - 10, 118, 40),
    text(providerX + 8, y + 6, 'Provider', { kind: 'strong', room: 100 }),
    text(providerX + 8, y + 23, 'one per attempt', { kind: 'quiet', room: 106 }),
    arrow(716, y + 5, providerX - 2, y + 5),
    arrow(providerX - 2, y + 19, 716, y + 19),
  );
  const end = top + stages.length * step;
  parts.push(
    text(
      nameX,
      end + 8,
      'The response goes to the client from deliver. Its status and its headers are sent with the first token,',
      {
        kind: 'quiet',
      },
    ),
    text(nameX, end + 26, 'so another target may take over until then. Every refused request gets a record too.', {
      kind: 'quiet',
    }),
  );
  return svg('The path of a request', width, end + 44, parts);
}

/** A step of the money: what happens, more of it, and the budget after it in percent: spent and held. */
const steps = [
  ['Before', ['What was spent in this window,', 'and what other requests hold'], [30, 10]],
  ['Ceiling', ['The most that the plan can cost:', 'prompt by its bytes, largest output'], [30, 10]],
  ['Hold', ['In the budgets of workspace and key,', 'all or none: what does not fit is a 402'], [30, 45]],
  ['Attempts', ['A second one that is paid for as well', 'needs room beside the first'], [30, 45]],
  ['Settle', ['The true cost replaces the hold,', 'once; the rest is free again'], [42, 10]],
];

const otherEnds = [
  ['release', 'nothing was sent, or the provider refused it: nothing is booked'],
  ['the client leaves', 'the prompt, and the output that was reported or received'],
  ['no usage reported', 'the gateway counts, and says so: usage.estimated'],
  ['the process dies', 'its lease ends: the hold is charged, or released with onLostHold'],
  ['the store is away', 'requests are refused (503); what is to be booked waits in the outbox'],
];

function drawMoney() {
  const [width, top, step] = [900, 62, 62];
  const [nameX, nameWidth, doesX, barX, barWidth] = [28, 120, 172, 470, 400];
  const parts = [text(nameX, 30, 'Money of one request', { kind: 'strong' })];
  for (const [at, [kind, label]] of [
    ['spent', 'spent'],
    ['held', 'held'],
    ['left', 'left of the limit'],
  ].entries()) {
    const x = barX + at * 100;
    parts.push(rect(kind, x, 20, 12, 12, 2), text(x + 18, 30, label, { kind: 'quiet' }));
  }
  for (const [at, [name, lines, [spent, held]]] of steps.entries()) {
    const y = top + at * step;
    parts.push(
      rect('box', nameX, y, nameWidth, 36),
      text(nameX + 12, y + 23, name, { kind: 'strong', room: nameWidth - 16 }),
    );
    for (const [line, content] of lines.entries())
      parts.push(text(doesX, y + 15 + line * 18, content, { room: barX - doesX - 10 }));
    const px = (percent) => (barWidth * percent) / 100;
    parts.push(
      rect('left', barX, y + 8, barWidth, 18, 3),
      rect('held', barX, y + 8, px(spent + held), 18, 3),
      rect('spent', barX, y + 8, px(spent), 18, 3),
    );
    const middle = nameX + nameWidth / 2;
    if (at + 1 < steps.length) parts.push(arrow(middle, y + 36, middle, y + step - 1));
  }
  const below = top + steps.length * step + 8;
  parts.push(text(nameX, below, 'Other ends of a hold', { kind: 'head' }));
  for (const [at, [name, what]] of otherEnds.entries()) {
    const y = below + 24 + at * 22;
    parts.push(text(nameX, y, name, { kind: 'strong', room: 136 }), text(doesX, y, what, { room: width - doesX - 20 }));
  }
  return svg('The way of the money', width, below + 24 + otherEnds.length * 22 + 4, parts);
}

/** Boxes of the overview: title, and lines below it. */
const inside = [
  ['Who asks', ['API keys, or the users of your app', 'rate limits, plugins, guardrails']],
  ['Which endpoint', ['preferences, price, health, fallbacks', 'decided before a provider is called']],
  ['What it may cost', ['the worst case is held in every budget', 'the true cost is booked once']],
  ['Retry and stream', ['the next endpoint takes over in time', 'a cut response says that it is cut']],
];
const providers = ['OpenAI, Groq, …', 'your own model server', 'the sandbox'];

function drawOverview() {
  const [width, height, top] = [900, 318, 66];
  const [appX, appEnd, gatewayX, gatewayWidth, providerX, providerWidth] = [16, 628, 200, 418, 690, 194];
  const parts = [
    rect('group', appX, 16, appEnd, height - 32),
    text(32, 38, 'Your Node server', { kind: 'name' }),
    rect('box', 32, top, 136, 56),
    text(44, top + 24, 'Your routes', { kind: 'strong', room: 120 }),
    text(44, top + 43, 'Express, Next, …', { kind: 'quiet', room: 120 }),
    text(gatewayX, 54, 'model-gateway', { kind: 'strong' }),
    arrow(168, top + 28, gatewayX - 2, top + 28),
  ];
  for (const [at, [title, lines]] of inside.entries()) {
    const y = top + at * 60;
    parts.push(
      rect('box', gatewayX, y, gatewayWidth, 52),
      text(gatewayX + 12, y + 31, title, { kind: 'strong', room: 130 }),
    );
    for (const [line, content] of lines.entries())
      parts.push(text(gatewayX + 150, y + 22 + line * 19, content, { kind: 'quiet', room: gatewayWidth - 154 }));
  }
  for (const [at, name] of providers.entries()) {
    const y = top + 60 + at * 60;
    parts.push(rect('box', providerX, y, providerWidth, 52), text(providerX + 14, y + 31, name, { room: 180 }));
    parts.push(arrow(gatewayX + gatewayWidth, y + 26, providerX - 2, y + 26));
  }
  parts.push(text(providerX, top + 44, 'Providers', { kind: 'head' }));
  parts.push(
    rect('box', 32, top + 120, 136, 112),
    text(44, top + 146, 'Your store', { kind: 'strong', room: 120 }),
    ...['memory, SQLite', 'Redis, PostgreSQL', 'any other Keyv'].map((line, at) =>
      text(44, top + 168 + at * 19, line, { kind: 'quiet', room: 122 }),
    ),
    arrow(gatewayX, top + 146, 170, top + 146),
  );
  return svg('The gateway inside a Node server', width, height, parts);
}

/** A step of the routing: what is left after it, how it is decided, and what takes endpoints out there. */
const routingSteps = [
  ['Models', 'model, models, fallbacks; routers and aliases choose', 'no such model: 400'],
  ['Endpoints', 'every provider of each model, in the catalogue', ''],
  ['Filters', 'preferences of the request, rules of guardrails, ZDR', 'none left: 404, with the rules'],
  ['Order', 'sort, or price at random; a conversation stays', ''],
  ['Targets', 'each endpoint with a credential: BYOK first, then yours', 'no credential: left out'],
  ['Health', 'cooldowns and health checks; outages come last', 'all in cooldown: 503'],
  ['Budget', 'what costs more than is left, at worst', 'none fits: 402'],
];

function drawRouting() {
  const [width, top, step] = [900, 60, 50];
  const [nameX, widest, doesX, endsX] = [28, 176, 232, 650];
  const parts = [
    text(nameX, 32, 'From a slug to targets', { kind: 'strong' }),
    text(doesX, 32, 'What decides', { kind: 'head' }),
    text(endsX, 32, 'How a request may end there', { kind: 'head' }),
  ];
  for (const [at, [name, does, ends]] of routingSteps.entries()) {
    const y = top + at * step;
    // Fewer are left from the filters on.
    const boxWidth = widest - Math.max(0, at - 1) * 14;
    const x = nameX + (widest - boxWidth) / 2;
    parts.push(
      rect('box', x, y, boxWidth, 34),
      text(x + 12, y + 22, name, { kind: 'strong', room: boxWidth - 14 }),
      text(doesX, y + 22, does, { room: endsX - doesX - 8 }),
    );
    if (ends !== '') parts.push(text(endsX, y + 22, ends, { kind: 'quiet', room: width - endsX - 10 }));
    if (at + 1 < routingSteps.length) parts.push(arrow(nameX + widest / 2, y + 34, nameX + widest / 2, y + step - 1));
  }
  const end = top + routingSteps.length * step;
  parts.push(
    text(
      nameX,
      end + 6,
      'All of it is decided before a provider is asked, and an explanation says it without asking one.',
      {
        kind: 'quiet',
      },
    ),
  );
  return svg('How the targets of a request are found', width, end + 30, parts);
}

/** The attempts of a request by target: from where to where, what came of it, and whether it serves. */
const lanes = [
  [
    'acme/fast at one',
    [
      [0, 60, '500'],
      [90, 60, '500'],
    ],
    'a backoff between them',
  ],
  ['acme/fast at two', [[156, 44, '429']], 'Retry-After: it rests'],
  ['acme/fast at three', [[206, 200, 'no token yet …']], 'stopped: the other one was faster'],
  [
    'acme/other at one',
    [
      [310, 96, 'a hedge'],
      [406, 190, 'first token', true],
    ],
    'serves',
  ],
];

function drawAttempts() {
  const [width, top, step, timeX] = [900, 62, 46, 180];
  const parts = [
    text(28, 32, 'One request', { kind: 'strong' }),
    text(timeX, 32, 'time', { kind: 'head' }),
    arrow(timeX + 34, 28, width - 220, 28),
  ];
  for (const [at, [target, attempts, why]] of lanes.entries()) {
    const y = top + at * step;
    parts.push(text(28, y + 20, target, { room: timeX - 36 }));
    let end = 0;
    for (const [from, length, outcome, serves] of attempts) {
      parts.push(
        rect(serves ? 'left' : 'box', timeX + from, y, length, 30),
        text(timeX + from + 8, y + 20, outcome, { kind: serves ? 'strong' : 'quiet', room: length - 10 }),
      );
      end = from + length;
    }
    if (attempts.at(-1)?.[3] !== true) parts.push(text(timeX + end + 10, y + 20, why, { kind: 'quiet', room: 260 }));
    else parts.push(text(timeX + end + 10, y + 20, why, { kind: 'quiet', room: width - timeX - end - 16 }));
  }
  const firstX = timeX + 406;
  const bottom = top + lanes.length * step;
  parts.push(
    `<path class="line" stroke-dasharray="4 3" d="M${firstX} ${top - 8}L${firstX} ${bottom + 2}"/>`,
    text(
      28,
      bottom + 22,
      'Before the first token, a failure is tried again: here, then at the next endpoint, then with the next model.',
      {
        kind: 'quiet',
      },
    ),
    text(
      28,
      bottom + 40,
      'After it, nothing is tried again: a stream that breaks ends with an error event, never like a whole answer.',
      {
        kind: 'quiet',
      },
    ),
    text(
      28,
      bottom + 58,
      'What may have been charged is booked, for every attempt; a second one beside the first needs room in the budget.',
      {
        kind: 'quiet',
      },
    ),
  );
  return svg('Attempts, retries, fallbacks and a hedge', width, bottom + 76, parts);
}

/** By their paths in the project. */
export function diagrams() {
  return {
    'docs/img/overview.svg': drawOverview(),
    'docs/img/request.svg': drawRequest(),
    'docs/img/money.svg': drawMoney(),
    'docs/img/routing.svg': drawRouting(),
    'docs/img/attempts.svg': drawAttempts(),
  };
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, content] of Object.entries(diagrams())) writeFileSync(join(root, path), content);
}

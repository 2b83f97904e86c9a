import { type RoutingFindings, seconds } from './findings.ts';
import type { Summary } from './simulate.ts';
import { hedges, type Strategy, strategies } from './strategies.ts';

/** Draws the results of simulations: a line for each case, with its costs and its qualities side by side. */

const size = { line: 34, label: 262, panel: 178, number: 92, head: 66, edge: 20 };

export interface Panel<Found = Summary> {
  title: string;
  /** One bar, or two: a short one above a long one. */
  bars(found: Found): readonly number[];
  text(found: Found): string;
}

const price: Panel = {
  title: 'USD per 1,000 requests',
  bars: ({ usdPerThousand }) => [usdPerThousand],
  text: ({ usdPerThousand }) => usdPerThousand.toFixed(2),
};
const firstToken: Panel = {
  title: 'first token, s: p50 and p99',
  bars: ({ p50Ms, p99Ms }) => [p50Ms, p99Ms],
  text: ({ p50Ms, p99Ms }) => `${seconds(p50Ms)} · ${seconds(p99Ms)}`,
};
const lost: Panel = {
  title: 'requests lost',
  bars: ({ succeeded }) => [1 - succeeded],
  text: ({ succeeded }) =>
    succeeded === 1 ? 'none' : `${((1 - succeeded) * 100).toFixed(succeeded > 0.99 ? 3 : 1)} %`,
};

export function plotStrategies(found: RoutingFindings): string {
  const heading = `${found.requests.toLocaleString('en')} requests, ten endpoints, by strategy`;
  return plot(heading, strategies, found.strategies, [price, firstToken, lost], 'default');
}

export function plotHedging(found: RoutingFindings): string {
  const heading = `${found.requests.toLocaleString('en')} requests, a heavy tail of first tokens`;
  return plot(heading, hedges, found.hedge, [price, firstToken], 'on');
}

/** @param ours  the case that is drawn in another colour */
export function plot<Name extends string, Found>(
  heading: string,
  of: Record<Name, Pick<Strategy, 'title'>>,
  found: Record<Name, Found>,
  panels: readonly Panel<Found>[],
  ours: Name | readonly Name[],
): string {
  const isOurs = (name: Name) => (Array.isArray(ours) ? ours.includes(name) : name === ours);
  const names = Object.keys(of) as Name[];
  const step = size.panel + size.number;
  const width = 2 * size.edge + size.label + panels.length * step;
  const height = size.head + names.length * size.line + size.edge;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${heading}</title>`,
    `<style>${style}</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    text(size.edge, 28, heading, 'heading'),
  ];
  for (const [at, panel] of panels.entries()) {
    const left = size.edge + size.label + at * step;
    const longest = Math.max(...names.flatMap((name) => panel.bars(found[name])), Number.MIN_VALUE);
    parts.push(text(left, 54, panel.title, 'quiet'));
    for (const [row, name] of names.entries()) {
      const top = size.head + row * size.line;
      const bars = panel.bars(found[name]);
      const each = 22 / bars.length;
      let end = left;
      for (const [bar, value] of bars.entries()) {
        const long = round((value / longest) * size.panel);
        end = Math.max(end, left + long);
        const kind = `${isOurs(name) ? 'ours' : 'other'}${bar > 0 ? ' faint' : ''}`;
        if (long > 0)
          parts.push(
            `<rect class="${kind}" x="${left}" y="${top + bar * each}" width="${long}" height="${each - 1}" rx="1.5"/>`,
          );
      }
      parts.push(text(round(end) + 6, top + 15, panel.text(found[name]), 'number'));
    }
  }
  for (const [row, name] of names.entries()) {
    const label = of[name].title.replaceAll('`', '');
    parts.push(text(size.edge, size.head + row * size.line + 15, label, isOurs(name) ? 'strong' : ''));
  }
  return `${parts.join('\n')}\n</svg>\n`;
}

/** The picture has its own background, so that it is readable on any page; dark if the reader's system is dark. */
const style = [
  'text{font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}',
  '.heading{font-size:15px;font-weight:600}.strong{font-weight:600}.quiet{fill:#59636e;font-size:12px}',
  '.number{font-size:12px;font-variant-numeric:tabular-nums}',
  '.card{fill:#ffffff;stroke:#d1d9e0}.ours{fill:#0969da}.other{fill:#818b98}.faint{opacity:.45}',
  '@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.quiet{fill:#9198a1}.card{fill:#0d1117;stroke:#3d444d}',
  '.ours{fill:#4493f8}.other{fill:#9198a1}}',
].join('');

function text(x: number, y: number, content: string, kind: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped}</text>`;
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}

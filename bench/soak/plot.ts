import type { Sample } from './judge.ts';

const size = { width: 720, height: 420, left: 60, right: 20, panel: 140 };
const colours = { heap: '#0072b2', rss: '#56b4e9', p50: '#009e73', p99: '#d55e00' };

interface Line {
  name: string;
  colour: string;
  value(sample: Sample): number;
}

/** Draws memory and latency over the requests. */
export function plotSoak(samples: readonly Sample[]): string {
  const total = samples.at(-1)?.requests ?? 0;
  const heading = `${total.toLocaleString('en')} requests through Express on Redis`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${heading}: memory and latency over time</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#fff"/>`,
    text(size.left, 22, heading, 'start'),
    ...panel(samples, 50, 'MB', [
      { name: 'resident', colour: colours.rss, value: ({ rss }) => rss / 2 ** 20 },
      { name: 'heap after a collection', colour: colours.heap, value: ({ heap }) => heap / 2 ** 20 },
    ]),
    ...panel(samples, 230, 'ms', [
      { name: 'p99', colour: colours.p99, value: ({ p99Ms }) => p99Ms },
      { name: 'p50', colour: colours.p50, value: ({ p50Ms }) => p50Ms },
    ]),
    text((size.width + size.left) / 2, size.height - 12, 'requests', 'middle'),
    '</svg>',
  ].join('\n')}\n`;
}

function panel(samples: readonly Sample[], top: number, unit: string, lines: readonly Line[]): string[] {
  const last = samples.at(-1)?.requests ?? 1;
  const most = Math.max(...lines.flatMap(({ value }) => samples.map(value)), 1);
  const x = (requests: number) => size.left + (requests / last) * (size.width - size.left - size.right);
  const y = (value: number) => top + size.panel * (1 - value / most);
  return [
    `<path d="M${size.left} ${top}V${top + size.panel}H${size.width - size.right}" fill="none" stroke="#888"/>`,
    text(size.left - 6, top + 4, `${Math.ceil(most)} ${unit}`, 'end'),
    text(size.left - 6, top + size.panel + 4, '0', 'end'),
    text(size.left, top + size.panel + 16, '0', 'middle'),
    text(size.width - size.right, top + size.panel + 16, last.toLocaleString('en'), 'end'),
    ...lines.flatMap(({ name, colour, value }, at) => {
      const points = samples.map((one) => `${x(one.requests).toFixed(1)},${y(value(one)).toFixed(1)}`);
      return [
        `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
        text(size.width - size.right - 180 + at * 60, top - 8, name, 'start', colour),
      ];
    }),
  ];
}

function text(x: number, y: number, content: string, anchor: string, colour = '#222'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
}

import type { CurvePoint } from './curve.ts';

const width = 640;
const height = 360;
const x = (price: number) => 70 + ((Math.log10(price) + 1) / 2.5) * 540;
const y = (good: number) => 300 - good * 260;

/** Draws the share of prompts with a good enough model over the mean price. */
export function plotCurves(aware: readonly CurvePoint[], blind: readonly CurvePoint[]): string {
  const lines = [line(aware, '#0072b2'), line(blind, '#d55e00')];
  const ticks = [0.1, 1, 10].map((price) => text(x(price), 320, `$${price}`, 'middle'));
  const shares = [0, 0.5, 1].map((good) => text(60, y(good) + 4, `${good * 100} %`, 'end'));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<path d="M70 40V300H610" fill="none" stroke="#888"/>`,
    ...lines,
    ...ticks,
    ...shares,
    text(340, 345, 'mean price, USD per million tokens', 'middle'),
    text(70, 25, 'prompts whose model is good enough', 'start'),
    text(600, 270, 'by difficulty', 'end', '#0072b2'),
    text(600, 288, 'every prompt taken as easy', 'end', '#d55e00'),
    '</svg>',
  ].join('\n')}\n`;
}

function line(points: readonly CurvePoint[], colour: string): string {
  const at = points.map(({ price, good }) => `${x(price).toFixed(1)},${y(good).toFixed(1)}`);
  const dots = at
    .map((one) => one.split(','))
    .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`);
  return [`<polyline points="${at.join(' ')}" fill="none" stroke="${colour}"/>`, ...dots].join('\n');
}

function text(left: number, top: number, content: string, anchor: string, colour = '#222'): string {
  return `<text x="${left.toFixed(1)}" y="${top.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
}

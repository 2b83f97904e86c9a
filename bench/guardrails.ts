import { builtinPatterns } from '../src/guardrails/builtin/index.ts';
import { literalMatcher } from '../src/guardrails/matching/literals.ts';
import type { Matcher } from '../src/guardrails/matching/matcher.ts';
import { compileRegex } from '../src/guardrails/matching/regex.ts';
import { atOnce } from '../src/guardrails/text/pace.ts';
import { Scanner } from '../src/guardrails/text/scanner.ts';

/**
 * How long patterns take: expressions that are known to stop a backtracking engine, and texts of 1 MB of the cheapest
 * shape that costs the most. Run by `node bench/guardrails.ts`.
 */

const kb = 1_024;

/** @see OWASP, "Regular expression Denial of Service", and expressions that stopped known services */
const corpus: readonly [string, string][] = [
  ['(a+)+$', `${'a'.repeat(30 * kb)}!`],
  ['([a-zA-Z]+)*x', 'a'.repeat(30 * kb)],
  ['(a|aa)+$', `${'a'.repeat(30 * kb)}!`],
  ['(a|a?)+x', 'a'.repeat(30 * kb)],
  ['(.*a){20}x', 'a'.repeat(30 * kb)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(30 * kb)],
  ['\\s+$x', ' '.repeat(30 * kb)],
  [
    '(?:(?:"|\'|\\]|\\}|\\\\|\\d|(?:nan|infinity|true|false|null|undefined|symbol|math)|`|-|\\+)+[)]*;?((?:\\s|-|~|!|\\{\\}|\\|\\||\\+)*.*(?:.*=.*)))',
    `x=${'x'.repeat(30 * kb)}`,
  ],
  ['(\\w+\\s?)+!', 'word '.repeat(6 * kb)],
  ['([\\w.-]+)+@([\\w-]+\\.)+com', `${'a.'.repeat(15 * kb)}`],
  ['(x+x+)+y', 'x'.repeat(30 * kb)],
  ['(.*)(.*)(.*)(.*)(.*)=z', 'a'.repeat(30 * kb)],
];

async function regexMatcher(source: string, ignoresCase: boolean, maxLength: number): Promise<Matcher> {
  return (await compileRegex(source, ignoresCase, maxLength, 1_000_000)).matcher;
}

async function main(): Promise<void> {
  const builtins = Object.entries(builtinPatterns).map(([name, make]) => [name, make()] as const);
  print('expression', 'characters', 'ms', 'matches');
  for (const [source, text] of corpus) {
    const matcher = await regexMatcher(source, false, 256);
    report(source.slice(0, 40), matcher, text);
  }
  print();
  const mb = 1_000_000;
  const shapes = [
    'a',
    '1 ',
    '(',
    'a@',
    '4111 ',
    'sk-',
    '-----BEGIN ',
    'AB 12 ',
    'eyJ.',
    'ignore all the ',
    'Bananas are berries. ',
    'bob@example.com ',
  ];
  for (const shape of shapes) {
    const text = shape.repeat(Math.ceil(mb / shape.length));
    for (const [name, matcher] of builtins) report(`${name}: ${JSON.stringify(shape)}`, matcher, text);
    report(`literal: ${JSON.stringify(shape)}`, literalMatcher('ignore all the things', true), text);
  }
  for (const [source, text] of corpus)
    report(
      `${source.slice(0, 40)} 1 MB`,
      await regexMatcher(source, false, 256),
      text.repeat(Math.ceil(mb / text.length)),
    );
}

/** The least of three runs: the first compiles. */
function report(name: string, matcher: Matcher, text: string): void {
  let best = Number.POSITIVE_INFINITY;
  let matches = 0;
  for (let run = 0; run < 3; run++) {
    matches = 0;
    const startMs = performance.now();
    const scanner = new Scanner([{ name: 'x', matcher }], () => {
      matches++;
    });
    atOnce(scanner.push(text));
    atOnce(scanner.end());
    best = Math.min(best, performance.now() - startMs);
  }
  print(name, String(text.length), best.toFixed(1), String(matches));
}

function print(...cells: string[]): void {
  process.stdout.write(`${cells.map((cell, at) => (at === 0 ? cell.padEnd(48) : cell.padStart(12))).join('')}\n`);
}

await main();

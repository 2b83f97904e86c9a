import type { Profiler } from 'node:inspector';

/** Self time of one function, or of everything in one group. */
export interface Share {
  /** `src/pipeline/relay.ts`, `zod`, `undici`, `node:http`, `engine` … */
  group: string;
  /** Empty for a whole group. */
  name: string;
  ms: number;
}

export interface Summary {
  /** Time in which the process was not idle. */
  busyMs: number;
  /** By group, then by function, longest first. */
  groups: Share[];
  functions: Share[];
  /**
   * Time of what each of our own functions called in libraries and in Node, up to the next function of ours: their time
   * counted to who asked for it. What nothing of ours called is the host's.
   */
  onBehalf: Share[];
}

/** Where a position of a bundled file came from: its source file, or null when it is no bundled file. */
export type Locate = (url: string, line: number) => string | null;

type Node = Profiler.ProfileNode;

/** Adds up a CPU profile. @param locate  see `bundledSources` */
export function summarise(profile: Profiler.Profile, locate: Locate): Summary {
  const selfUs = selfTimes(profile);
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const owner = (node: Node): string => {
    const group = groupOf(node, locate);
    if (isOurs(group)) return `${group} ${nameOf(node)}`;
    const parent = nodes.get(parents.get(node.id) ?? 0);
    return parent ? owner(parent) : 'the host: node:http and its events';
  };
  const groups = new Map<string, number>();
  const functions = new Map<string, number>();
  const onBehalf = new Map<string, number>();
  let busyUs = 0;
  for (const node of profile.nodes) {
    const us = selfUs.get(node.id) ?? 0;
    const group = groupOf(node, locate);
    if (us === 0 || group === 'idle') continue;
    busyUs += us;
    add(groups, group, us);
    add(functions, `${group}\0${nameOf(node)}`, us);
    add(onBehalf, group === 'engine' ? `engine: ${nameOf(node)}` : owner(node), us);
  }
  return {
    busyMs: busyUs / 1000,
    groups: shares(groups),
    functions: shares(functions),
    onBehalf: shares(onBehalf),
  };
}

function selfTimes({ samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, number> {
  const selfUs = new Map<number, number>();
  for (const [at, id] of samples.entries()) add(selfUs, id, Math.max(timeDeltas[at + 1] ?? 0, 0));
  return selfUs;
}

function groupOf({ callFrame: { url, functionName, lineNumber } }: Node, locate: Locate): string {
  if (functionName === '(idle)') return 'idle';
  if (url === '') return functionName.startsWith('(') ? 'engine' : 'native code';
  if (url.startsWith('wasm:')) return 'wasm: the parser of undici';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const source = locate(url, lineNumber);
  if (source !== null) return source;
  const inPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url);
  return inPackage?.[1] ?? url.split('/').slice(-2).join('/');
}

function isOurs(group: string): boolean {
  return group.startsWith('src/') || group.startsWith('adapters/');
}

function nameOf({ callFrame: { functionName } }: Node): string {
  return functionName === '' ? '(anonymous)' : functionName;
}

function add<K>(sums: Map<K, number>, key: K, us: number): void {
  sums.set(key, (sums.get(key) ?? 0) + us);
}

function shares(sums: ReadonlyMap<string, number>): Share[] {
  return [...sums]
    .map(([key, us]) => {
      const [group = '', name = ''] = key.split('\0');
      return { group, name, ms: us / 1000 };
    })
    .sort((a, b) => b.ms - a.ms);
}

/**
 * Reads where the parts of bundled files came from: the bundler writes each source's path in a comment above its code.
 * @param read  the text of a bundled file; null for a file that is none
 */
export function bundledSources(read: (url: string) => string | null): Locate {
  const files = new Map<string, string[] | null>();
  const load = (url: string): string[] | null => {
    const text = read(url);
    if (text === null) return null;
    let source = '';
    return text.split('\n').map((line) => {
      const heading = /^\/\/ ((?:src|adapters)\/\S+\.ts)$/.exec(line);
      if (heading) source = heading[1] ?? '';
      return source;
    });
  };
  return (url, line) => {
    const known = files.get(url);
    const lines = known === undefined ? load(url) : known;
    files.set(url, lines);
    return lines?.[line] || null;
  };
}

/** A table of the longest, as text. */
export function formatShares(shares: readonly Share[], busyMs: number, count: number): string {
  return shares
    .slice(0, count)
    .map(
      ({ group, name, ms }) =>
        `${((ms / busyMs) * 100).toFixed(1).padStart(5)} %  ${group}${name === '' ? '' : ` ${name}`}`,
    )
    .join('\n');
}

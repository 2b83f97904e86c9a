import type { HeapProfiler, Profiler, Runtime } from 'node:inspector';

/** Own use of one function or of one group: milliseconds of CPU, or bytes of memory. */
export interface Share {
  /** `src/pipeline/relay.ts`, `zod`, `undici`, `node:http`, `engine` … */
  group: string;
  /** Name of the function; empty for a group. */
  name: string;
  amount: number;
}

export interface Summary {
  /** Total use, without idle time. */
  total: number;
  /** By part: our folders, packages, Node and the engine. Largest first, like `groups` (by file) and `functions`. */
  parts: Share[];
  groups: Share[];
  functions: Share[];
  /**
   * Use of each of our functions, including the libraries and Node functions that it called, but not other functions of
   * ours. Calls outside of our functions count for the host.
   */
  onBehalf: Share[];
}

/** Returns the source file or package of a line in a bundled file; null: the file is not bundled. */
export type Locate = (url: string, line: number) => string | null;

/** A node in the tree of calls, with its own use. */
interface Place {
  frame: Runtime.CallFrame;
  amount: number;
  parent: Place | null;
}

/** Sums up a CPU profile, in milliseconds. @param locate  see `bundledSources` */
export function summariseCpu(profile: Profiler.Profile, locate: Locate): Summary {
  const selfMs = selfTimes(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const places: Place[] = [];
  const visit = (id: number, parent: Place | null): void => {
    const node = nodes.get(id);
    if (!node) return;
    const place = { frame: node.callFrame, amount: selfMs.get(id) ?? 0, parent };
    places.push(place);
    for (const child of node.children ?? []) visit(child, place);
  };
  // The first node is the root.
  visit(profile.nodes[0]?.id ?? 0, null);
  return summarise(places, locate);
}

/** Sums up a heap profile, in bytes. */
export function summariseHeap({ head }: HeapProfiler.SamplingHeapProfile, locate: Locate): Summary {
  const places: Place[] = [];
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, parent: Place | null): void => {
    const place = { frame: node.callFrame, amount: node.selfSize, parent };
    places.push(place);
    for (const child of node.children) visit(child, place);
  };
  visit(head, null);
  return summarise(places, locate);
}

function summarise(places: readonly Place[], locate: Locate): Summary {
  const parts = new Map<string, number>();
  const groups = new Map<string, number>();
  const functions = new Map<string, number>();
  const onBehalf = new Map<string, number>();
  let total = 0;
  const owner = (place: Place): string => {
    const group = groupOf(place.frame, locate);
    if (isOurs(group)) return `${group}\0${nameOf(place.frame)}`;
    return place.parent ? owner(place.parent) : 'the host';
  };
  for (const place of places) {
    const { frame, amount } = place;
    const group = groupOf(frame, locate);
    if (amount === 0 || group === 'idle') continue;
    total += amount;
    add(parts, partOf(group), amount);
    add(groups, group, amount);
    add(functions, `${group}\0${nameOf(frame)}`, amount);
    add(onBehalf, group === 'engine' ? `engine\0${nameOf(frame)}` : owner(place), amount);
  }
  return {
    total,
    parts: shares(parts),
    groups: shares(groups),
    functions: shares(functions),
    onBehalf: shares(onBehalf),
  };
}

function selfTimes({ samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, number> {
  const selfMs = new Map<number, number>();
  for (const [at, id] of samples.entries()) add(selfMs, id, Math.max(timeDeltas[at + 1] ?? 0, 0) / 1000);
  return selfMs;
}

function groupOf({ url, functionName, lineNumber }: Runtime.CallFrame, locate: Locate): string {
  if (functionName === '(idle)') return 'idle';
  if (url === '') return functionName.startsWith('(') ? 'engine' : 'native code';
  if (url.startsWith('wasm:')) return 'wasm: the parser of undici';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const source = locate(url, lineNumber);
  if (source !== null) return source;
  const inPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url);
  return inPackage?.[1] ?? url.split('/').slice(-2).join('/');
}

/** Returns the part of a group: `src/pipeline/relay.ts` belongs to `src/pipeline`, `node:http` to Node. */
function partOf(group: string): string {
  if (group.startsWith('node:') || group === 'native code') return 'Node and its native code';
  if (group.startsWith('wasm:')) return 'undici';
  return isOurs(group) ? group.split('/').slice(0, -1).slice(0, 2).join('/') : group;
}

function isOurs(group: string): boolean {
  return group.startsWith('src/') || group.startsWith('adapters/');
}

function nameOf({ functionName }: Runtime.CallFrame): string {
  return functionName === '' ? '(anonymous)' : functionName;
}

function add<K>(sums: Map<K, number>, key: K, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function shares(sums: ReadonlyMap<string, number>): Share[] {
  return [...sums]
    .map(([key, amount]) => {
      const [group = '', name = ''] = key.split('\0');
      return { group, name, amount };
    })
    .sort((a, b) => b.amount - a.amount);
}

/**
 * Finds the sources of bundled code. The bundler writes the path of each source in a comment above its code.
 * @param read  returns the text of a bundled file; null: the file is not bundled
 */
export function bundledSources(read: (url: string) => string | null): Locate {
  const files = new Map<string, string[] | null>();
  const load = (url: string): string[] | null => {
    const text = read(url);
    if (text === null) return null;
    let source = '';
    return text.split('\n').map((line) => {
      const heading = /^\/\/ (?:((?:src|adapters)\/\S+\.ts)|node_modules\/((?:@[^/]+\/)?[^/]+)\/\S+)$/.exec(line);
      if (heading) source = heading[1] ?? heading[2] ?? '';
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

/** Formats the largest shares as lines of text. @param unit  shows absolute amounts too, divided by `per` */
export function formatShares(
  shares: readonly Share[],
  total: number,
  count: number,
  unit: { name: string; per: number } | null = null,
): string {
  const line = ({ group, name, amount }: Share) => {
    const share = `${((amount / total) * 100).toFixed(1).padStart(5)} %`;
    const absolute = unit === null ? '' : `${(amount / unit.per).toFixed(2).padStart(8)} ${unit.name}`;
    return `${share}${absolute}  ${group}${name === '' ? '' : ` ${name}`}`;
  };
  return shares.slice(0, count).map(line).join('\n');
}

import { expect } from 'vitest';

/** What an answer is like: `…` in a text stands for anything, alone also for another value. */
export function likeness(shown: unknown): unknown {
  if (Array.isArray(shown)) return shown.map(likeness);
  if (typeof shown === 'object' && shown !== null)
    return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, likeness(value)]));
  if (shown === '…') return expect.anything();
  if (typeof shown !== 'string' || !shown.includes('…')) return shown;
  const escaped = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return expect.stringMatching(new RegExp(`^${escaped.join('.+')}$`));
}

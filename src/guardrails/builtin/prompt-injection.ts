import type { WindowSearch } from '../matching/windowed.ts';

const space = String.raw`[\s,;:"'*_-]{1,4}`;
const earlier = '(?:previous|prior|above|earlier|preceding|former|foregoing|original|existing|initial|current)';
const rules =
  '(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|context|messages?|restrictions?|constraints?|programming|training)';
const drop = '(?:ignore|disregard|forget|override|overrule|bypass|skip|neglect|dismiss)';
const filler = `(?:(?:all|any|every|each|of|the|your|my|these|those|this|that|and|everything|about|what|system|safety|security)${space}){0,5}`;

/** Phrases that ask a model to leave its instructions, in English. */
const phrases = [
  `${drop}${space}${filler}${earlier}${space}(?:system${space}|safety${space})?${rules}`,
  `${drop}${space}(?:all${space})?(?:of${space})?(?:your|the)${space}(?:system${space}|safety${space})?${rules}`,
  `${drop}${space}(?:everything|anything|all|what)${space}(?:that${space})?(?:(?:was|is|you|were|i|we)${space}){0,3}(?:above|before|said|told|written|instructed)`,
  `(?:reveal|show|print|repeat|output|display|leak|dump|tell${space}me)${space}${filler}(?:system|developer|hidden|secret|initial)${space}(?:prompt|instructions?|message)`,
  `what${space}(?:is|are|was|were)${space}your${space}(?:system|developer|hidden|secret|initial|original)${space}(?:prompt|instructions?|message)`,
  `you${space}are${space}(?:now${space})(?:dan|jailbroken|unrestricted|unfiltered|free${space}from|no${space}longer${space}bound|in${space}(?:developer|debug|god|dan)${space}mode)`,
  `(?:enable|activate|enter|switch${space}to)${space}(?:the${space})?(?:developer|debug|god|dan|jailbreak|unrestricted)${space}mode`,
  `(?:act|behave|respond|answer)${space}as${space}(?:if${space})?(?:you${space})?(?:have|had|there${space}(?:were|are)|with)${space}no${space}(?:rules|restrictions|limits|filters|guidelines|limitations)`,
  `do${space}anything${space}now`,
  `(?:new|updated)${space}(?:system${space})instructions?`,
  `(?:do${space}not|don.t|never)${space}follow${space}${filler}(?:${earlier}${space})?${rules}`,
];

/** The most characters of a phrase that are one match. */
export const phraseChars = 160;

const pattern = new RegExp(String.raw`\b(?:${phrases.join('|')})\b`, 'gi');

/**
 * Finds attempts to make a model leave its instructions, by their words. The search runs in short windows, so its time
 * is bounded for any text.
 */
export const promptInjection: WindowSearch = {
  isFolded: true,
  windowsAtOnce: 64,
  test(text) {
    pattern.lastIndex = 0;
    return pattern.test(text);
  },
  find(text, from) {
    pattern.lastIndex = from;
    const found = pattern.exec(text);
    return found === null ? null : { start: found.index, end: found.index + found[0].length };
  },
};

import { nextTurn } from '../../base/async/next-turn.ts';
import { normalForm } from '../../base/text/normal-form.ts';
import type { Moderator, Verdict } from './moderator.ts';

/**
 * The number of characters that are read in one turn of the event loop, as far as texts are not split: each takes some
 * 0.1 µs.
 */
const turnCharacters = 16_384;

/** Phrases that ask for help with something. Each pattern takes time in proportion to the text. */
const asks = String.raw`\b(?:how (?:do i|can i|to|would i)|help me|teach me(?: how)? to|instructions (?:for|to|on)|steps? to|ways? to|guide (?:for|to|on)|recipe for) `;

/** Words for persons. Processes and time may be killed as well, and mean no harm. */
const person =
  '(?:people|someone|somebody|(?:a|my|his|her|their|the) (?:neighbou?r|wife|husband|boss|brother|sister|mother|father|mom|dad|parents?|friend|girlfriend|boyfriend|ex|teacher|classmates?|coworkers?|colleagues?|man|woman|person|kid|child|baby|family|cop|policeman))';

/** Words that ask for harm, by category, in English. */
const categories: readonly (readonly [string, RegExp])[] = [
  [
    'self-harm',
    new RegExp(
      String.raw`${asks}(?:kill|hang|hurt|cut|poison) (?:myself|me)\b|${asks}(?:commit|attempt)(?:ting)? suicide\b|\bi (?:want|am going|plan|intend) to (?:kill|hang) myself\b`,
      'i',
    ),
  ],
  [
    'violence',
    new RegExp(
      String.raw`${asks}(?:kill|murder|poison|stab|shoot|kidnap|torture) ${person}\b|\bi (?:will|am going to|want to) (?:kill|murder|shoot|stab) (?:you|him|her|them|everyone|everybody|my)\b`,
      'i',
    ),
  ],
  [
    'illicit/violent',
    new RegExp(
      String.raw`${asks}(?:build|make|making|building|construct|assemble|synthesi[sz]e) (?:a |an |my |some )?(?:pipe ?bomb|bomb|explosives?|grenade|nerve agent|sarin|ricin|chemical weapon|bioweapon|ghost gun)s?\b`,
      'i',
    ),
  ],
  [
    'illicit',
    new RegExp(
      String.raw`${asks}(?:make|cook|cooking|making|synthesi[sz]e|produce) (?:crystal )?(?:meth|methamphetamine|heroin|fentanyl|cocaine)\b|${asks}(?:launder money|forge (?:a )?(?:passport|id)s?|counterfeit (?:money|bills))\b`,
      'i',
    ),
  ],
  [
    'sexual/minors',
    /\b(?:sexual|erotic|explicit|nude|naked|porn\w*) (?:story|stories|scene|image|images|picture|pictures|photo|photos|video|videos|content) (?:about|of|with|involving) (?:a |an |some )?(?:child|children|minor|minors|underage|preteen|\d{1,2}[- ]year[- ]old)\b/i,
  ],
  [
    'hate',
    /\b(?:all|every|those) \w{3,20} (?:should|must|deserve to|need to) (?:die|be killed|be exterminated|be gassed|be lynched)\b/i,
  ],
];

/**
 * Ages of adults. The last two digits of an age decide nothing: adults are named by age too, so ages from 18 on do not
 * count.
 */
const adult = /\b(?:1[89]|[2-9]\d)[- ]year[- ]old\b/i;

/**
 * Finds plain requests for harm by their words. It runs in the process and knows no context: a service understands
 * more. No text leaves the gateway.
 */
export const localModerator: Moderator = {
  name: 'local',
  model: 'patterns',
  isLocal: true,
  async classify(texts, signal) {
    const verdicts: Verdict[] = [];
    let characters = 0;
    for (const text of texts) {
      characters += text.length;
      if (characters > turnCharacters && verdicts.length > 0) {
        await nextTurn();
        signal.throwIfAborted();
        characters = text.length;
      }
      verdicts.push(verdictOn(text));
    }
    return verdicts;
  },
};

function verdictOn(text: string): Verdict {
  const plain = normalForm(text, 'NFKC').replace(/\s+/g, ' ');
  const reasons = categories.flatMap(([name, pattern]) => {
    const [found] = pattern.exec(plain) ?? [];
    return found !== undefined && !(name === 'sexual/minors' && adult.test(found)) ? [name] : [];
  });
  return { flagged: reasons.length > 0, reasons };
}

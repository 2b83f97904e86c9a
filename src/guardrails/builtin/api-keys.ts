import { beginningOf, type CandidatePattern } from '../matching/candidate.ts';

/** The most characters of a key or a token that are one match; a JWT may be that long. */
const mostChars = 4_096;
/** The most characters of a private key. */
const mostPemChars = 8_192;

const word = '[A-Za-z0-9_-]';

interface KeyShape {
  readonly begin: string;
  /** The characters after the beginning. */
  readonly chars: string;
  /** The fewest of these characters. */
  readonly least: number;
}

/** The forms of the keys of services. */
const shapes: readonly KeyShape[] = [
  // OpenAI, Anthropic, OpenRouter, this gateway and others.
  { begin: 'sk-', chars: word, least: 20 },
  // Stripe.
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map((begin) => ({
    begin,
    chars: '[A-Za-z0-9]',
    least: 16,
  })),
  // AWS.
  ...['AKIA', 'ASIA'].map((begin) => ({ begin, chars: '[A-Z0-9]', least: 16 })),
  // GitHub.
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((begin) => ({ begin, chars: '[A-Za-z0-9]', least: 36 })),
  { begin: 'github_pat_', chars: '[A-Za-z0-9_]', least: 36 },
  // GitLab, Slack, npm, Hugging Face, SendGrid, DigitalOcean, Groq, xAI, Perplexity, Replicate.
  { begin: 'glpat-', chars: word, least: 20 },
  ...['xoxa-', 'xoxb-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'].map((begin) => ({
    begin,
    chars: '[A-Za-z0-9-]',
    least: 10,
  })),
  { begin: 'npm_', chars: '[A-Za-z0-9]', least: 36 },
  { begin: 'hf_', chars: '[A-Za-z0-9]', least: 30 },
  { begin: 'SG.', chars: '[A-Za-z0-9_.-]', least: 40 },
  { begin: 'dop_v1_', chars: '[a-f0-9]', least: 64 },
  { begin: 'gsk_', chars: '[A-Za-z0-9]', least: 40 },
  { begin: 'xai-', chars: '[A-Za-z0-9]', least: 40 },
  { begin: 'pplx-', chars: '[A-Za-z0-9]', least: 40 },
  { begin: 'r8_', chars: '[A-Za-z0-9]', least: 30 },
  // Google.
  { begin: 'AIza', chars: word, least: 35 },
  { begin: 'ya29.', chars: word, least: 20 },
  { begin: 'GOCSPX-', chars: word, least: 20 },
];

const begins = [...shapes.map(({ begin }) => begin), 'eyJ', '-----BEGIN '];

const whole = new RegExp(
  shapes.map(({ begin, chars, least }) => `${escaped(begin)}${chars}{${least},}`).join('|'),
  'y',
);
const token = /eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/y;
const pem = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/y;

/** The beginning of a private key, of any length, and the key up to its last line. */
const pemBeginning = beginningOf(
  '-----BEGIN ',
  `[A-Z ]{0,31}(?:${beginningOf('-----', `[^-]{0,${mostPemChars}}(?:${beginningOf('-----', '[A-Z ]{0,35}-{0,5}')})?`)})?`,
);
const tokenBeginning = `eyJ${word}{0,${mostChars}}(?:\\.(?:${beginningOf('eyJ', `${word}{0,${mostChars}}(?:\\.${word}{0,${mostChars}})?`)})?)?`;

/** Finds keys of services by their form, JSON Web Tokens, and private keys in PEM. */
export const apiKey: CandidatePattern = {
  candidate: new RegExp(
    [
      ...shapes.map(({ begin, chars }) => `(?<![A-Za-z0-9])${escaped(begin)}${chars}{0,${mostChars}}`),
      `(?<![A-Za-z0-9_-])${tokenBeginning}`,
      // A word that may become a key when more text comes.
      '(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9_.-]{0,10}',
      pemBeginning,
    ].join('|'),
    'g',
  ),
  part: new RegExp(begins.map(escaped).join('|'), 'g'),
  lead: 0,
  partChars: Math.max(...begins.map(({ length }) => length)),
  judge(text, start, end) {
    const written = text.slice(start, end);
    for (const shape of [whole, token, pem]) {
      shape.lastIndex = 0;
      const found = shape.exec(written);
      if (found !== null) return start + found[0].length;
    }
    return -1;
  },
};

function escaped(literal: string): string {
  return literal.replace(/[.]/g, '\\$&');
}

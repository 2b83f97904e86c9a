import { type CandidatePattern, isDigit, isWordAt } from '../matching/candidate.ts';
import { passesLuhn, remainder } from './check-digits.ts';

/** The first digits of the card networks. */
const networks = /^(?:4|5[1-8]|2[2-7]|3\d|6|92)/;

/** Groups of digits: a group of one or two is no part of a card number. */
const grouped = /^(?:\d{3,}[ -]?)+/;

/** A card number: 13 to 19 digits, alone or in groups, that pass the check of Luhn. */
export const card: CandidatePattern = {
  candidate: /(?<!\w|\d\.)\d(?:[ -]?\d){0,18}[ -]?/g,
  judge(text, start, end) {
    const [written = ''] = grouped.exec(text.slice(start, end)) ?? [];
    if (written.length < 13 || !networks.test(written)) return -1;
    let digits = '';
    let found = -1;
    for (let at = start; at < start + written.length; at++) {
      if (!isDigit(text.charCodeAt(at))) continue;
      digits += text.charAt(at);
      if (digits.length < 13 || isWordAt(text, at + 1)) continue;
      if (passesLuhn(digits) && isNoFiller(digits)) found = at + 1;
    }
    return found;
  },
};

function isNoFiller(digits: string): boolean {
  return !/^(\d)\1*$/.test(digits);
}

/** Characters of an IBAN, by country. @see the IBAN registry of SWIFT */
const lengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** An international bank account number: of a country, of its length, with the remainder 1 modulo 97. */
export const iban: CandidatePattern = {
  candidate: /(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d(?:[ -]?[A-Za-z0-9]){0,30}[ -]?)?)?)?/g,
  judge(text, start, end) {
    const length = lengths[text.slice(start, start + 2).toUpperCase()];
    if (length === undefined) return -1;
    let plain = '';
    for (let at = start; at < end; at++) {
      if (!isWordAt(text, at)) continue;
      plain += text.charAt(at);
      if (plain.length < length) continue;
      const isWhole = !isWordAt(text, at + 1);
      return isWhole && remainder(plain.slice(4) + plain.slice(0, 4), 97) === 1 ? at + 1 : -1;
    }
    return -1;
  },
};

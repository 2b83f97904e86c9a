import { type CandidatePattern, isDigit, isWordAt } from '../matching/candidate.ts';
import { remainder } from './check-digits.ts';

/** The first digits of the card networks. */
const networks = /^(?:4|5[1-8]|2[2-7]|3\d|6|92)/;

/** A card number: 13 to 19 digits, alone or in groups of three or more, that pass the check of Luhn. */
export const card: CandidatePattern = {
  candidate: /(?<!\w|\d\.)\d(?:[ -]?\d){0,18}[ -]?/g,
  part: /\d{3}/g,
  lead: 0,
  partChars: 3,
  judge(text, start, end) {
    const first = text.charCodeAt(start);
    let isFiller = true;
    let found = -1;
    let count = 0;
    // The check sum of the digits so far, with every other digit doubled: from the first, and from the second.
    let evenDoubled = 0;
    let oddDoubled = 0;
    for (let at = start; at < end; at++) {
      // A group of one or two digits is no part of a card number.
      if (at + 3 > end || !isDigit(text.charCodeAt(at + 1)) || !isDigit(text.charCodeAt(at + 2))) break;
      for (; at < end && isDigit(text.charCodeAt(at)); at++) {
        const code = text.charCodeAt(at);
        const digit = code - 48;
        const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
        evenDoubled += count % 2 === 0 ? doubled : digit;
        oddDoubled += count % 2 === 0 ? digit : doubled;
        count++;
        isFiller &&= code === first;
      }
      const sum = count % 2 === 0 ? evenDoubled : oddDoubled;
      if (count >= 13 && sum % 10 === 0 && !isFiller && !isWordAt(text, at)) found = at;
    }
    return found !== -1 && networks.test(text.slice(start, start + 2)) ? found : -1;
  },
};

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

/** An international bank account number: with a country, the length of that country, and the remainder 1 modulo 97. */
export const iban: CandidatePattern = {
  candidate: /(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d(?:[ -]?[A-Za-z0-9]){0,30}[ -]?)?)?)?/g,
  part: /\d\d/g,
  lead: 2,
  partChars: 2,
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

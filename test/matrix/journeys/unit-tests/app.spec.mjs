import { test } from 'vitest';
import { cases } from './cases.mjs';

for (const [name, run] of Object.entries(cases)) test(name, run);

// Draws what service/auto costs and brings for a set of labelled prompts. Gives the same picture each time.
import { writeFileSync } from 'node:fs';
import { chooseModel } from './auto-router/choose.ts';
import { curve } from './auto-router/curve.ts';
import { plotCurves } from './auto-router/plot.ts';

const picture = plotCurves(curve(chooseModel, true), curve(chooseModel, false));
writeFileSync(new URL('../docs/img/auto-router.svg', import.meta.url), picture);

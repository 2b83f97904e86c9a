// The packed package, as the application that installed it gets it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const app = process.env.MODEL_GATEWAY_APP;
if (app === undefined) throw new Error('MODEL_GATEWAY_APP is not set: run this with `npm run test:matrix`.');
const installed = createRequire(join(app, 'package.json'));
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);
export const { builtInProviders, createGateway, fromAiSdk } = await load('model-gateway');
export const { serve } = await load('model-gateway/node');

import { createServer } from 'node:http';
import process from 'node:process';
import { toNodeHandler } from '../adapters/node.ts';
import { createGateway } from '../src/index.ts';
import { measuring, serveParent } from './control.ts';
import { gatewayOptions } from './gateway-options.ts';
import { listen } from './listen.ts';
import { telemetryOf } from './telemetry.ts';

/** The gateway with spans of a share of the requests; without a share, with a recorder that does nothing. */
const [, , upstreamPort, share] = process.argv;
const recorder = share === undefined ? () => undefined : telemetryOf(Number(share));
const gateway = createGateway(gatewayOptions(`http://127.0.0.1:${upstreamPort}/v1`, recorder));
const server = createServer({ keepAliveTimeout: 60_000 }, toNodeHandler(gateway));

serveParent({ ...measuring, port: () => listen(server) });

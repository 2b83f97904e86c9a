import { createServer } from 'node:http';
import process from 'node:process';
import { loadBuilt } from './built.ts';
import { measuring, serveParent } from './control.ts';
import { gatewayOptions } from './gateway-options.ts';
import { listen } from './listen.ts';
import { startHeapProfile, startProfile, stopHeapProfile, stopProfile } from './profiling.ts';

/** The gateway of the built package, mounted in a server like that of a host app. */
const { createGateway, gatewayListener } = await loadBuilt();
const metered = { requests: 0, costNanoUsd: 0 };
const gateway = createGateway(
  gatewayOptions(`http://127.0.0.1:${process.argv[2]}/v1`, ({ outcome, costNanoUsd }) => {
    if (outcome !== 'ok') return;
    metered.requests += 1;
    metered.costNanoUsd += costNanoUsd ?? 0;
  }),
);
const server = createServer({ keepAliveTimeout: 60_000 }, gatewayListener(gateway));

serveParent({
  ...measuring,
  port: () => listen(server),
  metered: () => metered,
  startProfile,
  stopProfile,
  startHeapProfile,
  stopHeapProfile,
});

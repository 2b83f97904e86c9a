import compression from 'compression';
import express from 'express';
import { gatewayMiddleware } from '../../adapters/express.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

adapterContract('Express', {
  start: (gateway) => hostListener(express().use('/v1', gatewayMiddleware(gateway)), '/v1'),
});

adapterContract('Express after express.json()', {
  parsesBody: true,
  start: (gateway) =>
    hostListener(
      express()
        .use(express.json({ limit: '2mb' }))
        .use('/v1', gatewayMiddleware(gateway)),
      '/v1',
    ),
});

adapterContract('Express after express.raw()', {
  parsesBody: true,
  start: (gateway) =>
    hostListener(
      express()
        .use(express.raw({ type: '*/*', limit: '2mb' }))
        .use('/v1', gatewayMiddleware(gateway)),
      '/v1',
    ),
});

adapterContract('Express behind compression, below a router with a parameter', {
  start(gateway) {
    const router = express.Router().use('/:tenant/v1', gatewayMiddleware(gateway));
    return hostListener(
      express()
        .use(compression({ threshold: 0 }))
        .use('/api', router),
      '/api/acme/v1',
    );
  },
});

adapterContract('Express at the root', {
  start: (gateway) => hostListener(express().use(gatewayMiddleware(gateway)), '/v1'),
});

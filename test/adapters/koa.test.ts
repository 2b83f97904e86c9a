import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { gatewayMiddleware } from '../../adapters/koa.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

adapterContract('Koa', {
  start: (gateway) => hostListener(new Koa().use(gatewayMiddleware(gateway, { prefix: '/v1' })).callback(), '/v1'),
});

adapterContract('Koa after a body parser', {
  parsesBody: true,
  start: (gateway) =>
    hostListener(
      new Koa()
        .use(bodyParser({ jsonLimit: '2mb' }))
        .use(gatewayMiddleware(gateway))
        .callback(),
      '/v1',
    ),
});

adapterContract('Koa below koa-mount', {
  start: (gateway) => hostListener(new Koa().use(mount('/api/v1', gatewayMiddleware(gateway))).callback(), '/api/v1'),
});

adapterContract('Koa below koa-mount and a prefix', {
  start: (gateway) =>
    hostListener(new Koa().use(mount('/api', gatewayMiddleware(gateway, { prefix: '/llm' }))).callback(), '/api/llm'),
});

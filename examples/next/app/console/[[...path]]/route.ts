import { consoleHandler } from 'model-gateway/console';
import { gatewayRoute } from 'model-gateway/next';
import { gateway } from '../../../lib/gateway';

// Next removes the slash at the end of a path, so the console must not ask for it.
const page = consoleHandler(gateway, { trailingSlash: false });

export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = gatewayRoute(page, { basePath: '/console' });

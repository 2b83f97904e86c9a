import { gatewayRoute } from 'model-gateway/next';
import { gateway } from '../../../../lib/gateway';

export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = gatewayRoute(gateway);

// A collector to look at: it takes OTLP over HTTP as JSON, as every collector does, and prints what it gets, a line each.
import { createServer } from 'node:http';
import process from 'node:process';

const plainOf = ({ stringValue, intValue, doubleValue, boolValue, arrayValue }) =>
  stringValue ?? boolValue ?? arrayValue?.values.map(plainOf) ?? Number(intValue ?? doubleValue);
const attributesOf = ({ attributes = [] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainOf(value)]));
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function printSpans({ resourceSpans = [] }) {
  for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans)) {
    const ms = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6;
    print({ span: span.name, trace: span.traceId, ms, ...attributesOf(span) });
  }
}

function printMetrics({ resourceMetrics = [] }) {
  for (const metric of resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics)) {
    const { dataPoints } = metric.histogram ?? metric.sum ?? metric.gauge;
    for (const point of dataPoints) {
      const value = point.asInt ?? point.asDouble ?? point.sum;
      print({
        metric: metric.name,
        unit: metric.unit,
        count: point.count,
        value: Number(value),
        ...attributesOf(point),
      });
    }
  }
}

const takers = { '/v1/traces': printSpans, '/v1/metrics': printMetrics };
createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  takers[request.url]?.(JSON.parse(body));
  response.writeHead(takers[request.url] ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
}).listen(Number(process.env.COLLECTOR_PORT ?? 4318), '127.0.0.1');

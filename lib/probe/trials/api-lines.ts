/** An answer of the API that comes line by line and may take long: a log that is followed, a watch. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

export interface LinesRequest {
  readonly config: KubeConfig;
  /** With its query. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Resolves to the HTTP status once the answer has ended; rejects with the connection or the signal. */
export async function readLines(
  { config, path, signal }: LinesRequest,
  onLine: (line: string) => void,
): Promise<number> {
  const server = config.getCurrentCluster()?.server ?? '';
  const url = new URL(server.replace(/\/$/, '') + path);
  const options: RequestOptions = { signal };
  await config.applyToHTTPSOptions(options);
  const request = url.protocol === 'http:' ? requestHttp : requestHttps;
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      const status = response.statusCode ?? 0;
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        if (status !== 200) return;
        const whole = (rest + text).split('\n');
        rest = whole.pop() ?? '';
        whole.forEach(onLine);
      });
      response.once('error', reject);
      response.once('close', () => resolve(status));
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** Clients of the Kubernetes API, whose every call has an end: for our own clusters, a user's, and from within a pod. */
import pRetry, { type Options as RetryOptions } from 'p-retry';
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type {
  KubeConfig,
  KubernetesObject,
  V1Taint,
  AuthorizationV1Api,
  V1ResourceAttributes,
} from '@kubernetes/client-node';
import { quote } from 'zx';
import { InfrastructureError, UsageError } from './errors.ts';

/**
 * From sending a request to the end of its answer. kubectl gives up a TLS handshake after 10 s and a
 * connection that stands still after 45 s (`http2.Transport` in client-go: ReadIdleTimeout 30 s and
 * PingTimeout 15 s).
 */
const callTimeoutMs = 30_000;

/**
 * Reads nothing yet. `timeoutMs`: of each call of the API clients made from it, the program for the
 * credentials included; default 30 000.
 */
async function emptyKubeConfig(timeoutMs: number = callTimeoutMs): Promise<KubeConfig> {
  // Imported here and not at the top: it takes most of a second.
  const { KubeConfig } = await import('@kubernetes/client-node');
  /** Every request passes here, whichever client it is of. A watch does too, and has its own ends. */
  class EndingKubeConfig extends KubeConfig {
    constructor() {
      super();
      endPrograms(this, timeoutMs);
      keepConnections(this);
    }

    override async applySecurityAuthentication(
      context: Parameters<KubeConfig['applySecurityAuthentication']>[0],
    ): Promise<void> {
      const over = after(timeoutMs);
      context.setSignal(over);
      const applied = super.applySecurityAuthentication(context);
      await Promise.race([applied, noCredentials(over, timeoutMs)]);
    }
  }
  return new EndingKubeConfig();
}

/**
 * Ends the programs that are to give the credentials: one that hangs would keep this process alive as
 * well. The client has no setting for it, so its own way to start one is wrapped.
 */
function endPrograms(config: KubeConfig, timeoutMs: number): void {
  const authenticators = Reflect.get(config, 'authenticators') as readonly object[];
  const execs = authenticators.filter((each) => 'execFn' in each);
  if (execs.length === 0) throw new Error('the client starts no program for credentials by execFn');
  const start = (command: string, args: readonly string[] = [], options: SpawnOptions = {}) => {
    const child = spawn(command, args, options);
    const timer = setTimeout(() => leave(child), timeoutMs);
    child.once('close', () => clearTimeout(timer));
    return child;
  };
  for (const each of execs) Reflect.set(each, 'execFn', start);
}

/**
 * The client makes a dispatcher for each call (2.0.1), and with it a connection and its handshake: a third of what a
 * runner did while 20 databases waited. So one is kept as long as server and credentials are the same.
 * Not HTTP/2: a watch that nobody reads for a while would hold up all calls of its one connection.
 */
function keepConnections(config: KubeConfig): void {
  type Asked = Parameters<KubeConfig['createDispatcherOptions']>;
  const optionsOf = config.createDispatcherOptions.bind(config);
  config.createDispatcherOptions = (...asked) => {
    const options = optionsOf(...asked);
    if (options.type !== 'agent') return options;
    return { ...options, connect: { ...options.connect, allowH2: false } };
  };
  const make = (Reflect.get(config, 'createDispatcher') as (...asked: Asked) => unknown).bind(
    config,
  );
  let kept: { readonly asked: Asked; readonly dispatcher: unknown } | undefined;
  Reflect.set(config, 'createDispatcher', (...asked: Asked): unknown => {
    if (!isDeepStrictEqual(kept?.asked, asked)) kept = { asked, dispatcher: make(...asked) };
    return kept?.dispatcher;
  });
}

/** What it has started itself may live on and hold its pipes: nobody waits for those any more. */
function leave(child: ChildProcess): void {
  child.kill('SIGKILL');
  for (const pipe of child.stdio) pipe?.destroy();
  child.unref();
}

function after(timeoutMs: number): AbortSignal {
  const over = new AbortController();
  // Not AbortSignal.timeout: the client adds to the error's message, and that of its error is fixed.
  const why = `the API server gave no answer in ${timeoutMs / 1000} s`;
  setTimeout(() => over.abort(new InfrastructureError('API_SILENT', why)), timeoutMs).unref();
  return over.signal;
}

/** Nothing was sent yet: the API server is not the one that is silent. */
const noCredentials = (signal: AbortSignal, timeoutMs: number): Promise<never> =>
  new Promise((_, reject) => {
    const why = `the credential program of the kubeconfig gave no answer in ${timeoutMs / 1000} s`;
    const give = (): void => reject(new InfrastructureError('CREDENTIALS_SILENT', why));
    signal.addEventListener('abort', give, { once: true });
  });

async function made(config: KubeConfig) {
  // Imported here and not at the top: it takes most of a second.
  const kubernetes = await import('@kubernetes/client-node');
  return {
    config,
    core: config.makeApiClient(kubernetes.CoreV1Api),
    apps: config.makeApiClient(kubernetes.AppsV1Api),
    batch: config.makeApiClient(kubernetes.BatchV1Api),
    coordination: config.makeApiClient(kubernetes.CoordinationV1Api),
    storage: config.makeApiClient(kubernetes.StorageV1Api),
    policy: config.makeApiClient(kubernetes.PolicyV1Api),
    admission: config.makeApiClient(kubernetes.AdmissionregistrationV1Api),
    authorization: config.makeApiClient(kubernetes.AuthorizationV1Api),
    authentication: config.makeApiClient(kubernetes.AuthenticationV1Api),
    custom: config.makeApiClient(kubernetes.CustomObjectsApi),
    version: config.makeApiClient(kubernetes.VersionApi),
    /** Any kind of object, for manifests. */
    objects: kubernetes.KubernetesObjectApi.makeApiClient(config),
  };
}
export type KubeClients = Readonly<Awaited<ReturnType<typeof made>>>;
export const clientsOf = (config: KubeConfig): Promise<KubeClients> => made(config);

/** `timeoutMs`: as of `emptyKubeConfig`. */
export async function kubeClients(
  kubeconfigPath: string,
  timeoutMs?: number,
): Promise<KubeClients> {
  const config = await emptyKubeConfig(timeoutMs);
  config.loadFromFile(kubeconfigPath);
  return clientsOf(config);
}

interface WithConditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** Whether a node's or a pod's condition Ready holds; not where it is unknown. */
export const isReady = (status: WithConditions | undefined): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

/** Creates or changes objects, as `kubectl apply --server-side --force-conflicts` does. */
export async function apply(
  { objects }: KubeClients,
  manifests: readonly KubernetesObject[],
): Promise<void> {
  const { PatchStrategy } = await import('@kubernetes/client-node');
  const manager = 'forcedetach';
  for (const manifest of manifests) {
    const { ServerSideApply } = PatchStrategy;
    await objects.patch(manifest, undefined, undefined, manager, true, ServerSideApply);
  }
}

/** The HTTP status that the API answered with, where it answered. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;

/** Undefined instead of an error where there is no such object. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/**
 * The controllers taint, too: a node's are changed only on the version that was read. `change` gives
 * undefined where there is nothing to do.
 */
export const changeTaints = (
  { core }: Pick<KubeClients, 'core'>,
  name: string,
  change: (taints: readonly V1Taint[]) => readonly V1Taint[] | undefined,
  options: RetryOptions = { minTimeout: 50 },
): Promise<void> =>
  pRetry(
    async () => {
      const { metadata, spec } = await core.readNode({ name });
      const value = change(spec?.taints ?? []);
      if (value === undefined) return;
      const version = metadata?.resourceVersion;
      const body = [
        { op: 'test', path: '/metadata/resourceVersion', value: version },
        { op: 'add', path: '/spec/taints', value },
      ];
      await core.patchNode({ name, body });
    },
    { retries: 5, ...options },
  );

export interface UserCluster {
  readonly context: string;
  /** Files as of $KUBECONFIG, where it is not that one's. */
  readonly kubeconfig?: string;
}

export type UserClients = UserCluster & KubeClients;

/**
 * Clients of the context that is named, or the current one. `kubeconfig`: as $KUBECONFIG, which is the default;
 * without either ~/.kube/config, and in a pod without that its own account. `timeoutMs`: as of `emptyKubeConfig`. Asks the cluster nothing. Throws
 * InfrastructureError `KUBECONFIG_MISSING`, UsageError `NO_SUCH_CONTEXT`.
 */
export async function userClients(
  wanted?: string,
  kubeconfig?: string,
  timeoutMs?: number,
): Promise<UserClients> {
  // Imported here: it takes most of a second.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const files = kubeconfig ?? process.env['KUBECONFIG'];
  const config = readConfigs(await emptyKubeConfig(timeoutMs), () => new KubeConfig(), files);
  const names = config.getContexts().map(({ name }) => name);
  const context = wanted ?? config.getCurrentContext();
  if (!names.includes(context)) {
    throw new UsageError('NO_SUCH_CONTEXT', `there is no context \`${context}\``, {
      hint:
        names.length === 0
          ? 'the kubeconfig has none'
          : `choose one with --context: ${names.join(', ')}`,
      command: 'kubectl config get-contexts',
    });
  }
  config.setCurrentContext(context);
  const cluster = { context, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
  return { ...cluster, ...(await clientsOf(config)) };
}

/** Folder of a pod, which needs no kubeconfig. */
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount/token';
/** Name that the client gives it. */
const insideContext = 'inClusterContext';

/** Merges files as kubectl does: those that are not there are passed over, the first one leads. */
function readConfigs(
  merged: KubeConfig,
  empty: () => KubeConfig,
  kubeconfig: string | undefined,
): KubeConfig {
  const wanted = kubeconfig || join(homedir(), '.kube', 'config');
  const files = wanted.split(delimiter).filter((file) => file !== '' && existsSync(file));
  const missing = (cause?: unknown): InfrastructureError =>
    new InfrastructureError('KUBECONFIG_MISSING', `cannot read a kubeconfig: ${wanted}`, {
      hint: 'set KUBECONFIG to the file of your cluster',
      command: 'kubectl config view --minify',
      cause,
    });
  const isInside = kubeconfig === undefined && existsSync(serviceAccount);
  if (files.length === 0 && isInside) {
    merged.loadFromCluster();
    return merged;
  }
  if (files.length === 0) throw missing();
  try {
    merged.loadFromFile(files[0] ?? '');
    for (const file of files.slice(1)) {
      const next = empty();
      next.loadFromFile(file);
      merged.mergeConfig(next, Boolean(merged.getCurrentContext()));
    }
  } catch (cause) {
    throw missing(cause);
  }
  return merged;
}

/** `kubectl` on the cluster, to paste; in a pod there is no context to name. */
export function kubectl({ context, kubeconfig }: UserCluster, words: string): string {
  if (context === insideContext) return `kubectl ${words}`;
  const files = kubeconfig === undefined ? '' : `KUBECONFIG=${quote(kubeconfig)} `;
  return `${files}kubectl --context ${quote(context)} ${words}`;
}

/**
 * An answer of the cluster's API; `doing`: what was asked. Throws InfrastructureError
 * `CLUSTER_UNREACHABLE` where nothing answers as an API server does, in the client's time;
 * `CLUSTER_FORBIDDEN` where it does not know the user; `CLUSTER_REFUSED` where it answers with another error.
 */
export async function answered<T>(
  cluster: UserCluster,
  doing: string,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const status = statusOf(cause) ?? 0;
    if (status === 401)
      throw forbidden(
        cluster,
        'the API server does not accept your credentials (401)',
        'auth whoami',
      );
    // The client throws also what it can't read of a page that is no API's.
    if (status < 400) {
      throw new InfrastructureError(
        'CLUSTER_UNREACHABLE',
        `no API server answers at the context ${cluster.context}`,
        {
          hint: 'check that it runs, or choose another one with --context',
          command: kubectl(cluster, 'cluster-info'),
          cause,
        },
      );
    }
    throw new InfrastructureError(
      'CLUSTER_REFUSED',
      `the cluster of ${cluster.context} refused this: ${doing}`,
      {
        hint: 'a right, a quota or an admission policy may be the reason; its message is below',
        command: kubectl(cluster, 'get events -A'),
        cause,
      },
    );
  }
}

/** `command`: of kubectl, and shows it. */
export const forbidden = (
  cluster: UserCluster,
  what: string,
  command: string,
): InfrastructureError =>
  new InfrastructureError('CLUSTER_FORBIDDEN', `on the cluster of ${cluster.context} ${what}`, {
    hint: 'ask for the rights, or choose another cluster with --context',
    command: kubectl(cluster, command),
  });

export type Need = Pick<V1ResourceAttributes, 'group' | 'subresource' | 'name' | 'namespace'> & {
  readonly verb: string;
  readonly resource: string;
};

/** Writes it as `kubectl auth can-i` takes it. */
export const needText = ({ verb, group, resource, subresource, name }: Need): string => {
  const whole = [resource, ...(group === undefined ? [] : [group])].join('.');
  const named = name === undefined ? '' : `/${name}`;
  return `${verb} ${whole}${named}${subresource === undefined ? '' : ` --subresource=${subresource}`}`;
};

/** Words of kubectl. */
export const askingFor = (need: Need): string =>
  `auth can-i ${needText(need)}${need.namespace ? ` -n ${need.namespace}` : ''}`;

type AskedCluster = UserCluster & { readonly authorization: AuthorizationV1Api };

/** Whether the cluster would let the user do it. Throws as `answered` does. */
async function isAllowed(cluster: AskedCluster, need: Need): Promise<boolean> {
  const body = { spec: { resourceAttributes: need } };
  const review = cluster.authorization.createSelfSubjectAccessReview({ body });
  const allowed = review.then(({ status }) => status?.allowed ?? false);
  return answered(cluster, `asked whether you may ${needText(need)}`, allowed);
}

/** Tells what of these the cluster would not let the user do, in words. Throws as `answered` does. */
export const missingRights = async (
  cluster: AskedCluster,
  needs: readonly Need[],
): Promise<string[]> => [...new Set((await missingNeeds(cluster, needs)).map(needText))];

async function missingNeeds(cluster: AskedCluster, needs: readonly Need[]): Promise<Need[]> {
  const allowed = await Promise.all(needs.map((need) => isAllowed(cluster, need)));
  return needs.filter((_, index) => !allowed[index]);
}

/** Throws InfrastructureError `CLUSTER_FORBIDDEN` with all that is missing, and as `answered` does. */
export async function mustBeAllowed(cluster: AskedCluster, needs: readonly Need[]): Promise<void> {
  const [first, ...others] = await missingNeeds(cluster, needs);
  if (first === undefined) return;
  const words = new Set([first, ...others].map(needText));
  throw forbidden(cluster, `you may not ${[...words].join(', ')}`, askingFor(first));
}

/** Where Kubernetes mounts a pod's identity; the token is renewed there. */
const identityFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface ApiServer {
  readonly host: string;
  readonly port: number;
  /** Folder of the pod's `ca.crt` and `token`. Default: where Kubernetes mounts them. */
  readonly identity?: string;
}

interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

/** Rejects where no answer comes within the time; `timeoutMs` is by default 5000. */
export async function kubernetesGet(
  { host, port, identity = identityFolder }: ApiServer,
  path: string,
  timeoutMs = 5000,
): Promise<ApiAnswer> {
  const [ca, token] = await Promise.all([
    readFile(join(identity, 'ca.crt')),
    readFile(join(identity, 'token'), 'utf8'),
  ]);
  const headers = { Authorization: `Bearer ${token.trim()}`, Accept: 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, ca, headers, signal }, (response) => {
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (text: string) => (body += text));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

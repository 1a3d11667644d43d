/** The cluster that the user's kubeconfig names, and whether a sweep may run there. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type {
  AuthorizationV1Api,
  BatchV1Api,
  CoreV1Api,
  KubeConfig,
  V1ResourceAttributes,
} from '@kubernetes/client-node';
import { statusOf } from '../../cluster/kind/kube.ts';
import { InfrastructureError, UsageError } from '../../errors.ts';

export interface Access {
  readonly context: string;
  readonly core: CoreV1Api;
  readonly batch: BatchV1Api;
  readonly authorization: AuthorizationV1Api;
}

const answerMs = 15_000;

/**
 * The context that is named, or the current one. `kubeconfig`: as $KUBECONFIG, which is the default;
 * without either ~/.kube/config. Asks the cluster nothing. Throws InfrastructureError
 * `KUBECONFIG_MISSING`, UsageError `NO_SUCH_CONTEXT`.
 */
export async function accessTo(
  wanted: string | undefined,
  kubeconfig: string | undefined = process.env['KUBECONFIG'],
): Promise<Access> {
  // Imported here: it takes most of a second, and sweeps on this machine do without.
  const kubernetes = await import('@kubernetes/client-node');
  const config = readConfigs(() => new kubernetes.KubeConfig(), kubeconfig);
  const names = config.getContexts().map(({ name }) => name);
  const context = wanted ?? config.getCurrentContext();
  if (!names.includes(context)) {
    throw new UsageError('NO_SUCH_CONTEXT', `there is no context \`${context}\``, {
      hint: `choose with --context: ${names.join(', ') || 'but the kubeconfig has none'}`,
      command: 'kubectl config get-contexts',
    });
  }
  config.setCurrentContext(context);
  return {
    context,
    core: config.makeApiClient(kubernetes.CoreV1Api),
    batch: config.makeApiClient(kubernetes.BatchV1Api),
    authorization: config.makeApiClient(kubernetes.AuthorizationV1Api),
  };
}

/** As kubectl merges files: those that are not there are passed over, the first one leads. */
function readConfigs(empty: () => KubeConfig, kubeconfig: string | undefined): KubeConfig {
  const wanted = kubeconfig || join(homedir(), '.kube', 'config');
  const files = wanted.split(delimiter).filter((file) => file !== '' && existsSync(file));
  const missing = (cause?: unknown): InfrastructureError =>
    new InfrastructureError('KUBECONFIG_MISSING', `no kubeconfig can be read: ${wanted}`, {
      hint: 'set KUBECONFIG to the file of the cluster that the sweep may use',
      command: 'kubectl config view --minify',
      cause,
    });
  if (files.length === 0) throw missing();
  const merged = empty();
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

/** `kubectl` on the cluster, to paste. */
export const kubectl = ({ context }: Access, words: string): string =>
  `kubectl --context ${context} ${words}`;

type Need = Pick<V1ResourceAttributes, 'group' | 'subresource'> & {
  readonly verb: string;
  readonly resource: string;
};

/** What a sweep does there. The first two are asked for the whole cluster. */
const needs: readonly Need[] = [
  { verb: 'create', resource: 'namespaces' },
  { verb: 'delete', resource: 'namespaces' },
  { verb: 'create', resource: 'configmaps' },
  { verb: 'create', group: 'batch', resource: 'jobs' },
  { verb: 'get', group: 'batch', resource: 'jobs' },
  { verb: 'list', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
];

const textOf = ({ verb, resource, subresource }: Need): string =>
  `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;

/**
 * Asks the cluster, and creates nothing. `namespace`: one that will be. Throws InfrastructureError `CLUSTER_UNREACHABLE`,
 * `CLUSTER_FORBIDDEN`.
 */
export async function mustBeAllowed(access: Access, namespace: string): Promise<void> {
  const answers = await Promise.all(needs.map((need) => isAllowed(access, need, namespace)));
  const refused = needs.filter((_, index) => !answers[index]).map(textOf);
  const [first] = refused;
  if (first === undefined) return;
  throw forbidden(access, `you may not ${refused.join(', ')}`, `auth can-i ${first}`);
}

const forbidden = (access: Access, what: string, command: string): InfrastructureError =>
  new InfrastructureError('CLUSTER_FORBIDDEN', `on the cluster of ${access.context} ${what}`, {
    hint: 'ask for the rights, or choose another cluster with --context; nothing was created',
    command: kubectl(access, command),
  });

async function isAllowed(access: Access, need: Need, namespace: string): Promise<boolean> {
  const resourceAttributes = need.resource === 'namespaces' ? need : { ...need, namespace };
  const asked = access.authorization.createSelfSubjectAccessReview({
    body: { spec: { resourceAttributes } },
  });
  try {
    return (await inTime(asked)).status?.allowed ?? false;
  } catch (cause) {
    const status = statusOf(cause);
    if (status === 401 || status === 403) {
      throw forbidden(access, `your credentials are refused (${status})`, 'auth whoami');
    }
    throw new InfrastructureError(
      'CLUSTER_UNREACHABLE',
      `the cluster of ${access.context} does not answer`,
      {
        hint: 'nothing was created there; choose another one with --context',
        command: kubectl(access, 'cluster-info'),
        cause,
      },
    );
  }
}

/** An answer of the API; a refusal becomes InfrastructureError `CLUSTER_REFUSED`. */
export async function answered<T>(access: Access, doing: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new InfrastructureError(
      'CLUSTER_REFUSED',
      `the cluster of ${access.context} refused while ${doing}`,
      {
        hint: 'nothing of the sweep stays there',
        command: kubectl(access, 'get events -A'),
        cause,
      },
    );
  }
}

/** The client waits for ever. */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const why = new Error(`no answer within ${answerMs / 1000} s`);
  const timer = setTimeout(() => late.reject(why), answerMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

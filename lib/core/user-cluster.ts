/** A cluster that is not ours: the user's kubeconfig, what it answers, and what the user may do there. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { AuthorizationV1Api, KubeConfig, V1ResourceAttributes } from '@kubernetes/client-node';
import { quote } from 'zx';
import { clientsOf, statusOf, type KubeClients } from './kube.ts';
import { InfrastructureError, UsageError } from './errors.ts';
import { emptyKubeConfig } from './kubernetes-client.ts';

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

/** Whether the cluster would let the user do it. Throws as `answered` does. */
async function isAllowed(
  cluster: UserCluster & { readonly authorization: AuthorizationV1Api },
  need: Need,
): Promise<boolean> {
  const body = { spec: { resourceAttributes: need } };
  const review = cluster.authorization.createSelfSubjectAccessReview({ body });
  const allowed = review.then(({ status }) => status?.allowed ?? false);
  return answered(cluster, `asked whether you may ${needText(need)}`, allowed);
}

/** Tells what of these the cluster would not let the user do, in words. Throws as `answered` does. */
export const missingRights = async (
  cluster: UserCluster & { readonly authorization: AuthorizationV1Api },
  needs: readonly Need[],
): Promise<string[]> => [...new Set((await missingNeeds(cluster, needs)).map(needText))];

async function missingNeeds(
  cluster: UserCluster & { readonly authorization: AuthorizationV1Api },
  needs: readonly Need[],
): Promise<Need[]> {
  const allowed = await Promise.all(needs.map((need) => isAllowed(cluster, need)));
  return needs.filter((_, index) => !allowed[index]);
}

/** Throws InfrastructureError `CLUSTER_FORBIDDEN` with all that is missing, and as `answered` does. */
export async function mustBeAllowed(
  cluster: UserCluster & { readonly authorization: AuthorizationV1Api },
  needs: readonly Need[],
): Promise<void> {
  const [first, ...others] = await missingNeeds(cluster, needs);
  if (first === undefined) return;
  const words = new Set([first, ...others].map(needText));
  throw forbidden(cluster, `you may not ${[...words].join(', ')}`, askingFor(first));
}

/** The API clients of a probe. */
import type {
  AdmissionregistrationV1Api,
  AuthenticationV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  PolicyV1Api,
  StorageV1Api,
  VersionApi,
} from '@kubernetes/client-node';
import { userKubeConfig, type UserConfig } from '../user-cluster.ts';

export interface ProbeClients extends UserConfig {
  readonly core: CoreV1Api;
  readonly storage: StorageV1Api;
  readonly admission: AdmissionregistrationV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly authentication: AuthenticationV1Api;
  readonly policy: PolicyV1Api;
  readonly custom: CustomObjectsApi;
  readonly version: VersionApi;
}

/** Throws as `userKubeConfig` does. */
export async function probeClients(
  context?: string,
  kubeconfig?: string,
  timeoutMs?: number,
): Promise<ProbeClients> {
  const user = await userKubeConfig(context, kubeconfig, timeoutMs);
  const kubernetes = await import('@kubernetes/client-node');
  const { config } = user;
  return {
    ...user,
    core: config.makeApiClient(kubernetes.CoreV1Api),
    storage: config.makeApiClient(kubernetes.StorageV1Api),
    admission: config.makeApiClient(kubernetes.AdmissionregistrationV1Api),
    authorization: config.makeApiClient(kubernetes.AuthorizationV1Api),
    authentication: config.makeApiClient(kubernetes.AuthenticationV1Api),
    policy: config.makeApiClient(kubernetes.PolicyV1Api),
    custom: config.makeApiClient(kubernetes.CustomObjectsApi),
    version: config.makeApiClient(kubernetes.VersionApi),
  };
}

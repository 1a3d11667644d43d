/** The pods that a cut needs beside those of a trial: on the host, at a second vantage point. Pure. */
import type { V1Pod } from '@kubernetes/client-node';
import { containerName, labelsOf, onlyOn } from '../trials/objects.ts';

interface Where {
  readonly namespace: string;
  readonly node: string;
  readonly image: string;
}

/** Runs a command in the namespaces of the node's own first process, and ends. */
export function hostPod(
  { namespace, node, image }: Where,
  name: string,
  argv: readonly string[],
): V1Pod {
  return {
    metadata: { name, labels: labelsOf(namespace) },
    spec: {
      ...shortLived(node),
      hostPID: true,
      containers: [
        {
          ...{ name: containerName, image, imagePullPolicy: 'IfNotPresent' },
          command: ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--net', '--pid', '--'],
          args: [...argv],
          securityContext: { privileged: true },
        },
      ],
    },
  };
}

/** Says each half second whether another node's kubelet answers at its port. */
const vantageProgram = `
import { connect } from 'node:net';
const [host, port] = [process.env.TARGET, 10250];
let lines = 0;
for (;;) {
  const began = performance.timeOrigin + performance.now();
  const word = await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (word) => { socket.destroy(); resolve(word); };
    socket.once('connect', () => end('up')).once('timeout', () => end('down')).once('error', () => end('down'));
  });
  console.log((lines += 1) + ' ' + word + ' ' + began.toFixed(0));
  await new Promise((resolve) => setTimeout(resolve, 500));
}`;

export const vantageName = 'vantage';

export const vantagePod = ({ namespace, node, image }: Where, target: string): V1Pod => ({
  metadata: { name: vantageName, labels: labelsOf(namespace) },
  spec: {
    ...shortLived(node),
    containers: [
      {
        ...{ name: containerName, image, imagePullPolicy: 'IfNotPresent' },
        command: ['node', '--input-type=module', '--eval', vantageProgram],
        env: [{ name: 'TARGET', value: target }],
      },
    ],
  },
});

/** It comes to a node that is not Ready, too: what it does there mends it. */
const shortLived = (node: string) => ({
  ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false },
  terminationGracePeriodSeconds: 1,
  affinity: { nodeAffinity: onlyOn(node) },
  tolerations: [{ operator: 'Exists' }],
});

/** From what was read to the mode that is expected, each line with its source and how sure. */
import { documentedMode, type PredictedMode } from './documented.ts';
import type { Facts, NodeFacts } from './facts.ts';
import type { Line } from './line.ts';

export function predictDriver(facts: Facts): PredictedMode {
  const { lines, ...predicted } = documentedMode(facts);
  const known = [...classLines(facts), ...driverLines(facts), ...clusterLines(facts)];
  return { ...predicted, lines: [...known, ...lines] };
}

const read = (what: string, found: string, source: string): Line => ({
  ...{ what, found, source, sure: 'read' },
});

function classLines({ storageClass }: Facts): Line[] {
  if (storageClass === undefined) return [];
  const { metadata, provisioner, reclaimPolicy, volumeBindingMode, mountOptions } = storageClass;
  const source = `StorageClass ${metadata?.name}`;
  const parameters = Object.entries(storageClass.parameters ?? {});
  return [
    read('provisioner', provisioner, source),
    read(
      'parameters',
      parameters.map(([key, value]) => `${key}=${value}`).join(', ') || 'none',
      source,
    ),
    ...(mountOptions === undefined ? [] : [read('mount options', mountOptions.join(', '), source)]),
    read('reclaim policy', reclaimPolicy ?? 'Delete', source),
    read('binding', volumeBindingMode ?? 'Immediate', source),
  ];
}

/** Arguments that change when or how a volume is detached. */
const tellingFlag =
  /^--?(timeout|reconcile-sync|worker-threads|disable-force-detach-on-timeout|terminated-pod-gc-threshold|feature-gates|node-monitor-grace-period)\b/;

function driverLines({ driver, csiDriver, driverPods }: Facts): Line[] {
  const source = `CSIDriver ${driver}`;
  const lines =
    csiDriver === undefined
      ? []
      : [
          read('attach phase', csiDriver.spec.attachRequired === false ? 'none' : 'yes', source),
          read('fsGroupPolicy', csiDriver.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType', source),
          read('seLinuxMount', String(csiDriver.spec.seLinuxMount ?? false), source),
        ];
  const containers = new Map<
    string,
    { readonly pods: string[]; readonly args: readonly string[] }
  >();
  for (const pod of driverPods) {
    for (const { image, args } of pod.containers) {
      const same = containers.get(image) ?? { pods: [], args };
      same.pods.push(pod.name);
      containers.set(image, same);
    }
  }
  for (const [image, { pods, args }] of containers) {
    const flags = args.filter((each) => tellingFlag.test(each));
    lines.push(read('runs', [image, ...flags].join(' '), `pod ${pods[0]} (${pods.length} in all)`));
  }
  return lines;
}

function clusterLines({ kubernetes, nodes, controllerManager, refused }: Facts): Line[] {
  const flags = controllerManager?.filter((each) => tellingFlag.test(each));
  return [
    read('Kubernetes', kubernetes, 'version'),
    flags === undefined
      ? {
          ...{ what: 'kube-controller-manager', found: 'its flags can not be read here' },
          ...{ source: 'pods of kube-system', sure: 'not found' as const },
        }
      : read('kube-controller-manager', flags.join(' ') || 'no flag that matters', 'its pod'),
    ...[...Map.groupBy(nodes, machineOf)].map(([machine, same]) =>
      read(`node ${same.map(({ name }) => name).join(', ')}`, machine, 'Node'),
    ),
    ...refused.map(({ what, why }) => ({
      ...{ what, found: why, source: 'the API server', sure: 'not found' as const },
    })),
  ];
}

const machineOf = ({ kubelet, kernel, osImage, runtime, hasDriver }: NodeFacts): string =>
  `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}` +
  (hasDriver ? '' : '; without the driver');

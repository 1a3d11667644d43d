/**
 * The faults on the model without promises: what lib/faults does through the port, at once. A test
 * holds the two to the same verdict.
 */
import type { Component } from '../cluster/control-plane-port.ts';
import type { Stall } from '../cluster/machine-port.ts';
import { msUs } from '../cluster/sim/timings.ts';
import { linkStateOf } from '../disk-kinds.ts';
import type { FaultKind } from '../faults/kinds/index.ts';
import { leaseWriteMs } from '../faults/lease-write.ts';
import type { Scene } from './scene.ts';
import type { PodObject } from '../cluster/sim/api-objects.ts';
import { neverReady, type Model } from '../cluster/sim/model.ts';
import { restartMs } from '../experiment/waits.ts';

interface SyncFault {
  readonly breaks: (scene: Scene) => void;
  readonly mends: (scene: Scene) => void;
  /** What it goes on to do while the schedule is watched. */
  readonly goesOn?: (scene: Scene) => void;
}

const nothing = (): void => undefined;

function crash(scene: Scene): void {
  const { machine, model, victim, scenario } = scene;
  // As lib/faults/node-crash.ts: a database that dies of the cut is not reported.
  machine.stall('kubelet');
  model.volume.losePower(victim.node, scenario.powerLoss);
  machine.kill();
  model.volume.renew(victim.node);
}

function flap(scene: Scene): void {
  const { machine, scenario } = scene;
  scene.after(scenario.flapDownMs * msUs, () => {
    if (scene.isHealed) return;
    machine.setConnected(true);
    scene.after(scenario.flapUpMs * msUs, () => {
      if (scene.isHealed) return;
      machine.setConnected(false);
      flap(scene);
    });
  });
}

const boot = ({ machine }: Scene): void => machine.start();

const stall = (what: Stall): SyncFault => ({
  breaks: ({ machine }) => machine.stall(what),
  mends: ({ machine }) => machine.resume(),
});

const outage = (component: Component): SyncFault => ({
  breaks: ({ model }) => model.controlPlane.stall(component),
  mends: ({ model }) => model.controlPlane.resume(component),
});

const writeLease = ({ model, victim }: Scene, value: string | undefined): void =>
  model.operator.annotateLease(victim.node, value);

/** Until the annotation is taken away. */
function writeOn(scene: Scene, count = 1): void {
  scene.after(leaseWriteMs * msUs, () => {
    if (scene.model.api.node(scene.victim.node).leaseAnnotation === undefined) return;
    writeLease(scene, `${count}`);
    writeOn(scene, count + 1);
  });
}

export const syncFaults: Readonly<Record<FaultKind, SyncFault>> = {
  none: { breaks: nothing, mends: nothing },
  'node-crash': {
    breaks: crash,
    mends: (scene) => (scene.scenario.reboot ? boot(scene) : undefined),
  },
  'node-reboot': {
    breaks: crash,
    mends: boot,
    goesOn: (scene) => scene.at(scene.scenario.rebootAt, () => boot(scene)),
  },
  'network-partition': {
    breaks({ machine, model, victim, scenario }) {
      machine.setConnected(false);
      if (scenario.link !== 'survives') {
        model.volume.setLink(victim.node, linkStateOf[scenario.link]);
      }
    },
    mends({ machine, model, victim }) {
      model.volume.setLink(victim.node, 'pass');
      machine.setConnected(true);
    },
  },
  'api-partition': {
    breaks: ({ machine }) => machine.setIsolated(true),
    mends: ({ machine }) => machine.setIsolated(false),
  },
  freeze: {
    breaks: ({ machine }) => machine.freeze(),
    mends: ({ machine }) => machine.thaw(),
  },
  'kubelet-stall': stall('kubelet'),
  'runtime-stall': stall('runtime'),
  'kubelet-restart': { breaks: ({ machine }) => machine.restartKubelet(), mends: nothing },
  'cpu-starvation': {
    breaks: ({ machine, scenario }) => machine.throttle(scenario.cpuShare),
    mends: ({ machine }) => machine.unthrottle(),
  },
  'flapping-partition': {
    breaks: ({ machine }) => machine.setConnected(false),
    mends: ({ machine }) => machine.setConnected(true),
    goesOn: flap,
  },
  'controller-restart': {
    breaks: ({ model }) => model.controlPlane.kill('controller-manager'),
    mends: nothing,
  },
  'api-outage': outage('api-server'),
  'attacher-down': outage('attacher'),
  'lease-write': {
    breaks: (scene) => writeLease(scene, '0'),
    mends: (scene) => writeLease(scene, undefined),
    goesOn: (scene) => writeOn(scene),
  },
};

/** Kills the pod's server so often; after the last time its container is reported as waiting. */
export function killServers(model: Model, pod: PodObject, kills: number, seed: string): void {
  const { kernel } = model;
  const until = (isSo: () => boolean): void => {
    const deadlineUs = kernel.nowUs + restartMs * msUs;
    while (!isSo() && kernel.nowUs < deadlineUs && kernel.step());
    if (isSo()) return;
    throw neverReady(seed);
  };
  for (let left = kills; left > 0; left--) {
    until(() => pod.ready);
    model
      .kubelet(pod.node?.name ?? '')
      .container()
      ?.killServer();
    until(() => !pod.ready);
  }
  until(() => kills === 0 || !pod.containersRun);
}

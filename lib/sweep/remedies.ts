/** The remedies on the model without promises: what lib/remedies does through the port, at once. */
import { outOfServiceKey } from '../taints.ts';
import { msUs } from '../cluster/sim/timings.ts';
import { drainMs } from '../experiment/waits.ts';
import type { RemedyKind } from '../remedies/kinds/index.ts';
import type { Scene } from './scene.ts';

export interface SyncRemedy {
  readonly applies: (scene: Scene) => void;
  readonly undoes?: (scene: Scene) => void;
  /** Called once it has acted: returns whether whoever applies it is done with that. Default: at once. */
  readonly lasts?: (scene: Scene) => () => boolean;
}

/** Cordons a node and evicts its pods. */
export function drain({ model }: Scene, node: string): void {
  model.operator.cordon(node);
  model.operator.evict(node);
}

const outOfService: SyncRemedy = {
  applies: ({ model, victim }) =>
    model.operator.taint(victim.node, { key: outOfServiceKey, effect: 'NoExecute' }),
  undoes: ({ model, victim }) => model.operator.untaint(victim.node, outOfServiceKey),
};

const takeAttachment = (stripFinalizers: boolean): SyncRemedy => ({
  applies: ({ model, victim }) =>
    void model.operator.deleteAttachments(victim.node, { stripFinalizers }),
});

export const syncRemedies: Readonly<Record<RemedyKind, SyncRemedy>> = {
  none: { applies: () => undefined },
  'force-delete': { applies: ({ model, victim }) => model.operator.forceDelete(victim.uid) },
  delete: { applies: ({ model, victim }) => model.operator.deletePod(victim.uid) },
  'out-of-service': outOfService,
  'fence-first': {
    ...outOfService,
    applies(scene) {
      const { volume } = scene.model;
      volume.cut(volume.pathsOf(scene.victim.node));
      outOfService.applies(scene);
    },
  },
  'delete-node': {
    applies: ({ model, victim }) => model.operator.deleteNode(victim.node),
    // A kubelet makes its Node only when it starts; one that is down does so when it boots.
    undoes({ model, victim, machine }) {
      if (model.api.node(victim.node).exists || machine.state !== 'running') return;
      machine.restartKubelet();
    },
  },
  drain: {
    applies: (scene) => drain(scene, scene.victim.node),
    lasts(scene) {
      const { api } = scene.model;
      const leaving = api.podWithUid(scene.victim.uid);
      let isOver = leaving === undefined;
      scene.after(drainMs * msUs, () => {
        isOver = true;
      });
      return () => isOver || (leaving !== undefined && !api.pods.has(leaving));
    },
    undoes: ({ model, victim }) => model.operator.uncordon(victim.node),
  },
  'delete-attachment': takeAttachment(false),
  'strip-attachment-finalizer': takeAttachment(true),
  'strip-pod-finalizer': {
    applies({ model, victim }) {
      model.operator.forceDelete(victim.uid);
      model.operator.stripPodFinalizers(victim.uid);
    },
  },
};

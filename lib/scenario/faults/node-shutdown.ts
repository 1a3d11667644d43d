/**
 * A person or a cloud shuts the victim down. Without a grace period, as by default, its kubelet is the first to
 * end. With one a kubelet ends its pods itself: they are Failed, so that nothing holds their volumes, and no
 * eviction comes before the six minutes (volume/util IsPodTerminated). Who scales in, replaces or reclaims a node
 * drains it first, and shuts it down when its pods are gone or the notice is over: that may be before it unmounted,
 * or before its kubelet said so.
 */
import { choice, oneOf, seconds } from '../field.ts';
import { faultKind } from './kind.ts';

/** Whether a node's driver outlives the pods that use it (kubelet nodeshutdown, killPods). */
export const driverEnds = ['last', 'with-pods'] as const;

/** A third of the kubelets' grace is for critical pods; both must be whole seconds (kubelet's validation.go). */
export const criticalGraceMs = (graceMs: number): number => Math.floor(graceMs / 3000) * 1000;

export const nodeShutdown = faultKind({
  name: 'node-shutdown',
  question:
    'A node is shut down: when does its volume move, and does every acknowledged commit survive?',
  words: 'the old node is shut down',
  happens:
    '`systemctl poweroff`, with `drainFor` after a drain: what runs there ends in order, by `shutdownGrace` and `driverEnds`; it stays down until the heal',
  certificate: 'it is down',
  breaks: 'shut down',
  mends: 'power cycle',
  whole: ['victim runs'],
  broken: ['victim down'],
  mended: ['victim runs again'],
  silencesKubelet: true,
  endsMachine: true,
  leastMs: 0,
  cutsClientsOff: true,
  sharesEvents: true,
  needs: ['node-power', 'node-shutdown', 'power-loss'],
  fields: {
    shutdownGrace: seconds(3600, 0, {
      about:
        'shutdownGracePeriod of the kubelets, a third of it for critical pods; 0s, as by default: a kubelet ends no pods',
      swept: { isAsked: true, draw: oneOf([0, 30_000, 60_000]) },
    }),
    driverEnds: choice(driverEnds, 'last', {
      about:
        'last: the driver’s pods are system-node-critical; with-pods: they have no priority, and end beside the database',
      swept: { isAsked: true },
    }),
    drainFor: seconds(3600, 0, {
      about:
        'drain the node first, for at most so long, as who replaces it or a spot notice does; 0s: nobody does',
      needs: 'drain',
    }),
  },
});

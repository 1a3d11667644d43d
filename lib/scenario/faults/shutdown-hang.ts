/**
 * A shutdown that waits for ever for one unit, after its kubelet has ended: to Kubernetes the node is lost, to
 * whoever ordered the shutdown it may count as off, and its database serves on.
 */
import { faultKind } from './kind.ts';

export const shutdownHang = faultKind({
  name: 'shutdown-hang',
  question:
    'A shutdown hangs and the database lives: does Kubernetes let a second node write the volume?',
  words: 'the shutdown of the old node hangs and the database keeps running',
  happens:
    '`systemctl poweroff` with a unit that never stops: kubelet and containerd end, the database runs on; switched off and on at the heal',
  certificate: 'its kubelet has ended, the node runs',
  breaks: 'hang in shutdown',
  mends: 'power cycle',
  whole: ['victim runs'],
  broken: ['victim still runs'],
  mended: ['victim runs again'],
  silencesKubelet: true,
  sharesEvents: true,
  needs: ['node-power', 'node-shutdown'],
});

/**
 * The victim's clock is set back. Kubernetes' own waits do not move: Go's clock is monotonic, and the node
 * monitor counts from when it saw a renewal. But it sees one only in a Lease whose renewTime is later than
 * the last it saw (node_lifecycle_controller.go tryUpdateNodeHealth, savedLease.Spec.RenewTime.Before): until
 * the clock has caught up, none counts. Status reports still do, and a kubelet sends one within 10 s of being
 * set Unknown (kubelet_node_status.go, nodeStatusUpdateFrequency): its node flaps. A clock that is set forward
 * changes nothing until it is corrected, which is a step back.
 */
import { time } from '../field.ts';
import { faultKind } from './kind.ts';

export const clockStep = faultKind({
  name: 'clock-step',
  question: 'The clock of a node is set back, no node is lost: does any volume move?',
  words: 'the clock of the old node is set back',
  happens:
    'its clock is set back by `clockBack`: until that has passed, no renewal of its Lease counts; the database runs on',
  certificate: 'its clock is behind',
  breaks: 'set clock back',
  mends: 'set clock right',
  whole: ['clock right'],
  broken: ['clock behind', 'victim still runs'],
  needs: ['node-clock'],
  keeps: { 'selfFence.kind': 'how a sidecar reads a Lease whose time goes back is not modelled' },
  fields: {
    clockBack: time(120_000, {
      about: 'how far the clock of the victim is set back',
      least: 1,
    }),
  },
});

/** The fields of a scenario that say which Kubernetes it is, and how long it waits. */
import { z } from 'zod';
import { choice, field, oneOf, secondsWithin, textOf, time } from './field.ts';
import {
  gatesText,
  isKubernetes,
  kubernetesDefault,
  kubernetesMinors,
  kubernetesWords,
  modelledGates,
  type FeatureGates,
} from '../core/index.ts';

const gateName = /^[A-Z][A-Za-z0-9]+$/;

/** Without the leading `v`. */
export const kubernetesText = textOf((text) => {
  const word = text.replace(/^v/, '');
  return isKubernetes(word) ? word : undefined;
}, `Give ${kubernetesWords}.`);

/** `fencing-proof`: manifests/prevention/fencing-proof.yaml. */
export const admissions = ['open', 'fencing-proof'] as const;

export const kubernetesFields = {
  version: field(
    z
      .string()
      .refine(isKubernetes, `no such Kubernetes: ${kubernetesWords}`)
      .default(kubernetesDefault),
    {
      value: 'version',
      about: 'a minor version, or a patch such as 1.37.2 (the model plays its minor)',
      more: '([which ones](kubernetes-versions.md)); before 1.32 the stock `timers.grace` is 40s',
      text: kubernetesText,
      swept: { draw: oneOf(kubernetesMinors) },
    },
  ),
  featureGates: field(
    z
      .record(z.string().max(100).regex(gateName, 'no feature gate is written so'), z.boolean())
      .default({}),
    {
      flag: 'feature-gate',
      value: 'name=true|false',
      about: 'a feature gate of all components, on or off; may be repeated',
      more: 'such as `{ NodeControllerLeaseCircuitBreaker: false }`',
      text: textOf((text): FeatureGates | undefined => {
        const [, name, state] = /^([A-Z][A-Za-z0-9]+)=(true|false)$/.exec(text) ?? [];
        return name === undefined ? undefined : { [name]: state === 'true' };
      }, 'Give a gate such as NodeControllerLeaseCircuitBreaker=false.'),
      show: (gates) => gatesText(gates as FeatureGates) || 'none',
      needs: 'any-gate',
      needing: (gates, { kubernetes }) => {
        const played = modelledGates(kubernetes.version);
        return Object.keys(Object(gates)).find((name) => !played.includes(name));
      },
    },
  ),
  admission: choice(admissions, 'open', {
    about:
      'fencing-proof: an admission policy refuses what takes a volume from a lost node, unless a proof of fencing is stated (Kubernetes ≥ 1.30)',
    more: '([prevent it](../how-to/prevent.md))',
    needs: 'admission-policy',
  }),
};

/** The stock value of each timer that can be shortened; before Kubernetes 1.32 the first was 40 s (#126287). */
export const stockTimers = { grace: 50_000, toleration: 300_000, forceDetachAfter: 360_000 };

export const timerFields = {
  forceDetach: choice(['on', 'off'], 'on', {
    about: 'off: kube-controller-manager --disable-force-detach-on-timeout (Kubernetes ≥ 1.30)',
    swept: { share: 0.1, asksNoRow: true, draw: () => 'off' },
  }),
  grace: time(stockTimers.grace, {
    about: 'node-monitor-grace-period',
    swept: { share: 0.15, draw: secondsWithin(5, 60) },
    least: 1,
  }),
  // The admission plugin's.
  toleration: time(stockTimers.toleration, {
    about: 'tolerationSeconds of the unreachable taint',
    swept: { share: 0.15, draw: secondsWithin(0, 300) },
  }),
  // attach_detach_controller.go, DefaultTimerConfig, ReconcilerMaxWaitForUnmountDuration.
  forceDetachAfter: time(stockTimers.forceDetachAfter, {
    about:
      'how long the attach/detach controller waits for an unmount (to change it: built images or sim)',
    of: ['on'],
    isHarmless: true,
    needs: 'force-detach-wait',
    swept: { share: 0.15, draw: secondsWithin(5, 360) },
    least: 1,
  }),
};

/** Of how long a run is watched. */
export const watchFields = {
  warmup: time(10_000, {
    about: 'how long writers run before the fault',
    swept: { isAsked: true, draw: secondsWithin(0, 30) },
  }),
  overlap: time(20_000, {
    about: 'how long writers run after the successor’s first commits; not with fault.recreations',
    swept: { isAsked: true, draw: secondsWithin(1, 40) },
  }),
  patience: time(90_000, {
    about:
      'how much longer to watch a successor that mounted but commits nothing; not with fault.recreations',
  }),
  horizon: time(900_000, {
    about: 'the watch ends at the latest this long after the fault',
    // Where nobody takes over, the fault lasts so long.
    swept: { share: 0.4, isAsked: true, draw: secondsWithin(20, 900) },
    least: 1,
  }),
  converge: time(180_000, {
    about: 'after the heal, a server must commit again within this time',
    least: 1,
  }),
};

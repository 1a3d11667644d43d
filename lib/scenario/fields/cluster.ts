/** The fields of a scenario that say which Kubernetes it is, and how long it waits. */
import { z } from 'zod';
import { choice, field, time, under } from './field.ts';
import { oneOf, secondsWithin } from './swept.ts';
import { textOf } from './texts.ts';
import {
  gatesText,
  isKubernetes,
  kubernetesDefault,
  kubernetesMinors,
  kubernetesWords,
  modelledGates,
  type FeatureGates,
} from '../../core/index.ts';

const gateName = /^[A-Z][A-Za-z0-9]+$/;

/** Without the leading `v`. */
export const kubernetesText = textOf((text) => {
  const word = text.replace(/^v/, '');
  return isKubernetes(word) ? word : undefined;
}, `Give ${kubernetesWords}.`);

export const forceDetachFields = {
  forceDetach: choice('timers.forceDetach', ['on', 'off'], 'on', {
    about: 'off: kube-controller-manager --disable-force-detach-on-timeout (Kubernetes ≥ 1.30)',
    swept: { share: 0.1, asksNoRow: true, draw: () => 'off' },
  }),
};

export const kubernetesFields = {
  kubernetes: field(
    'kubernetes.version',
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
    'kubernetes.featureGates',
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
        const played = modelledGates(String(kubernetes));
        return Object.keys(Object(gates)).find((name) => !played.includes(name));
      },
    },
  ),
};

/** The stock value of each timer that can be shortened; before Kubernetes 1.32 the first was 40 s (#126287). */
export const stockTimersMs = {
  graceMs: 50_000,
  tolerationMs: 300_000,
  forceDetachAfterMs: 360_000,
};

export const timerFields = {
  graceMs: time('timers.grace', stockTimersMs.graceMs, {
    about: 'node-monitor-grace-period',
    swept: { share: 0.15, draw: secondsWithin(5, 60) },
    least: 1,
  }),
  // The admission plugin's.
  tolerationMs: time('timers.toleration', stockTimersMs.tolerationMs, {
    about: 'tolerationSeconds of the unreachable taint',
    swept: { share: 0.15, draw: secondsWithin(0, 300) },
  }),
  // attach_detach_controller.go, DefaultTimerConfig, ReconcilerMaxWaitForUnmountDuration.
  forceDetachAfterMs: under(
    'forceDetach',
    time('timers.forceDetachAfter', stockTimersMs.forceDetachAfterMs, {
      about:
        'how long the attach/detach controller waits for an unmount (to change it: built images or sim)',
      of: ['on'],
      isHarmless: true,
      needs: 'force-detach-wait',
      swept: { share: 0.15, draw: secondsWithin(5, 360) },
      least: 1,
    }),
  ),
};

/**
 * Who goes first where the machine's processors are full. A container weighs 1024, and databases,
 * their audits and workers may wait. A controller manager that waits does not: after 10 s without its
 * lease (`leader-elect-renew-deadline`) another takes over, which counts every toleration anew. That
 * was seen with three clusters on two cores: pods were evicted two minutes late.
 */
export const cpuWeights = { controlPlane: 8192, array: 4096 } as const;

/** Flags of a container's making, and of its update. */
export const weighing = (who: keyof typeof cpuWeights): readonly string[] => [
  '--cpu-shares',
  String(cpuWeights[who]),
];

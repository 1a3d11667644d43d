/** What may name a cluster of ours: a hostname with what is added to it stays within 63 characters. */
export const isClusterName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]{0,28}[a-z0-9])?$/.test(name);
export const clusterNameRule =
  'lower-case letters and digits, dots and dashes within, at most 30 characters';

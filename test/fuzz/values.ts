/** Words and values that have broken programs before. */

/** Of a command line: no NUL, which no system takes there. */
export const words: readonly string[] = [
  ...['', ' ', '-', '--', '-1', '0', '00', '1e309', 'NaN', 'Infinity', '0x10', '1.5', '1,000'],
  ...['99999999999999999999999', '2147483648', '0.4ms', '25h', '30d', '1s2', '-5s', '500000h'],
  ...['__proto__', 'constructor', 'toString', 'prototype', 'null', 'undefined', 'true', '[]', '{}'],
  ...[
    '\u001b[31mred',
    '\u001b]0;title\u0007',
    'a\rb',
    'a\nb',
    '\u202egnp',
    '%s%n%x',
    '$(id)',
    '`id`',
  ],
  ...["it's a tést", '数据', '🦀', 'a b', '"', '\\', '*', '?', '~', 'a/../../b', '../../../up'],
  ...['/dev/full', '/dev/zero', '/proc/x', '/proc/self/mem', '/nowhere/at/all', '.', './none'],
  ...['1/0', '0/1', '3/2', 'a=b', 'A=true', 'A=maybe', 'v1.99', '1.37.999999', 'latest', 'max'],
  'x'.repeat(5000),
  '9'.repeat(400),
];

/** Names of flags that JavaScript's objects have something of. */
export const flagsOfObjects: readonly string[] = [
  ...['--constructor', '--__proto__', '--toString', '--hasOwnProperty', '--prototype'],
  ...['--constructor=1', '--__proto__.polluted=1', '--no-constructor', '-x', '--', '--='],
];

/** Of a document: what stands where something else was meant. */
export const values: readonly unknown[] = [
  ...[null, true, false, 0, -1, 0.5, 1e-9, 1e300, 2 ** 31, 2 ** 53, -0, '', ' ', 'null', '0'],
  ...[[], {}, [[]], [null], { a: { b: { c: {} } } }, { constructor: 1 }, { toString: null }],
  ...['\u001b[2J', '\u0000', '\u202e', '__proto__', 'constructor', '../../../up', '数据', '🦀'],
  ...['x'.repeat(10_000), Array.from({ length: 2000 }, (_, n) => n)],
  ...['1e9s', '-5s', '25h', '0.4ms', '2147483648', 'max', '1.37', '2026-13-45T99:99:99Z'],
];

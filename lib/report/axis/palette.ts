/** How a bar is coloured: what it means for the volume, not which thing it is. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'neutral' | 'action';
/** Whose lane it is: the run's own, the node's that the fault hit, that of the node that came next … */
export type Role = 'run' | 'control-plane' | 'victim' | 'successor' | 'other';

export type Palette = ReturnType<typeof paletteOf>;

export const darkBarText = '#10171e';

type Colors = readonly [light: string, dark: string];
const tones = {
  good: ['#5aa469', '#4b9a63'],
  busy: ['#4f83c4', '#4a7fc0'],
  warn: ['#e0a030', '#c98a22'],
  bad: ['#cf4b43', '#d65a50'],
  neutral: ['#aab4bf', '#56616d'],
  action: ['#2b8f8a', '#3aa7a1'],
} as const satisfies Readonly<Record<Tone, Colors>>;
const roles = {
  run: ['#66717d', '#7b8794'],
  victim: ['#8a53b5', '#a678d3'],
  successor: ['#2f6db5', '#5c9ae0'],
  'control-plane': ['#66717d', '#7b8794'],
  other: ['#98a2ad', '#5d6874'],
} as const satisfies Readonly<Record<Role, Colors>>;
const lightLines = ['#3d8b5f', '#d9822b', '#b3404a', '#5b6770'];
const darkLines = ['#63b98a', '#eaa04f', '#e0757d', '#9aa7b4'];

const shaded = <Name extends string>(
  colors: Readonly<Record<Name, Colors>>,
  shade: 0 | 1,
): Readonly<Record<Name, string>> =>
  Object.fromEntries(
    Object.entries<Colors>(colors).map(([name, both]) => [name, both[shade]]),
  ) as Record<Name, string>;

const paletteOf = (shade: 0 | 1) => ({
  ...shaded({ text: ['#1f2933', '#e4e9ee'], faint: ['#66717d', '#9ba7b3'] }, shade),
  ...shaded({ line: ['#d9dee4', '#333c46'], barText: ['#ffffff', darkBarText] }, shade),
  tones: shaded(tones, shade),
  roles: shaded(roles, shade),
  lines: shade === 0 ? lightLines : darkLines,
});

export const palettes = { light: paletteOf(0), dark: paletteOf(1) };

/** A state that is as it should be has the colour of whose it is; what is amiss has its own. */
export const barColor = (tone: Tone, role: Role, palette: Palette): string =>
  tone === 'good' || tone === 'busy' || tone === 'neutral'
    ? palette.roles[role]
    : palette.tones[tone];

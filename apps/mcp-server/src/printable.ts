/**
 * Text as a terminal may show it: characters that control it, that turn the direction of what follows, or that are half
 * of one, as their code (`\u{1b}`). Request ids and titles can hold anything.
 */
export const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** Text of several lines the same way: the ends of its lines and its tabs stay. */
export const printableLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n')

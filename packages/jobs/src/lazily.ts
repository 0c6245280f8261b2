/** Made at the first need and kept: checkers of shapes that a server without jobs never needs. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

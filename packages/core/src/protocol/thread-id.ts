/**
 * One spelling for the ways in which the App Server takes a thread id: any case, without hyphens, in braces, as a URN.
 * Two ids name the same thread exactly when theirs are equal.
 */
export const threadKey = (threadId: string): string =>
  threadId
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replaceAll(/[{}-]/g, '')

/** A thread id as the App Server itself writes it; an id that is no UUID stays as it is. */
export const canonicalThreadId = (threadId: string): string => {
  const key = threadKey(threadId)
  return /^[0-9a-f]{32}$/.test(key)
    ? [key.slice(0, 8), key.slice(8, 12), key.slice(12, 16), key.slice(16, 20), key.slice(20)].join('-')
    : threadId
}

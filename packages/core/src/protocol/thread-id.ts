/**
 * One spelling for the ways in which the App Server takes a thread id: any case, without hyphens, in braces, as a URN.
 * Two ids name the same thread exactly when theirs are equal.
 */
export const threadKey = (threadId: string): string =>
  threadId
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replaceAll(/[{}-]/g, '')

/** The Codex versions that the real-server tests run with, oldest first (`npm test` and `npm run test:compat`). */
export const testedVersions = ['0.153.4', '0.154.0', '0.163.0', '0.171.0'] as const

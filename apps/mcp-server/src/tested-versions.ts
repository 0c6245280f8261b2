/** The oldest and the newest Codex that the tests run with. */
export const testedVersions = ['0.153.4', '0.171.0'] as const

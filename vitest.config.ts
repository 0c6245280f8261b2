import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'apps/*/test/**/*.test.ts',
      'test-fixtures/test/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    // Real servers start in most files: the limits are for a loaded two-core machine, not for speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    pool: 'forks',
  },
})

import tseslint from 'typescript-eslint'

/** Import rules of docs/architecture.md, one list a folder. */
const noInternals = {
  group: [
    '@codex-thread-bridge/*/src/*',
    '@codex-thread-bridge/*/dist/*',
    '**/packages/*/src/**',
    '**/apps/*/src/**',
    '**/test-fixtures/src/**',
  ],
  message: 'Import a package through its public entry.',
}
const noMcp = { group: ['@modelcontextprotocol/*'], message: 'Only packages/mcp knows MCP.' }
const noOurs = {
  group: ['@codex-thread-bridge/*', 'codex-thread-bridge'],
  message: 'core stands below every other package.',
}
const noNative = {
  group: ['ws', 'better-sqlite3'],
  message: 'Only core/transport imports ws, only core/ledger better-sqlite3.',
}
const noOtherTools = {
  group: ['@codex-thread-bridge/*', '!@codex-thread-bridge/core', '!@codex-thread-bridge/core/*'],
  message: 'A tool package imports core and its own libraries, never another tool package.',
}
const noFixtures = { group: ['@codex-thread-bridge/test-fixtures'], message: 'Fixtures are for tests.' }
/** @param {...{group: string[], message: string}} patterns */
const imports = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] })

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '**/.turbo/**',
      'coverage/**',
      '.compat/**',
      '**/*.js',
      '**/*.mjs',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: false,
        project: ['./tsconfig.tests.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-console': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-assertions': [
        'error',
        { assertionStyle: 'as', objectLiteralTypeAssertions: 'never' },
      ],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      ...imports(noInternals),
    },
  },
  { files: ['packages/core/src/**'], rules: imports(noInternals, noMcp, noOurs, noNative) },
  {
    files: ['packages/core/src/transport/**', 'packages/core/src/ledger/**'],
    rules: imports(noInternals, noMcp, noOurs),
  },
  {
    files: ['packages/{threads,reads,goals,operations,worktrees,app-threads}/src/**'],
    rules: imports(noInternals, noMcp, noNative, noOtherTools),
  },
  { files: ['packages/jobs/src/**'], rules: imports(noInternals, noMcp, noOtherTools) },
  { files: ['packages/mcp/src/**'], rules: imports(noInternals, noNative, noOtherTools) },
  { files: ['apps/*/src/**'], rules: imports(noInternals, noMcp, noNative) },
  { files: ['packages/*/test/**', 'apps/*/test/**'], rules: imports(noMcp) },
  { files: ['test-fixtures/**'], rules: imports(noOurs) },
  { files: ['scripts/**', 'bench/**', 'apps/*/src/commands/**'], rules: { 'no-console': 'off' } },
)

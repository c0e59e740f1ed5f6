"""`kruntimes config` checks a configuration, describes what one may say, and shows what holds."""

"""The `kruntimes` command: it reads options, calls the rooms below, and shows what they answer."""

"""`kruntimes plugins` shows what is installed, what is active, and why not."""

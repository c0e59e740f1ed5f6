"""The figures of docs/performance.md: which command gives each, and how the page gets them."""

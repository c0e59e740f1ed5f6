"""The figures of the documentation: which command gives each, and how a page gets them."""

"""The record that every decision leaves: kept by reference, rendered when somebody asks."""

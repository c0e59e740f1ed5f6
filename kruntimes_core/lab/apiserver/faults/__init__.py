"""What goes wrong between a client and the server, on purpose and under control."""

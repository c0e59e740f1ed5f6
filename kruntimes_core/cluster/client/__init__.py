"""The client of the API server: transport, connection, API errors and resources, as in client-go."""

"""HTTP between gateways, bounded: of clients, and of services that are posted on to."""

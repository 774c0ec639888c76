"""Types, clients and schemas of a gateway, made from its catalog alone."""

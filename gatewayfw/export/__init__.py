"""What others read of a gateway, made from its catalog and nothing else: types, clients, schemas."""

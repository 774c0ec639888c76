"""What tests of a gateway need: a local MongoDB server and the pytest plugin."""

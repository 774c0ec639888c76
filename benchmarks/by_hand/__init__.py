"""The same service as a good engineer writes it by hand; the references of the measurements.

What they leave out is what gatewayfw adds without being asked: context, request ids, strict
reading (depth, NaN, surrogates), and what keeps copies right under concurrent writers and crashes.
"""

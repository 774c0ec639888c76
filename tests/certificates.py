"""Certificates for servers of tests, and what such a server does with one."""

from __future__ import annotations

import datetime
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_certificate(file, name="test", address="127.0.0.1", begun=-1, ends=1):
    """Write a certificate of itself and its key into a file, valid from -> until in days."""
    key = ec.generate_private_key(ec.SECP256R1())
    owner = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(owner)
        .issuer_name(owner)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=begun))
        .not_valid_after(now + datetime.timedelta(days=ends))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    file.write_bytes(key.private_bytes(plain[2], plain[1], plain[0]) + built.public_bytes(plain[2]))


def shake_hands(connection, context):
    """Do a server's part of a TLS handshake, until it is done or the client refuses it.

    Not with ``wrap_socket``: after a failed handshake that leaves the socket open in Python 3.11.
    """
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(received, sent, server_side=True)
    while True:
        try:
            tls.do_handshake()
            more = False
        except ssl.SSLWantReadError:
            more = True
        except ssl.SSLError:
            return
        connection.sendall(sent.read())
        data = connection.recv(65_536) if more else b""
        if not data:
            return
        received.write(data)

"""Makes the certificates of the matrix: certificates.py FOLDER.

For each case NAME.pem with what the server sends, NAME.key, and NAME.pin with the public key's SHA-256 as curl writes
it. root.pem is the authority that clients trust, intermediate.pem the one below it that signs.
"""

import base64
import datetime
import hashlib
import ipaddress
import os
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.datetime.utcnow().replace(microsecond=0)
DAY = datetime.timedelta(days=1)
HERE = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]


def certificate(name, issuer=None, authority=False, names=None, start=NOW - DAY, end=NOW + 30 * DAY, usage=None,
                signs=True, key=None):
    """A certificate and its key; signed by its own key if there is no issuer."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if usage or not authority:
        builder = builder.add_extension(
            x509.ExtendedKeyUsage([usage or ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    if not signs:
        builder = builder.add_extension(
            x509.KeyUsage(digital_signature=True, content_commitment=False, key_encipherment=False,
                          data_encipherment=False, key_agreement=False, key_cert_sign=False, crl_sign=False,
                          encipher_only=False, decipher_only=False), critical=True)
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256()), key


def signed_with_sha1(folder, name, issuer, authority=False):
    """A certificate and its key, signed as the library above does not: by the command openssl."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    write(folder, "sha1-issuer", issuer)
    place = os.path.join(folder, "sha1-")
    with open(place + "request.pem", "wb") as file:
        file.write(request.public_bytes(serialization.Encoding.PEM))
    with open(place + "extensions", "w", encoding="ascii") as file:
        file.write(f"basicConstraints=critical,CA:{str(authority).upper()}\n")
        if not authority:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
    text = subprocess.run(
        ["openssl", "x509", "-req", "-sha1", "-days", "30", "-set_serial", str(x509.random_serial_number()),
         "-in", place + "request.pem", "-extfile", place + "extensions",
         "-CA", place + "issuer.pem", "-CAkey", place + "issuer.key"],
        check=True, capture_output=True).stdout
    return x509.load_pem_x509_certificate(text), key


def write(folder, name, pair, others=()):
    """Writes a certificate with those that are sent with it, its key, and its pin."""
    pem = serialization.Encoding.PEM
    with open(os.path.join(folder, name + ".pem"), "wb") as file:
        for each in (pair, *others):
            file.write(each[0].public_bytes(pem))
    with open(os.path.join(folder, name + ".key"), "wb") as file:
        file.write(pair[1].private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    der = pair[1].public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    with open(os.path.join(folder, name + ".pin"), "w", encoding="ascii") as file:
        file.write("sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode())


def main(folder):
    """Writes all cases."""
    root = certificate("Test root", authority=True)
    middle = certificate("Test intermediate", root, authority=True)
    stranger = certificate("Unknown root", authority=True)
    mailer = certificate("Mail authority", root, authority=True, usage=ExtendedKeyUsageOID.EMAIL_PROTECTION)
    no_signer = certificate("No signer", root, authority=True, signs=False)
    other = [x509.DNSName("elsewhere.example")]
    cases = {
        "root": (root, []),
        "intermediate": (middle, []),
        "valid": (certificate("Valid", middle, names=HERE), [middle]),
        "selfSigned": (certificate("Self-signed", names=HERE), []),
        "unknownRoot": (certificate("Stranger", stranger, names=HERE), [stranger]),
        "expired": (certificate("Expired", middle, names=HERE, start=NOW - 9 * DAY, end=NOW - DAY), [middle]),
        "notYetValid": (certificate("Early", middle, names=HERE, start=NOW + DAY), [middle]),
        "wrongName": (certificate("Elsewhere", middle, names=other), [middle]),
        "incompleteChain": (certificate("Incomplete", middle, names=HERE), []),
        "wrongUsage": (
            certificate("Client", middle, names=HERE, usage=ExtendedKeyUsageOID.CLIENT_AUTH), [middle]),
        # By authorities that may not sign for servers, as openssl verify -purpose sslserver sees it as well.
        "mailAuthority": (certificate("By mail", mailer, names=HERE), [mailer]),
        "noSigner": (certificate("By no signer", no_signer, names=HERE), [no_signer]),
        "expiredElsewhere": (certificate("Both", middle, names=other, start=NOW - 9 * DAY, end=NOW - DAY), [middle]),
    }
    # Signed by a certificate that may not sign.
    plain = certificate("No authority", middle, names=HERE)
    cases["brokenChain"] = (certificate("Forged", plain, names=HERE), [plain, middle])
    # Signed in a way that others can imitate, by the leaf's authority or the one above; keys that others can find.
    old_root = certificate("Old root", authority=True, key=rsa.generate_private_key(65537, 2048))
    old_middle = signed_with_sha1(folder, "Old intermediate", old_root, authority=True)
    short_middle = certificate("Short intermediate", root, authority=True, key=rsa.generate_private_key(65537, 1024))
    cases.update({
        "oldRoot": (old_root, []),
        "weakSignature": (signed_with_sha1(folder, "SHA-1", middle), [middle]),
        "weakSignatureOfRSA": (signed_with_sha1(folder, "SHA-1 and RSA", old_root), [old_root]),
        "weakSignatureAbove": (certificate("Below SHA-1", old_middle, names=HERE), [old_middle]),
        "weakKey": (
            certificate("1024 bits", middle, names=HERE, key=rsa.generate_private_key(65537, 1024)), [middle]),
        "weakKeyAbove": (certificate("Below 1024 bits", short_middle, names=HERE), [short_middle]),
    })
    for name, (pair, others) in cases.items():
        write(folder, name, pair, others)


main(sys.argv[1])

"""Another program that speaks the subject protocol, of which this one says that it reads descriptions and knows no format
by its name.

    chunkwise verify --subject 'python3 Tests/Subjects/described_only.py chunkwise subject --backend openssl'
"""

import json
import subprocess
import sys

subject = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
hello = json.loads(subject.stdout.readline())
hello["strategies"] = ["described"]
sys.stdout.buffer.write(json.dumps(hello).encode() + b"\n")
sys.stdout.buffer.flush()
while part := subject.stdout.read1(1 << 16):
    sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
sys.exit(subject.wait())

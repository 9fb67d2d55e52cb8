print("chunkwise")

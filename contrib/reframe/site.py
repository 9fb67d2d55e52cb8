"""An example of a site for ReFrame: a cluster with Slurm, and a partition of exclusive nodes.

Slurm without accounting is `squeue`; `slurm` asks its database. A second kind of CPU is a second partition, with
`access` such as `["--exclusive", "--constraint=zen4"]` and references of its own.
"""

site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "cpu",
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": ["--exclusive"],
                    "environs": ["builtin"],
                    "max_jobs": 8,
                }
            ],
        }
    ],
}

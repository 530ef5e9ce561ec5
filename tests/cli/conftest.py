from __future__ import annotations

QUICK = ["hcm.burn_in=12", "hcm.samples=2", "hcm.thin=2", "hcm.chains=2", "hcm.hidden=8"]
FAST = ["--detector", "hcm", *(word for one in QUICK for word in ("--set", one))]

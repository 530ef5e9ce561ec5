"""A real S3-compatible server on loopback, and the results of a run on CSV to compare with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from tests.cli.conftest import FEW

SECRET = "sEcr3t/never+shown"  # noqa: S105 - of no server
TOKEN = "t0ken-never-shown"  # noqa: S105


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of a server that speaks S3 over HTTP."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, bytes], None]]:
    """Put an object into the bucket ``shop``; the AWS_* variables are set for it."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL", moto)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.client("s3", endpoint_url=moto, region_name="us-east-1")
    client.create_bucket(Bucket="shop")

    def put(key: str, content: bytes) -> None:
        client.put_object(Bucket="shop", Key=key, Body=content)

    yield put
    for one in client.list_objects_v2(Bucket="shop").get("Contents", []):
        client.delete_object(Bucket="shop", Key=one["Key"])


@pytest.fixture
def detect(folder: Path) -> Callable[..., dict[str, bytes]]:
    """Run ``oddhop detect`` and return the bytes of its results; the folder with the tables is the current one."""

    def run(edges: str, nodes: str, *words: str, out: str = "other", stdin: bytes | None = None) -> dict[str, bytes]:
        command = [
            "detect",
            edges,
            "--nodes",
            nodes,
            "--out",
            out,
            "--seed",
            "0",
            "--top",
            "5",
            "--no-report",
            *FEW,
            *words,
        ]
        done = CliRunner().invoke(app, command, input=stdin)
        assert done.exit_code == 0, done.output
        return {name: Path(out, name).read_bytes() for name in ("results.parquet", "results.csv")}

    return run


@pytest.fixture
def from_csv(detect: Callable[..., dict[str, bytes]]) -> dict[str, bytes]:
    """The results of the same network as CSV files."""
    return detect("edges.csv", "nodes.csv", out="csv")

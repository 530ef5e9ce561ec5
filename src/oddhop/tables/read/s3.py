"""S3-compatible stores: objects are copied to a temporary folder, and files are put back, by Arrow's file system."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from oddhop.base.address import shown
from oddhop.errors import TableError

BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
CONNECT_SECONDS, REQUEST_SECONDS = 10, 60
REFUSED = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE|CREDENTIALS|TOKEN|HTTP status 40[13]")


def is_s3(name: str) -> bool:
    """Return whether a name is the address of an object or a folder in an S3-compatible store."""
    return name.lower().startswith("s3://")


@dataclass(frozen=True, eq=False)
class Place:
    """An object, a folder or a pattern in a bucket.

    Attributes
    ----------
    label : what an error calls it.
    store : Arrow's file system.
    path : the bucket and the key, with a slash between them.
    """

    label: str
    store: Any
    path: str

    def root(self) -> Any:
        """Return a file system whose root is this folder."""
        return fs.SubTreeFileSystem(self.path, self.store)

    def is_object(self) -> bool:
        """Return whether an object has this key."""
        return bool(self._kind(self.path) == fs.FileType.File)

    def is_folder(self, name: str = "") -> bool:
        """Return whether objects have keys that begin with this one and a slash, or with that and a name."""
        return bool(self._kind(f"{self.path}/{name}".rstrip("/")) == fs.FileType.Directory)

    def check_bucket(self) -> None:
        """Refuse a bucket that does not exist, or that these credentials do not reach."""
        bucket = self.path.partition("/")[0]
        if self._kind(bucket) != fs.FileType.Directory:
            raise TableError(
                f"{self.label} is in the bucket {bucket!r}, which does not exist", "make it, or correct it"
            )

    def entries(self, path: str) -> list[tuple[str, bool]]:
        """Return the names directly under a folder, and whether each is a folder."""
        with self.talking("read"):
            found = self.store.get_file_info(fs.FileSelector(path))
        return sorted((one.base_name, one.type == fs.FileType.Directory) for one in found)

    def matching(self) -> list[str]:
        """Return the objects that a pattern matches; a star does not cross a slash."""
        first, *parts = self.path.split("/")
        if "**" in parts:
            raise TableError(f"{self.label} holds **, which is not read in a store", "name one folder a part")
        found = [(first, True)]
        for part in parts:
            inside = [(folder, *one) for folder, is_folder in found if is_folder for one in self.entries(folder)]
            found = [(f"{folder}/{name}", deep) for folder, name, deep in inside if fnmatchcase(name, part)]
        return sorted(path for path, is_folder in found if not is_folder)

    def fetch(self, path: str, file: Path) -> None:
        """Copy an object to a file, a piece at a time."""
        with self.talking("read"):
            fs.copy_files(path, str(file), source_filesystem=self.store, destination_filesystem=fs.LocalFileSystem())

    def fetch_folder(self, name: str, folder: Path) -> None:
        """Copy the objects under a folder of this one to a folder of the same name."""
        (folder / name).mkdir()
        for file, is_folder in self.entries(f"{self.path}/{name}"):
            if is_folder and file not in (".", ".."):
                self.fetch_folder(f"{name}/{file}", folder)
            elif not is_folder:
                self.fetch(f"{self.path}/{name}/{file}", folder / name / file)

    def put(self, file: Path) -> None:
        """Copy a file to this key; the object appears when all of it was sent."""
        with self.talking("written"):
            fs.copy_files(
                str(file), self.path, source_filesystem=fs.LocalFileSystem(), destination_filesystem=self.store
            )

    @contextmanager
    def talking(self, done: str) -> Iterator[None]:
        """Turn the errors of the store into ours, without a secret."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            message = _without_secrets(" ".join(str(error).split()))
            if REFUSED.search(message):
                remedy = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and what they may do"
            else:
                remedy = "check the bucket, AWS_ENDPOINT_URL and AWS_REGION"
            raise TableError(f"{self.label} cannot be {done}: {message}", remedy) from None

    def _kind(self, path: str) -> Any:
        with self.talking("read"):
            return self.store.get_file_info(path).type


def place_named(name: str, what: str) -> Place:
    """Return the place that an address names; credentials, region and endpoint are those of the AWS_* variables."""
    bucket, _, key = name[len("s3://") :].partition("/")
    if "@" in bucket or ":" in bucket:
        # It may hold a secret, so it is not shown.
        raise TableError(
            f"{what} is an s3:// address with credentials or a port in it",
            "say s3://bucket/key, and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL",
        )
    if not BUCKET.fullmatch(bucket) or not key.strip("/") or not {"", ".", ".."}.isdisjoint(key.strip("/").split("/")):
        raise TableError(f"{what} must be an address such as s3://bucket/key, got {shown(name)}")
    label = f"{what} {shown(name)}"
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    try:
        store = fs.S3FileSystem(
            endpoint_override=endpoint or None,
            region=region or None,
            connect_timeout=CONNECT_SECONDS,
            request_timeout=REQUEST_SECONDS,
            background_writes=False,  # else a file to send is whole in memory
        )
    except (ImportError, AttributeError):
        raise TableError(f"{label} needs a pyarrow that was built with S3", "pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise TableError(
            f"{label} cannot be read: {_without_secrets(str(error))}", "check AWS_ENDPOINT_URL and AWS_REGION"
        ) from None
    return Place(label, store, f"{bucket}/{key.strip('/')}")


def _without_secrets(message: str) -> str:
    for name in SECRETS:
        secret = os.environ.get(name)
        message = message.replace(secret, "***") if secret else message
    return message

"""DuckDB's extensions as a user has them who installed them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import duckdb


def install_extensions(home: Path, *names: str) -> None:
    """Puts the extensions that pip brought along where DuckDB looks for them below a home."""
    version = f"v{duckdb.__version__}"
    ((platform,),) = duckdb.connect().execute("PRAGMA platform").fetchall()
    for name in names:
        found = find_spec(f"duckdb_extension_{name}")
        assert found is not None and found.origin is not None
        extension = Path(found.origin).parent / "extensions" / version / f"{name}.duckdb_extension"
        installed = home / ".duckdb" / "extensions" / version / str(platform) / extension.name
        installed.parent.mkdir(parents=True, exist_ok=True)
        installed.symlink_to(extension)

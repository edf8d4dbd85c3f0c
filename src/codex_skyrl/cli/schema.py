"""`codex-skyrl schema`: prints the published JSON schema of what `diagnose --format json` gives."""

import json

import click


@click.command(epilog="Example: codex-skyrl schema > diagnosis.schema.json")
def schema() -> None:
    """Print the JSON schema of the diagnosis (`diagnose --format json`)."""
    from codex_skyrl.report.model import Diagnosis

    described = Diagnosis.model_json_schema(by_alias=True, mode="serialization")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    click.echo(json.dumps(dialect | described, indent=2, ensure_ascii=False))

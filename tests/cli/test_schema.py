import json

from click.testing import CliRunner

from codex_skyrl.cli.schema import schema
from report.samples import SAMPLES


def printed() -> dict[str, object]:
    result = CliRunner().invoke(schema)
    assert result.exit_code == 0
    loaded: dict[str, object] = json.loads(result.stdout)
    return loaded


def test_schema_names_every_key_that_is_printed() -> None:
    dumped = SAMPLES["init_bound"]("en").model_dump(mode="json", by_alias=True)
    properties = printed()["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == set(dumped)


def test_schema_uses_the_printed_names() -> None:
    definitions = printed()["$defs"]
    assert isinstance(definitions, dict)
    assert {"from", "to"} <= set(definitions["Experiment"]["properties"])


def test_schema_is_indented_and_says_its_dialect() -> None:
    result = CliRunner().invoke(schema)
    assert result.stdout.startswith('{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n')

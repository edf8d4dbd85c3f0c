"""`python -m codex_skyrl`."""

from codex_skyrl.cli import main

if __name__ == "__main__":
    main()

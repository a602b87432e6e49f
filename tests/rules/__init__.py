"""Tests of the rules, by section of docs/rules.md."""

"""Tests of the rules, by sections of docs/rules.md."""

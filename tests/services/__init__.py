"""Tests of the services for challenges and for operators' actions."""

"""Tests of services: challenges, and operators' actions."""

# All commands for developers and operators of a checkout; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo image test soak check generate lock bench hostile faults clean dev

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: ## Create the environment (.venv) in which the arena runs
	@scripts/venv

demo: setup ## Play rated games between the sample bots and serve the site; ONCE=1 stops after printing the leaderboard
	@scripts/demo

image: setup ## Build the image that docker-compose.yml runs
	@scripts/server-image

test: ## Install what is missing, if possible, then run all checks and tests
	@scripts/test

soak: ## Run `test` with many more repetitions, every hostile bot 20 times, and the whole fault suite; takes hours
	@SOAK=1 scripts/test

check: dev ## Check formatting, lint, types, imports, protocol, generated code, vulnerabilities; write SBOMs
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

# The slowest check comes first.
CHECKS = check-types check-tests check-ruff check-proto check-generated check-init check-imports check-shell check-audit check-sbom
.PHONY: $(CHECKS)

# Two processes take half the time, but fail on a host so busy that they don't start within 3 s. In that
# case, and if there are errors, a single process checks again.
check-types:
	@.venv/bin/mypy --num-workers=2 >/dev/null 2>&1 || .venv/bin/mypy

# Checks that all tests can be imported. This also compiles them once for all workers of `make test`.
check-tests:
	@mkdir -p build && env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -m pytest --collect-only -qq >build/tests.txt || { cat build/tests.txt; exit 1; }

check-ruff:
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .

check-proto:
	scripts/lint-proto

check-generated:
	scripts/generate --check

check-init:
	scripts/build-init --check

check-imports:
	.venv/bin/lint-imports --no-logo

check-shell:
	scripts/lint-shell

check-audit:
	scripts/audit

check-sbom:
	.venv/bin/python -m scripts.sbom

generate: dev ## Write the Python code for proto/, and the reference pages that are generated from sources
	scripts/generate

lock: dev ## Write the lock files
	scripts/lock

bench: setup ## Measure the arena and, for comparison, a bare echo; JSON=FILE stores the figures
	@. scripts/uv-env.sh && if scripts/engine; then sandbox=docker; else sandbox=process; fi && \
	ARENA_SANDBOX=$$sandbox .venv/bin/python -m benchmarks $(if $(JSON),--json $(JSON))

hostile: dev ## Play hostile bots and print which of them the sandbox stopped; RUNTIME=runsc uses gVisor, TIMES=20
	@. scripts/uv-env.sh && scripts/engine && .venv/bin/python -m tests.sandbox.hostile \
	$(if $(RUNTIME),--runtime $(RUNTIME)) $(if $(TIMES),--times $(TIMES))

faults: dev ## Kill, starve and cut off real arenas, and print losses; SCENARIO='NAME …', TIMES=1, SEED=1, JSON=FILE
	@. scripts/uv-env.sh && scripts/engine && .venv/bin/python -m tests.faults $(SCENARIO) \
	$(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED)) $(if $(JSON),--json $(JSON))

clean: ## Delete the environment and all caches, but no data
	rm -rf .venv node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find arena web bots tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

dev:
	@scripts/venv dev

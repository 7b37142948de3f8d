# Kafka Hindsight. `make` lists what can be made.

FIND_PYTHON = python=$$(sh setup/python.sh) || exit 2;
SPARK := .venv-spark/bin
INPUTS := LOGS CLIENT_LOGS SNAPSHOTS RECORDS BOOTSTRAP CLUSTER LAKE FROM TO GLOB LOGS_TZ CLIENT_TZ PATTERN CLIENT_PATTERN LOOK_AHEAD_HOURS \
	LOOK_BACK_HOURS MAINTENANCE ENGINE Q KAFKA_CONFIG KAFKA LAYOUT BROKERS SCENARIOS MINUTES LESSON SEED KEEP SHORT TRUTH_FOLDERS URL

# What a user gives reaches the programs through the environment, never through a shell line, and make
# does not expand a dollar in it.
$(foreach name,$(INPUTS),$(eval override $(name) := $$(value $(name))))
export $(INPUTS)
export PYTHONPATH := $(CURDIR)
export TZ := UTC

.DEFAULT_GOAL := help
.PHONY: help setup setup-check doctor audit snapshot report sql test test-live test-stack test-containers test-sources test-s3 test-airflows test-versions test-pythons chaos check laws drill truth format bench docs site up down locks supply newcomer release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  make audit LOGS=/path/to/broker/logs [CLIENT_LOGS=...] [SNAPSHOTS=file.jsonl] [RECORDS=...] [CLUSTER=name] [LAKE=dir]'
	@echo '             [FROM=2026-11-20T00:00Z TO=2026-11-21T00:00Z] [GLOB=...] [LOGS_TZ=Europe/Berlin] [CLIENT_TZ=...]'
	@echo '             [PATTERN=log4j-pattern-of-LOGS] [CLIENT_PATTERN=...]'
	@echo '  make drill [KAFKA=4.4.0] [LAYOUT=separate] [BROKERS=5] [SCENARIOS=crash,slow] [SEED=7] [KEEP=night.tar.gz] | LESSON=failover | SCENARIOS=calm [MINUTES=120]'

setup: ## build what is missing: both environments, jars, the sample night
	@$(FIND_PYTHON) "$$python" setup/build.py

setup-check:
	@$(FIND_PYTHON) "$$python" setup/build.py --check

doctor: ## what is missing on this machine, with LAKE in its tables, with BOOTSTRAP on that cluster, and what would be read of LOGS
	@./hindsight doctor

audit: setup ## the nightly DAG through Airflow and Spark, on the recorded night or on your own LOGS
	@$(SPARK)/python -m kafka_hindsight.cli.nightly_dag

snapshot: ## one reading of a live cluster into the lake: make snapshot BOOTSTRAP=host:port
	@./hindsight snapshot

report: ## print the path of the newest report
	@./hindsight report

sql: ## an SQL prompt over the lake; make sql Q="select ..." prints one answer
	@./hindsight sql

test: export PYTHONDONTWRITEBYTECODE := # each process collects all tests: what one of them compiles serves the others
test: setup-check ## every test but those on real brokers, of which it has a drill; ends with pytest's summary line
	@.venv-airflow/bin/python -m pytest tests/dags > .build/dags.txt 2>&1 & \
	$(SPARK)/python -m pytest -n 4 --dist loadscope --no-loadscope-reorder --durations=10 tests/live/test_drill.py tests/audit tests/store tests/spark tests/intake tests/unit; \
	of_suite=$$?; wait $$!; of_dags=$$?; test $$of_dags = 0 && tail -n 1 .build/dags.txt || cat .build/dags.txt; exit $$((of_suite + of_dags))

test-live: setup-check ## the tests on real brokers, which `make test` leaves out, and its drill: minutes; KAFKA=3.9.2 and others
	@$(SPARK)/python -m pytest tests/live

test-stack: setup-check ## the compose stack outside of containers, and airflow standalone: half an hour; needs PostgreSQL, Chromium, Prometheus
	@$(SPARK)/python -m pytest tests/stack

test-containers: setup-check ## the compose stack in containers, built, hurt, audited: half an hour; needs Docker, or root and debootstrap
	@$(SPARK)/python -m pytest --capture=no tests/containers

test-sources: setup-check ## the recorded night out of each source, by readings that are killed: an audit for each
	@$(SPARK)/python -m pytest tests/sources

test-s3: setup-check ## an audit from S3 into a lake on S3, by a server on this machine: minutes
	@$(SPARK)/python -m pytest tests/s3

test-airflows: setup-check ## DAGs and an audit on Airflow 3.0 to 3.3, beside providers, and on YARN: five minutes or more
	@$(SPARK)/python -m pytest tests/airflows

test-versions: setup-check ## the recorded night on Spark 4.0 to 4.3, by the wheel, and SQL on DuckDB 1.5: ten minutes or more
	@$(SPARK)/python -m pytest tests/versions

test-pythons: setup-check ## the recorded night on Python 3.11 to 3.14, by the wheel: each that is installed; minutes
	@$(SPARK)/python -m pytest -rs tests/pythons

chaos: setup-check ## kills, full disks, lakes that vanish, mutated lines: an hour or more; KILLS=25 a step, SEED=... draws the same again
	@$(SPARK)/python -m lab.chaos $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

check: setup-check ## format, lint, types, import contracts, generated pages, English, lines, most unit tests: seconds
	@$(SPARK)/python -m tools.check

laws: setup-check ## the laws on newly drawn examples, and the long unit tests: minutes
	@$(SPARK)/python -m pytest -q -n auto --dist loadscope --hypothesis-profile=new -m "hypothesis or long" tests/unit

format: setup-check ## format the code
	@$(SPARK)/ruff format .
	@$(SPARK)/ruff check --fix .

drill: setup ## real brokers, real faults, the truth, the score; LESSON=failover or rebalance teaches step by step
	@$(SPARK)/python -m lab.drill.run

truth: setup-check ## public logs of others against labels; TRUTH_FOLDERS=folder of git repositories: no network
	@$(SPARK)/python -m lab.truth.run

bench: setup-check ## speed beside grep, Spark, DuckDB and Polars, growth, memory: writes docs/speed.md; SHORT=1: a minute, ratios only
	@$(SPARK)/python -m lab.bench.run $(if $(SHORT),--short)
	@$(if $(SHORT),:,$(SPARK)/python -m lab.bench.snapshot)

docs: setup ## the generated pages: tables, patterns, causes, rules, runbook, queries, settings
	@$(SPARK)/python -m tools.pages.docs

site: setup ## the pages as a site in .build/site, each link checked, with the report of the recorded night
	@.build/uv/bin/uv venv --quiet --allow-existing --python $(SPARK)/python .build/sphinx
	@.build/uv/bin/uv pip sync --quiet --require-hashes --python .build/sphinx/bin/python locks/site.txt
	@test -e .build/sample/lake/report/index.html || $(SPARK)/python -m kafka_hindsight.cli.main audit --lake .build/sample/lake
	@mkdir -p .build/sample/page/sample && cp .build/sample/lake/report/index.html .build/sample/page/sample/
	@TMPDIR=.build/sphinx .build/sphinx/bin/sphinx-build -W --keep-going -n -q -c docs/site . .build/site
	@echo .build/site/docs/index.html

up: ## Airflow, Spark, the lake and three brokers, in containers: http://localhost:8080
	@$(FIND_PYTHON) "$$python" setup/stack.py

down: ## stop what `make up` started; what it keeps stays
	@docker compose --profile '*' down

COMPILE = ../.build/uv/bin/uv pip compile --quiet --no-header --no-emit-index-url --no-emit-find-links \
	--generate-hashes --universal --python-version 3.11

locks: setup ## resolve the locks again: spark.txt and local.txt from pyproject.toml, the others from locks/*.in
	@cd locks && $(COMPILE) ../pyproject.toml --extra alerts --extra audit --extra delta --extra snapshot --extra spark -o spark.txt
	@cd locks && $(COMPILE) ../pyproject.toml --extra alerts --extra audit --extra snapshot -c spark.txt -o local.txt
	@cd locks && for needed in *.in; do $(COMPILE) $$needed -o $$(basename $$needed .in).txt || exit 1; done

supply: setup ## licences, bills of materials, known vulnerabilities of what is locked; jars against their hashes
	@.build/uv/bin/uv venv --quiet --allow-existing --python $(SPARK)/python .build/supply
	@.build/uv/bin/uv pip sync --quiet --require-hashes --python .build/supply/bin/python locks/supply.txt
	@$(SPARK)/python -m tools.supply

newcomer: ## the first minute on a bare Debian 12 and 13, and each failure: as root, with debootstrap and a mirror
	@$(FIND_PYTHON) "$$python" -m lab.newcomer

release: setup-check ## build and try the wheels into dist/: make release URL=https://host/owner/project
	@$(SPARK)/python -m tools.release --url "$$URL"

clean: ## remove what was built and every run; the lake stays
	@rm -rf .venv-airflow .venv-spark .airflow .jars .kafka .clients .drill .build .samples .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

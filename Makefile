# The commands of this project. `make help` lists them from the comments that follow each target's name.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# SwiftPM uses every core by itself and locks its folder: targets run one after another, also under -j.
.NOTPARALLEL:

SWIFT ?= swift
# Added to every debug build and test run. Changing them rebuilds everything.
SWIFT_BUILD_FLAGS ?=
# What is shipped is what is measured: bench and install build the same way, so that neither rebuilds what the other has built.
RELEASE_FLAGS ?= -c release --static-swift-stdlib -Xlinker --gc-sections -Xlinker -s
ifeq ($(shell uname),Darwin)
RELEASE_FLAGS := -c release
endif
PREFIX ?= /usr/local
DESTDIR ?=
PORT ?= 8080
DRIVERS ?= inprocess http cli
REPORTS ?= reports
ARGS ?=
TRIALS ?= 50
SOAK ?= 100
export OFFLINE ?= 0
# Tests wait for sockets, files and processes. Hundreds at once on two cores would keep each other waiting beyond their bounds.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 4

require = @Tools/require $@
sources = Package.swift Modules MockServer E2ETests Tools
# Debug: one build serves the tests, the scenarios and `make serve`. Optimizing would take longer than it saves: the scenarios
# wait on virtual clocks and loopback sockets, not on computing.
# What ARGS says itself stands in place of what is said here.
run_e2e = .build/debug/e2e run E2ETests/Scenarios $(if $(findstring --driver,$(ARGS)),,$(DRIVERS:%=--driver %)) \
  $(if $(findstring --report,$(ARGS)),,--report $(REPORTS)) $(ARGS)

.PHONY: help bootstrap build test e2e e2e-prove e2e-soak consumer serve simulate bench bench-check linkage lint format coverage sanitize kill-trials mutants fuzz fuzz-server openapi-check soak-store interop browser-test dashboard dashboard-pictures pictures docs install clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile
	@echo 'OFFLINE=1 never calls apt; SWIFT_BUILD_FLAGS="…" adds to every debug build; ARGS="…" goes to e2e, serve, bench, fuzz and soak-store.'

bootstrap: ## check for Swift and the system libraries, and install what is missing (apt, as root)
	$(require)
	@$(SWIFT) --version 2>&1 | head -n 1
	@echo "Everything that the other commands need is there."

build: ## build everything (debug)
	$(require)
	$(SWIFT) build $(SWIFT_BUILD_FLAGS)

test: ## run the unit tests, 5,000 simulated schedules, then every scenario; the last line counts the scenarios
	$(require)
	$(SWIFT) build --build-tests $(SWIFT_BUILD_FLAGS)
	@mkdir -p $(REPORTS); status=0; \
	Tools/check-ui types .build/debug/Modules || status=1; \
	$(SWIFT) test --skip-build --disable-xctest $(SWIFT_BUILD_FLAGS) >$(REPORTS)/unit-tests.log 2>&1 </dev/null || status=1; \
	grep -E '^(✘|↳|error: )' $(REPORTS)/unit-tests.log | grep -Ev '↳ (Testing Library Version|Target Platform)|^✘ Test run' || true; \
	grep -E '^(✔|✘|━).* Test run with ' $(REPORTS)/unit-tests.log || { \
	  status=1; tail -n 20 $(REPORTS)/unit-tests.log; echo "The unit tests did not finish; all of their output: $(REPORTS)/unit-tests.log"; }; \
	.build/debug/simulate --seeds 1..5000 >$(REPORTS)/simulate.log 2>&1 </dev/null || { status=1; tail -n 200 $(REPORTS)/simulate.log; }; \
	echo "Simulated schedules: $$(tail -n 1 $(REPORTS)/simulate.log)"; \
	$(run_e2e) || status=1; \
	exit $$status

e2e: ## run every scenario with the drivers inprocess, http and cli; reports go to reports/
	$(require)
	$(SWIFT) build $(SWIFT_BUILD_FLAGS)
	@$(run_e2e)

e2e-prove: ## break each requirement and rule on purpose, and show which scenario notices; fails if none does
	$(require)
	$(SWIFT) build $(SWIFT_BUILD_FLAGS)
	@.build/debug/e2e list --coverage $(ARGS)

e2e-soak: ## run every scenario SOAK=100 times in process, each time in another order of tasks, and over sockets; one failure ends it
	$(require)
	$(SWIFT) build $(SWIFT_BUILD_FLAGS)
	@E2ETests/soak .build/debug/e2e $(SOAK) $(ARGS)

consumer: ## build and test a package of somebody else's that uses the trait of MockServerTesting
	$(require)
	$(SWIFT) test --disable-xctest --package-path E2ETests/Consumer --scratch-path .build-consumer $(SWIFT_BUILD_FLAGS) </dev/null

serve: ## start the mock server with a user to sign in with, and print three lines to paste (PORT=8080)
	$(require)
	@for product in mock-server chirp; do $(SWIFT) build $(SWIFT_BUILD_FLAGS) --product $$product >&2; done
	@Tools/serve --port $(PORT) $(ARGS)

simulate: ## find the faults of the documents' own design, then run 20,000 schedules of the session engine (release)
	$(require)
	@$(SWIFT) build $(RELEASE_FLAGS) --product simulate >&2
	@.build/release/simulate --subject naive --seeds 1..3000
	@.build/release/simulate --seeds 1..20000 $(ARGS)

bench: ## measure the figures of the README, each beside its baseline (release; ARGS=endurance: what 10,000 sessions leave); draws reports/bench.svg
	$(require)
	@for product in mock-server chirp bench; do $(SWIFT) build $(RELEASE_FLAGS) --product $$product >&2; done
	@mkdir -p $(REPORTS)
	@.build/release/bench $(if $(findstring --json,$(ARGS)),,--json $(REPORTS)/bench.json) $(if $(findstring --svg,$(ARGS)),,--svg $(REPORTS)/bench.svg) $(ARGS)

bench-check: ## count the instructions of three paths here and at another commit; over 10 % more fails (ARGS=COMMIT)
	$(require)
	@Tools/bench-check $(ARGS)

linkage: ## build a package that uses each library by itself, and check what that links
	$(require)
	@Tools/LinkageTest/run

lint: ## check format and house rules; prints file:line and the remedy
	@command -v $(SWIFT) >/dev/null || Tools/require lint
	@Tools/Lint/self-test
	@status=0; \
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format $(sources) || { \
	  status=1; echo "The format differs from .swift-format. Remedy: make format"; }; \
	Tools/Lint/run || status=1; \
	Tools/check-ui parse || status=1; \
	Tools/dashboard --check || status=1; \
	exit $$status

format: ## rewrite the sources to .swift-format
	@command -v $(SWIFT) >/dev/null || Tools/require format
	@$(SWIFT) format --in-place --recursive --parallel --configuration .swift-format $(sources)

coverage: ## run the unit tests and print what they cover, file by file
	$(require)
	$(SWIFT) test --disable-xctest --enable-code-coverage --scratch-path .build-coverage $(SWIFT_BUILD_FLAGS) </dev/null | tail -n 1
	@Tools/coverage .build-coverage

sanitize: ## run engine, storage and mock server under the thread, then the address sanitizer (ARGS=thread for one)
	$(require)
	@Tools/sanitize $(ARGS)

kill-trials: ## kill, interrupt and stop real processes in mid-refresh, TRIALS=50 times each, and print a table
	$(require)
	@CHIRP_KILL_TRIALS=$(TRIALS) $(SWIFT) test --disable-xctest --filter ManyProcessesTests $(SWIFT_BUILD_FLAGS) </dev/null

mutants: ## break the engine one rule at a time and show what finds it: a test, the simulator (ARGS="S06 S13" for some)
	$(require)
	@Tools/Mutants/run $(ARGS)

fuzz: ## feed damaged bytes to every decoder of the store, a million each, and 20,000 damaged files to the store (release)
	$(require)
	$(SWIFT) build $(RELEASE_FLAGS) --product storage-torture
	@.build/release/storage-torture fuzz $(ARGS)

fuzz-server: ## send a million damaged requests through the mock server's parser into its core (release; ARGS="--seed 2")
	$(require)
	$(SWIFT) build $(RELEASE_FLAGS) --product server-fuzz
	@.build/release/server-fuzz $(ARGS)

openapi-check: ## hold the mock server's OpenAPI document against the server, with schemathesis from PyPI
	$(require)
	$(SWIFT) build $(SWIFT_BUILD_FLAGS) --product mock-server
	@Tools/openapi-check $(ARGS)

soak-store: ## kill processes 500 times while they save, load, clear and change keys; nothing may be lost (release)
	$(require)
	$(SWIFT) build $(RELEASE_FLAGS) --product storage-torture
	@.build/release/storage-torture kill $(ARGS)

pictures: ## draw the documentation's pictures of the terminal anew, from the built chirp (Documentation/pictures)
	$(require)
	@for product in chirp terminal-pictures; do $(SWIFT) build $(SWIFT_BUILD_FLAGS) --product $$product >&2; done
	@mkdir -p Documentation/pictures
	@.build/debug/terminal-pictures .build/debug/chirp Documentation/pictures

browser-test: ## drive the mock server's dashboard in a real browser (Chromium): its flows, keyboard, contrast, what no other site may do
	$(require)
	@$(SWIFT) build $(SWIFT_BUILD_FLAGS) --product mock-server >&2
	@Tools/BrowserTests/run .build/debug/mock-server $(ARGS)

dashboard-pictures: ## take the documentation's pictures of the dashboard anew, in Chromium (Documentation/pictures)
	$(require)
	@$(SWIFT) build $(SWIFT_BUILD_FLAGS) --product mock-server >&2
	@Tools/BrowserTests/pictures.py .build/debug/mock-server Documentation/pictures

dashboard: ## make the Swift sources of the dashboard from MockServer/Dashboard/Page
	@Tools/dashboard

interop: ## let clients from PyPI speak to the mock server, and chirp to servers from PyPI (Django, FastAPI), all unchanged
	$(require)
	@for product in mock-server chirp; do $(SWIFT) build $(SWIFT_BUILD_FLAGS) --product $$product >&2; done
	@Tools/Interop/run $(ARGS)
	@Tools/Interop/chirp-against-servers .build/debug/chirp .build/interop-servers

docs: ## build the reference of every library into .build-docs/site
	$(require)
	@Tools/docs .build-docs

install: ## build chirp, its helper, mock-server and e2e for release and install them with manual pages and completion (PREFIX=/usr/local)
	$(require)
	@for product in mock-server chirp chirp-secret-service e2e; do $(SWIFT) build $(RELEASE_FLAGS) --product $$product; done
	@install -d "$(DESTDIR)$(PREFIX)/bin"
	@for product in mock-server chirp chirp-secret-service e2e; do install -m 0755 .build/release/$$product "$(DESTDIR)$(PREFIX)/bin/$$product"; done
	@Tools/install-pages .build/release "$(DESTDIR)$(PREFIX)/share" chirp mock-server e2e
	@echo "Installed chirp, chirp-secret-service, mock-server and e2e in $(DESTDIR)$(PREFIX)/bin, with manual pages and completion."

clean: ## remove everything that was built or reported
	rm -rf .build .build-* $(REPORTS)

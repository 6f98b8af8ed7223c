# `make` alone prints the verbs.

# Tests run in a library of their own.
TEST_LIBRARY = $(CURDIR)/target/library

# A library with sdcMicro, which tests compare with, if its sources lie beside the checkout.
PEERS = $$(test -x ../shared/peers/install && ../shared/peers/install | tail -n 1)

ENGINE_TESTS = '^(lazy-table|lazy-release|door-lazy-waves|longitudinal-risk-lazy)$$'

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: ## install what is missing, check, protect and report a real file
	sh tools/setup.sh demo
	sh tools/install.sh
	Rscript tools/demo.R

test: test-core ## install what tests need, run all tests and linters
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS sh tools/install.sh
	$(MAKE) test-r lint-all

test-core: ## install what tests need, lint and test the core
	sh tools/setup.sh test
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	PROPTEST_RNG_SEED=1 cargo test --workspace --locked

test-r: ## run the tests of R with the package in TEST_LIBRARY
	sh tools/setup.sh duckdb
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/wrappers.R --check
	SDCRISK_PYTHON=$(CURDIR)/target/duckdb/bin/python3 \
	  R_LIBS=$(TEST_LIBRARY):$(PEERS):$$R_LIBS Rscript tools/test.R

lint: ## lint texts, and the style of files that changed SINCE=HEAD
	Rscript tools/lint.R $(or $(SINCE),HEAD)

lint-all: ## lint texts, and the style of all files
	Rscript tools/lint.R

test-spark: ## run the tests of databases on Apache Spark too, one executor killed at work
	sh tools/setup.sh spark
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS sh tools/install.sh
	SPARK_HOME=$$(echo $(CURDIR)/target/spark/lib/*/site-packages/pyspark) \
	  TESTTHAT_PARALLEL=false R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/test.R $(ENGINE_TESTS)

test-duckdb: ## run the tests of databases on DuckDB too
	sh tools/setup.sh duckdb
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS sh tools/install.sh
	SDCRISK_PYTHON=$(CURDIR)/target/duckdb/bin/python3 \
	  TESTTHAT_PARALLEL=false R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/test.R $(ENGINE_TESTS)

test-windows: ## build the library for Windows, run the core's tests under Wine
	sh tools/windows.sh

setup: ## install what development needs
	sh tools/setup.sh test

install: ## build and install the package and its vignettes from this checkout
	sh tools/install.sh
	Rscript tools/vignettes.R

doc: ## regenerate R wrappers, NAMESPACE and help pages
	sh tools/install.sh
	Rscript tools/wrappers.R
	Rscript -e 'roxygen2::roxygenise(load_code = "installed")'
	sh tools/install.sh

fmt: ## format the Rust code
	cargo fmt --all

vendor: ## write the archive of vendored crates and LICENSE.note
	sh tools/vendor.sh

crates: ## check licences of the crates that ship, and advisories (ADVISORIES=clone of RustSec's)
	sh tools/crates.sh

tarball: ## build the source package with vendored crates, in check/, and install it there
	sh tools/tarball.sh

# The vignettes were built and the package installed with the tarball, by the same R.
check: tarball ## R CMD check --as-cran on the source package
	sh tools/check.sh --no-build-vignettes --install=check:install.log --library=library

check-next: tarball ## R CMD check on Debian 13, with R 4.5 and rustc 1.85
	sh tools/root.sh trixie 'apt-get -qq update && apt-get -qq install rustc cargo >/dev/null && \
	  sh tools/setup.sh test && sh tools/check.sh'

check-targets: ## check the Rust code for Windows, macOS and WebAssembly
	sh tools/targets.sh

site: ## build the documentation site in site/, without a network
	sh tools/setup.sh site
	sh tools/install.sh
	Rscript tools/site.R

coverage: ## measure which lines of the core and of R their tests reach
	sh tools/setup.sh coverage
	sh dev/coverage.sh

bench: ## measure GROUP=qar or all, and compare with the tracked results
	Rscript dev/benchmarks/run.R $(GROUP)

truth: ## compare estimates with known populations, MINUTES=5 by design; QUICK=1: few samples
	Rscript dev/benchmarks/truth/law.R $(if $(QUICK),1 held law)
	Rscript dev/benchmarks/truth/largest.R $(if $(QUICK),2,24)
	Rscript dev/benchmarks/truth/run.R $(or $(MINUTES),$(if $(QUICK),1,5))

torture: ## random inputs to every function for MINUTES=5; PART=interrupts, valgrind or sanitizer
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript dev/torture/run.R $(or $(PART),inputs) $(or $(MINUTES),5)

release: ## build source package and binary in check/, offline; say what is left to do by hand
	sh tools/release.sh

.PHONY: help demo test test-core test-r lint lint-all test-spark test-duckdb test-windows setup install doc \
  fmt vendor crates tarball check check-next check-targets site coverage bench truth torture release

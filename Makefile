# `make` alone prints the verbs.

# Tests run in a library of their own, and need no link-time optimisation, which takes
# most of a build: R CMD check builds with it.
TEST_LIBRARY = $(CURDIR)/target/library
QUICK_BUILD = CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

ENGINE_TESTS = '^(lazy-table|lazy-release|door-lazy-waves|longitudinal-risk-lazy)$$'

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: ## install what is missing, measure a real file, draw the pictures
	sh tools/setup.sh demo
	sh tools/install.sh
	Rscript tools/demo.R

test: ## install what tests need, run all tests and linters
	sh tools/setup.sh test
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS $(QUICK_BUILD) sh tools/install.sh
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/wrappers.R --check
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/test.R
	Rscript tools/lint.R

test-spark: ## run the tests of databases on Apache Spark too, one executor killed at work
	sh tools/setup.sh spark
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS $(QUICK_BUILD) sh tools/install.sh
	SPARK_HOME=$$(echo $(CURDIR)/target/spark/lib/*/site-packages/pyspark) \
	  TESTTHAT_PARALLEL=false R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/test.R $(ENGINE_TESTS)

test-duckdb: ## run the tests of databases on DuckDB too
	sh tools/setup.sh duckdb
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS $(QUICK_BUILD) sh tools/install.sh
	SDCRISK_PYTHON=$(CURDIR)/target/duckdb/bin/python3 \
	  TESTTHAT_PARALLEL=false R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript tools/test.R $(ENGINE_TESTS)

setup: ## install what development needs
	sh tools/setup.sh test

install: ## build and install the package from this checkout
	sh tools/install.sh

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

tarball: ## build the source package with vendored crates, in check/
	$(QUICK_BUILD) sh tools/tarball.sh

check: tarball ## R CMD check --as-cran on the source package
	sh tools/check.sh

site: ## build the documentation site in site/, without a network
	sh tools/setup.sh site
	sh tools/install.sh
	Rscript tools/site.R

coverage: ## measure which lines of the core and of R their tests reach
	sh tools/setup.sh coverage
	$(QUICK_BUILD) sh tools/coverage.sh

bench: ## measure, and write benchmarks/results
	Rscript benchmarks/run.R

truth: ## compare estimates with known populations for MINUTES=5, and write the results
	Rscript benchmarks/truth/run.R $(or $(MINUTES),5)

torture: ## random inputs to every function for MINUTES=5; PART=interrupts, calls, valgrind, ...; see torture/README.md
	mkdir -p $(TEST_LIBRARY)
	R_LIBS=$(TEST_LIBRARY):$$R_LIBS Rscript torture/run.R $(or $(PART),inputs) $(or $(MINUTES),5)

release: ## say what is left to do by hand before a release
	sh tools/release.sh

.PHONY: help demo test test-spark test-duckdb setup install doc fmt vendor crates tarball check site coverage bench truth torture release

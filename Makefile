# make           print this list
# make bench     set up this machine, build, measure CONFIG (configs/quick.json), and draw the figures
#                of the result
# make test      set up, build, and run every test that this machine can run
# make check     set up, build, and run the tests that take seconds, which is most of them
# make build     set up and build; CUDA_ARCHS="80;90" picks the GPU architectures until make clean
# make figures   the publications' tables and figures, as far as RESULTS="file.json ..." has their points
#                (default, here and below: the newest in results/local, else the committed ones), into
#                results/local/figures; ONLY=jradi-T1,...; MISSING=1, here and below, lists which lack
#                points and what to run for them. Of several devices, what has no unit of time stands
#                side by side, and each device's own in a folder of its own
# make results   measure everything that is committed, anew and twice, on this machine, from a clean
#                checkout, then make readme; what was cut goes on; MINUTES=10 measures for ten minutes
#                at most (docs/gallery.md)
# make readme    write the generated parts of README.md and docs/ from the committed results
# make claims    the published claims put to the test by RESULTS="file.json ..."; the scorecard goes to
#                results/local/claims
# make report    charts, figures, claims and every record of RESULTS="file.json ..." in one HTML page
#                that opens offline, results/local/report.html; of several devices a page for each
#                and one of them all
# make compare   BASE=revision [HEAD=revision]: build both, measure them in turns, fail where a point
#                became slower or is lost (docs/ci.md)
# make lint      check formatting, types and common mistakes (clang-tidy on apps/ takes most of the
#                time); make format repairs the formatting
# make clean     remove the build folders; .venv and the results stay

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.PHONY: help build bench test check results figures claims readme report compare lint format clean

JOBS ?= $(shell nproc)
CONFIG ?= configs/quick.json
newest_result := ls -t results/local/*.json 2>/dev/null | head -n 1

# Built here to be measured here, so the CPU algorithms may use all instructions of this machine.
configure := cmake --preset default -DREDUCE_BENCH_NATIVE=ON$(if $(CUDA_ARCHS), "-DCMAKE_CUDA_ARCHITECTURES=$(CUDA_ARCHS)")
reports := PYTHONPATH=scripts .venv/bin/python -m reduce_bench_report
draw_figures := $(reports) figures
missing = $(if $(MISSING),--missing)
sweep_figures := reduce-gbs,reduce-share,reduce-time
cpp_sources := git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.c' '*.h'

# The head of this file, up to the first line that is no comment.
help:
	@sed -n '/^#/!q; s/^# //p' Makefile

build:
	@scripts/setup.sh build
	$(configure)
	cmake --build --preset default -j $(JOBS)

# A run with wrong (1) or failed (4) points has a result too; its exit code is kept for the end. A
# result of fewer than three sizes has no figure, which is no fault of the run.
bench:
	@[[ -f "$(CONFIG)" ]] || { echo "make bench: there is no configuration '$(CONFIG)': name a file," \
	  "as CONFIG=configs/full.json" >&2; exit 2; }
	@scripts/setup.sh build
	$(configure)
	cmake --build --preset default -j $(JOBS) --target bin/reduce-bench
	@status=0; build/bin/reduce-bench run --config "$(CONFIG)" || status=$$?; \
	[[ $$status == [014] ]] || exit $$status; \
	result=$$($(newest_result)); \
	if scripts/setup.sh python requirements.txt; then \
	  if $(draw_figures) --only $(sweep_figures) --results "$$result"; then \
	    [[ ! results/local/figures/reduce-share.svg -nt "$$result" ]] || \
	      echo "bench: open results/local/figures/reduce-share.svg first: how near each family comes" \
	        "to the time of merely reading the input"; \
	  else \
	    echo "bench: $$result has no figures, for the reasons above" >&2; \
	  fi; \
	else \
	  echo "bench: figures of $$result were not drawn because Python packages are missing (the" \
	    "lines above say which and why)" >&2; \
	fi; \
	exit $$status

# Why tests were skipped, which ctest keeps to its log; pytest prints it.
why_skipped = grep -h -A 1 ': Skipped$$' $(1)/Testing/Temporary/LastTest.log || true

check: build
	@scripts/setup.sh test
	@scripts/setup.sh python requirements-dev.txt
	ctest --preset default -j $(JOBS) -LE slow
	@$(call why_skipped,build)
	.venv/bin/python -m pytest -n $(JOBS) --dist worksteal -m "not alone and not slow"

test: build
	@scripts/setup.sh test
	@scripts/setup.sh browser
	@scripts/setup.sh python requirements-dev.txt
	ctest --preset default -j $(JOBS)
	@$(call why_skipped,build)
	cmake --preset sanitize
	cmake --build --preset sanitize -j $(JOBS)
	ctest --preset sanitize -j $(JOBS)
	@$(call why_skipped,build-sanitize)
	.venv/bin/python -m pytest -m alone
	.venv/bin/python -m pytest -n $(JOBS) --dist worksteal -m "not alone"

# The programs must be of a clean revision, as the build sees it. What is wrong (1) or failed (4) is
# told and committed, too; the exit code is kept for the end.
results:
	@scripts/setup.sh build
	@mkdir -p build && cmake -DSOURCE="$(CURDIR)" -DOUTPUT=build/revision_now.hpp \
	  -P cmake/revision.cmake && ! grep -q 'DIRTY true' build/revision_now.hpp || { \
	  echo "make results: committed results must come from a commit: commit or remove the changes that" \
	    "'git status' shows outside of results/, docs/ and README.md" >&2; exit 2; }
	@scripts/setup.sh python requirements.txt
	$(configure)
	cmake --build --preset default -j $(JOBS) --target measured
	@status=0; python3 scripts/measure_results.py $(if $(MINUTES),--minutes "$(MINUTES)") || \
	  status=$$?; [[ $$status == [014] ]] || exit $$status; \
	$(reports) readme; exit $$status

figures:
	@scripts/setup.sh python requirements.txt
	$(draw_figures) $(if $(RESULTS),--results $(RESULTS)) $(if $(ONLY),--only "$(ONLY)") $(missing)

report:
	@scripts/setup.sh python requirements.txt
	$(reports) report --output results/local/report.html $(missing) $(RESULTS)

claims:
	@scripts/setup.sh python requirements.txt
	$(reports) claims $(if $(RESULTS),--results $(RESULTS)) --output results/local/claims $(missing)

readme:
	@scripts/setup.sh python requirements.txt
	$(reports) readme

# What is given on make's command line, as CONFIG or ROUNDS, reaches the script by the environment.
# Inconclusive points (4) are told and do not fail.
compare:
	@[[ -n "$(BASE)" ]] || { echo "make compare: name the revision to compare with, as BASE=main" \
	  >&2; exit 2; }
	@scripts/setup.sh build
	@scripts/compare_revisions.sh "$(BASE)" $(HEAD) || [[ $$? == 4 ]]

lint:
	@scripts/setup.sh build
	@scripts/setup.sh lint
	@scripts/setup.sh python requirements-dev.txt
	$(cpp_sources) | xargs -0r .venv/bin/clang-format --dry-run -Werror
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	shellcheck scripts/*.sh .ci/run
	JOBS=$(JOBS) scripts/compile_alone.sh
	JOBS=$(JOBS) scripts/clang_tidy.sh

format:
	@scripts/setup.sh python requirements-dev.txt
	$(cpp_sources) | xargs -0r .venv/bin/clang-format -i
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

clean:
	rm -rf build build-*

# Two commands do everything: `make book` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
SITE := _build/html/book/intro.html

.PHONY: book test serve lint text chapters lock peers bench wild course links clean

book: $(BIN)/.installed _build/.jupyter_cache  ## build the book, executing every chapter that changed
	$(BIN)/jupyter-book build . --all -W -n --keep-going
	@echo "Read it: open $(CURDIR)/$(SITE), or run 'make serve'."

test: book  ## run every test, on the built book too
	$(BIN)/python -m pytest -n auto --dist loadfile

serve: book  ## show the book at http://localhost:8000/
	$(BIN)/python -u -m http.server --bind localhost --directory _build/html 8000

lint: $(BIN)/.installed  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

text: $(BIN)/.installed  ## write text/*.md, the chapters as text; with CHAPTERS="union measure" only those
	$(BIN)/python book/chapters.py text $(CHAPTERS)

chapters: $(BIN)/.installed  ## bring edits of text/*.md into the chapters, format and execute them
	$(BIN)/python book/chapters.py chapters $(CHAPTERS)

peers: $(BIN)/.installed  ## install the libraries that the differential tests compare with
	grep -v '^-e' requirements.txt > .venv/constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c .venv/constraints.txt -e '.[peers]'

bench: .venv-bench/.installed  ## measure the module beside other libraries, into benchmarks/results.md
	.venv-bench/bin/python benchmarks/bench.py --write

wild: .venv-bench/.installed  ## ask the checker about the functions of other libraries, into benchmarks/wild.json
	.venv-bench/bin/python benchmarks/wild.py

course: $(BIN)/.installed  ## make notebooks for students and instructors, slides and a PDF, in _build/course
	$(BIN)/python book/course.py

links: $(BIN)/.installed _build/.jupyter_cache  ## ask every link to the outside whether it still works
	$(BIN)/jupyter-book build . --all --builder linkcheck

lock:  ## renew requirements.txt from pyproject.toml
	echo '-e .[book,test,lint]' | uv pip compile - --universal --upgrade --python-version 3.11 \
	    --fork-strategy fewest --no-annotate --custom-compile-command 'make lock' -o requirements.txt

clean:  ## remove the environment and everything that was built, but no text
	rm -rf .venv .venv-bench _build

$(BIN)/.installed: requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv-bench/.installed: requirements.txt pyproject.toml
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	grep -v '^-e' requirements.txt > .venv-bench/constraints.txt
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c .venv-bench/constraints.txt -e '.[bench]'
	touch $@

# A chapter's stored result is no longer good when what it imports, reads or draws with has changed.
_build/.jupyter_cache: $(wildcard iou/*.py iou/*/*.py iou/*.mplstyle iou/data/*) benchmarks/results.json benchmarks/wild.json requirements.txt
	rm -rf $@
	mkdir -p $@

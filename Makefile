# Runledger. `make help` lists what there is.

BIN := $(CURDIR)/node_modules/.bin
# The project's own Node, whatever the machine's is.
NODE := PATH="$(BIN):$$PATH" node
NO_SUDO := sh -c 'echo "this needs root, and there is no sudo: run it as root (make help lists the targets)" >&2; exit 77' sudo
SUDO := $(if $(filter 0,$(shell id -u)),,$(if $(shell command -v sudo 2>/dev/null),sudo --preserve-env,$(NO_SUDO)))
# What `GET /` shows.
CONSOLE_BUNDLE := src/console/dist/console.json
PROMTOOL := $(or $(wildcard /usr/bin/promtool),$(CURDIR)/.data/promtool)

.DEFAULT_GOAL := help
.PHONY: help run test check static types lint format migrate doctor bench bench-compare bench-scale packages setup keeper \
	schema readme client languages test-languages test-plain test-compilers test-cgroup2 test-arm64 test-systemd test-fuzz test-hostile test-faults test-failover test-restore test-cells test-neighbour test-planted test-doors test-python image test-image \
	test-image-cgroup2 bundle test-bundle test-kubernetes container-packages compose-packages promtool test-console chromium python-venv

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: setup packages keeper ## install what is missing, start PostgreSQL, web and worker, print a link and a curl line
	@exec $(SUDO) env PATH="$(BIN):$$PATH" node src/dev/dev.ts

test: check ## types, lint, format, then all tests but the slow suites

check: setup packages keeper promtool static ## the same: SQL, HTTP, queue, sandbox; FILES="…" runs some
	@$(SUDO) env PATH="$(BIN):$$PATH" PROMTOOL="$(PROMTOOL)" node test/run.ts $(FILES)

static: setup ## types, lint and format alone
	@$(MAKE) --no-print-directory -j3 -O types lint format

types: setup
	@$(NODE) $(BIN)/tsc
	@$(NODE) $(BIN)/tsc -p src/console/page

lint: setup
	@$(NODE) $(BIN)/oxlint --type-aware src clients test bench deploy

format: setup
	@$(NODE) $(BIN)/prettier --check --log-level warn . '!.data'

migrate: setup ## bring the database at DATABASE_URL up to this code
	@$(NODE) src/migration/migrate.ts

schema: setup ## renew test/sql/schema.sql after a change in sql/
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/helper/schema.ts

readme: setup ## renew the tables of docs/languages.md
	@$(NODE) test/helper/language-table.ts

doctor: setup ## check this host for a worker of this user, with the remedy for what is missing; sudo make doctor for root's
	@./runledger doctor

languages: setup ## install every language, or LANGUAGES="go rust", and LIBRARIES="numpy"; workers here look again
	@$(SUDO) env PATH="$(BIN):$$PATH" ./runledger languages install "$(LANGUAGES)" --libraries "$(LIBRARIES)"

bench: setup packages ## measure, each figure beside its floor of the same run; BENCH=words chooses, MINUTES=9 is its time
	@$(SUDO) env PATH="$(BIN):$$PATH" node bench/run.ts $(if $(MINUTES),--minutes=$(MINUTES)) $(BENCH)

bench-compare: setup packages ## measure this checkout and BASE=revision alternately; BENCH=words chooses
	@$(SUDO) env PATH="$(BIN):$$PATH" node bench/compare.ts "$(BASE)" $(BENCH)

bench-scale: setup packages ## make a history of EVENTS=10000000 once, keep it in HISTORY=.data/history, measure beside it
	@$(SUDO) env PATH="$(BIN):$$PATH" sh -ec 'status=0; \
		node bench/history/make.ts "$(or $(HISTORY),.data/history)" $(or $(EVENTS),10000000); \
		for part in beside whole; do node bench/history/$$part.ts "$(or $(HISTORY),.data/history)" || status=1; done; \
		exit $$status'

# A number below 2^24, as fast-check takes no more than 2^31.
test-fuzz: setup packages ## what tests make at random, from a new seed, which is printed; SEED=… repeats a run
	@seed=$(or $(SEED),$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')); echo "# SEED=$$seed"; \
		$(SUDO) env PATH="$(BIN):$$PATH" SEED=$$seed \
			node test/run.ts $$(grep -rl --include='*.test.ts' 'helper/seed.ts' test) || \
		{ echo "# it failed from this seed: make test-fuzz SEED=$$seed"; exit 1; }

test-hostile: setup packages ## programs that attack their box; HOSTILE=pattern runs some
	@$(SUDO) env PATH="$(BIN):$$PATH" HOSTILE="$(HOSTILE)" node test/run.ts test/hostile/hostile.ts

test-languages: setup packages ## what programs of every installed language do; LANGUAGES="go rust" tries some
	@$(SUDO) env PATH="$(BIN):$$PATH" LANGUAGES="$(LANGUAGES)" \
		node test/run.ts test/language/conformance.test.ts

# Those that a fork of a resident interpreter, a JVM that was started ahead or a resident javac could let through.
PLAIN_ATTACKS := (process|namespace|descriptor|memory|javac).*(python|java), (run|compile)]
# Conformance of the languages that make test-languages starts ahead; the others run there as they run here.
test-plain: setup packages ## without any accelerator: conformance, verdicts, interactors, then a part of the attacks
	@$(SUDO) env PATH="$(BIN):$$PATH" ACCELERATORS=off \
		sh -c 'status=0; \
		LANGUAGES="java javascript" node test/run.ts test/language/conformance.test.ts test/http/execution.test.ts test/interactor/misbehaviour.test.ts || status=1; \
		HOSTILE="$(PLAIN_ATTACKS)" node test/run.ts test/hostile/hostile.ts || status=1; exit $$status'

test-compilers: setup packages ## what a prepared compiler makes is what the plain one makes, and says the same: C++, Java, JVM languages; a resident javac without time or memory
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts $(wildcard test/executor/toolchain/*/*.slow.ts)

test-cgroup2: setup packages keeper ## the executor's tests on a cgroup v2 kernel, in a virtual machine; LAYOUTS="root" runs some
	@CGROUP2_ENV=CGROUP2_BEGINS_SECONDS CGROUP2_SILENCE_SECONDS=400 test/cgroup2/run.sh test/cgroup2/suite.sh $(LAYOUTS)

test-arm64: setup ## programs of C, Python and Lua, and attacks, on an emulated arm64 machine; ATTACKS=pattern chooses among those
	@CGROUP2_MACHINE=arm64 CGROUP2_TIMEOUT_SECONDS=5400 CGROUP2_ENV=ATTACKS ATTACKS="$(ATTACKS)" test/cgroup2/run.sh node test/cgroup2/arm64.ts

test-systemd: setup packages keeper ## the units of deploy/systemd, in a virtual machine whose first process is systemd
	@[ -x /lib/systemd/systemd ] || { echo "this host has no systemd to take into the machine: apt-get install systemd" >&2; exit 69; }
	@CGROUP2_INIT=systemd CGROUP2_TIMEOUT_SECONDS=900 CGROUP2_SILENCE_SECONDS=600 test/cgroup2/run.sh node test/cgroup2/systemd.ts

test-faults: setup packages ## kill, freeze, cut off and fill up everything, each fault once, beside 10,000 known rewards; then prove the ledger whole
	@$(SUDO) env PATH="$(BIN):$$PATH" FAULTS_ONLY="$(FAULTS_ONLY)" node test/faults/faults.ts

test-failover: setup packages ## a database under patroni that fails over: its primary killed, frozen, cut off, switched over in a release; FAILOVER_ROUNDS=10 of each
	@$(SUDO) env PATH="$(BIN):$$PATH" FAILOVER_ROUNDS="$(FAILOVER_ROUNDS)" FAILOVER_ONLY="$(FAILOVER_ONLY)" node test/failover/failover.ts

test-restore: setup packages ## a base backup and archived WAL under load, put back to a moment in between: what is lost is named, work goes on
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts test/restore/restore.ts

test-cells: setup packages ## two services behind the router of deploy/cells: an account reaches its own, one that is lost does not touch the other
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts test/cells/cells.ts

test-neighbour: setup packages ## what one account does to others on the running service: attacks beside the work of others; NEIGHBOUR=pattern runs some
	@$(SUDO) env PATH="$(BIN):$$PATH" NEIGHBOUR="$(NEIGHBOUR)" node test/run.ts test/neighbour/neighbour.ts

test-console: setup packages chromium ## the page that GET / shows, in a real browser; CONSOLE=pattern runs some, PICTURES=1 renews the documentation's pictures
	@$(SUDO) env PATH="$(BIN):$$PATH" CONSOLE="$(CONSOLE)" PICTURES="$(PICTURES)" \
		node test/run.ts test/console/console.ts test/console/operator.ts

test-doors: setup packages python-venv ## each door with clients that others published, which it installs from npm and PyPI
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts --jobs=1 \
		$(filter-out %/clients.ts %/service.ts,$(wildcard test/doors/*.ts))

test-python: setup packages python-venv ## the Python package, with several interpreters; HumanEval by the command line
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts --jobs=1 test/python/python.ts test/python/human-eval.ts

client: setup ## pack the client, to be installed by `npm install FILE` in any project of Node 20 or newer
	@PATH="$(BIN):$$PATH" npm pack ./clients/typescript --loglevel=error

test-planted: setup packages promtool ## plant faults in a copy, one after another: do the tests find each? PLANTED="…" plants some
	@$(SUDO) env PATH="$(BIN):$$PATH" PROMTOOL="$(PROMTOOL)" node test/planted/plant.ts $(PLANTED)

image: setup container-packages ## build the container image; IMAGE=name, LANGUAGES="go rust", PACKAGES="Debian packages", BASE=image
	@$(SUDO) env PATH="$(BIN):$$PATH" $(foreach name,IMAGE LANGUAGES PACKAGES BASE ENGINE,$(if $(filter-out undefined,$(origin $(name))),$(name)="$($(name))")) deploy/build.sh

# Of an image that is made first, with the same variables.
bundle: image ## pack image, PostgreSQL, docs and checks for a host without a network; LANGUAGES="go rust", OUT=file.tar
	@$(SUDO) env PATH="$(BIN):$$PATH" $(foreach name,IMAGE POSTGRES_IMAGE OUT ENGINE,$(if $(filter-out undefined,$(origin $(name))),$(name)="$($(name))")) deploy/bundle/build.sh

test-bundle: packages image compose-packages ## the bundle where no network is: refusals, installed twice, a program in each language
	@$(SUDO) env PATH="$(BIN):$$PATH" $(if $(IMAGE),IMAGE="$(IMAGE)") node test/run.ts test/image/bundle.ts

test-image: packages image compose-packages ## the image in podman: refusals, the main job, attacks over HTTP, stop and restart, compose
	@$(SUDO) env PATH="$(BIN):$$PATH" $(if $(IMAGE),IMAGE="$(IMAGE)") node test/run.ts --jobs=1 test/image/image.ts test/image/compose.ts

test-image-cgroup2: image ## rights, a job and an end of the image on cgroup v2, in a virtual machine
	@$(SUDO) env PATH="$(BIN):$$PATH" $(if $(IMAGE),IMAGE="$(IMAGE)") test/image/cgroup2.sh

test-kubernetes: setup ## deploy/kubernetes against the published schemas and the code; needs kubectl, kustomize or Go
	@$(SUDO) env PATH="$(BIN):$$PATH" node test/run.ts test/kubernetes/kubernetes.ts

setup: node_modules/.installed $(CONSOLE_BUNDLE)

node_modules/.installed: package.json package-lock.json $(wildcard patches/*)
	@echo 'installing npm packages'
	@npm ci --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# The page is built before anything is started, as only then nothing waits for it.
$(CONSOLE_BUNDLE): node_modules/.installed $(wildcard src/console/*.ts src/console/page/* src/console/page/*/* clients/typescript/src/*.ts)
	@echo 'building the console'
	@$(NODE) src/console/build.ts
	@touch $@

# Compiled ahead, so that a worker needs no compiler; one that finds nothing here compiles it by itself.
keeper: node_modules/.installed ## compile what makes boxes; needs gcc and libc6-dev
	@$(NODE) src/executor/box/keeper/build.ts

# What the sandbox and the languages need from Debian or Ubuntu: installed only if missing, named before they are.
packages:
	@missing=''; \
	[ -x /usr/bin/python3 ] || missing="$$missing python3"; \
	[ -x /usr/bin/g++ ] || missing="$$missing g++"; \
	[ -x /usr/bin/javac ] || missing="$$missing default-jdk-headless"; \
	[ -x /usr/bin/openssl ] || missing="$$missing openssl"; \
	if [ -n "$$missing" ]; then \
		echo "installing Debian packages:$$missing"; \
		$(SUDO) apt-get update -q=2 && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends $$missing; \
	fi

# What test-doors and test-python make environments with.
python-venv:
	@/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || { \
		echo 'installing Debian packages: python3-venv'; \
		$(SUDO) apt-get update -q=2 && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends python3-venv; \
	}

# What the console is looked at with.
chromium:
	@[ -x /usr/bin/chromium ] || { \
		echo 'installing Debian packages: chromium'; \
		$(SUDO) apt-get update -q=2 && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends chromium; \
	}

# What judges deploy/prometheus. Whoever installs Debian's package gets a server that runs; so one file is taken out of it.
promtool:
	@$(SUDO) test -x "$(PROMTOOL)" || { \
		echo 'taking promtool out of the Debian package prometheus'; \
		$(SUDO) sh -ec ' \
			mkdir -p -m 700 .data; work=$$(mktemp -d .data/promtool-XXXXXX); trap "rm -rf $$PWD/$$work" EXIT; \
			cd "$$work"; get="apt-get download -q=2 -o APT::Sandbox::User=root prometheus"; \
			$$get 2>/dev/null || { apt-get update -q=2; $$get; }; \
			dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --no-same-owner ./usr/bin/promtool; \
			mv usr/bin/promtool "$(PROMTOOL)"'; }

# What building and running images needs: podman, and what makes a base for it. Whoever has docker says ENGINE=docker.
container-packages:
	@missing=''; \
	if [ "$(ENGINE)" != docker ]; then \
		[ -x /usr/bin/podman ] || missing="$$missing podman"; \
		[ -x /usr/sbin/runc ] || [ -x /usr/bin/runc ] || missing="$$missing runc"; \
		[ -x /usr/bin/mmdebstrap ] || missing="$$missing mmdebstrap"; \
	fi; \
	if [ -n "$$missing" ]; then \
		echo "installing Debian packages:$$missing"; \
		$(SUDO) apt-get update -q=2 && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends $$missing; \
	fi

# And what brings up deploy/compose.yaml, with names for its containers.
compose-packages:
	@missing=''; \
	[ -x /usr/bin/podman-compose ] || missing="$$missing podman-compose"; \
	[ -x /usr/lib/cni/dnsname ] || [ -x /usr/lib/podman/aardvark-dns ] || \
		missing="$$missing golang-github-containernetworking-plugin-dnsname"; \
	if [ -n "$$missing" ]; then \
		echo "installing Debian packages:$$missing"; \
		$(SUDO) apt-get update -q=2 && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 -y --no-install-recommends $$missing; \
	fi
